# SPDX-License-Identifier: Apache-2.0
"""``nova-xcell-manage reshape``: change the shape of provider trees."""

from __future__ import annotations

import itertools

from cliff import lister

from nova_xcell.cmd import described
from nova_xcell.cmd import reshape_rows
from nova_xcell.cmd import reshaping


def _placement():
    # Imported late: these are Nova's modules, and help needs none of them.
    from nova import utils

    from nova_xcell.reshaper import placement

    return placement.Placement(utils.get_sdk_adapter('placement', admin=True))


def _listed(outcomes) -> tuple[tuple, list[tuple]]:
    rows = map(reshape_rows.of_outcome, outcomes)
    return reshape_rows.COLUMNS, list(itertools.chain.from_iterable(rows))


class _OfRules(described.Described, lister.Lister):
    def get_parser(self, prog_name):
        """Add the options.

        :param prog_name: of the command
        :returns: the parser
        """
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--rules', required=True, metavar='FILE', help='rules, in YAML'
        )
        nodes = parser.add_mutually_exclusive_group(required=True)
        reshaping.add_node(nodes)
        reshaping.add_all(nodes)
        return parser

    def _read(self, parsed_args):
        """Return Placement, the rules, and nodes by UUID."""
        from nova_xcell.reshaper import placement as placement_module
        from nova_xcell.reshaper import rules_file

        rules = rules_file.read(parsed_args.rules)
        placement = _placement()
        nodes = placement_module.nodes(placement, parsed_args.node)
        return placement, rules, reshaping.wanted(nodes, rules)


class Plan(_OfRules):
    """Show what a reshape would change; change nothing.

    A node that needs nothing has no line. A problem says why the node cannot
    be reshaped, and a note what is worth knowing.
    """

    examples = (
        'reshape plan --rules rules.yaml --node gpu-1',
        'reshape plan --rules rules.yaml --all -f json',
    )

    def take_action(self, parsed_args):
        """Plan for each node.

        :param parsed_args: what was given
        :returns: columns and rows
        """
        from nova_xcell.reshaper import client

        placement, rules, nodes = self._read(parsed_args)
        reshaper = client.Client(placement)
        rows = []
        for outcome in reshaping.each(
            self,
            [
                (name, lambda key=key: reshaper.plan(key, rules))
                for key, name in nodes.items()
            ],
            True,
        ):
            rows += (
                reshape_rows.of_plan(outcome.plan)
                if outcome.plan
                else reshape_rows.of_outcome(outcome)
            )
        return reshape_rows.COLUMNS, rows


class Apply(_OfRules):
    """Reshape nodes.

    A node whose plan has a problem is left as it is, and the others are
    reshaped. What is needed to undo the reshape is kept in a file.
    """

    examples = (
        'reshape apply --rules rules.yaml --all --dry-run',
        'reshape apply --rules rules.yaml --node gpu-1 --undo-file undo.json',
    )

    def get_parser(self, prog_name):
        """Add the options.

        :param prog_name: of the command
        :returns: the parser
        """
        parser = super().get_parser(prog_name)
        parser.add_argument(
            '--undo-file',
            metavar='FILE',
            help='a new file for what is needed to undo the reshape; '
            'reshape-undo-TIME.json in the current directory if not given',
        )
        reshaping.add_dry_run(parser)
        return parser

    def take_action(self, parsed_args):
        """Reshape each node.

        :param parsed_args: what was given
        :returns: columns and rows
        """
        from nova_xcell.reshaper import client

        placement, rules, nodes = self._read(parsed_args)
        kept = reshaping.undo_file_at(parsed_args.undo_file)
        reshaper = client.Client(placement)

        def task(key: str):
            if parsed_args.dry_run:
                return reshaper.plan(key, rules)
            return reshaper.apply(key, rules, kept.keep)

        return _listed(
            reshaping.each(
                self,
                [(name, lambda key=key: task(key))
                 for key, name in nodes.items()],
                parsed_args.dry_run,
            )
        )  # fmt: skip


class Undo(described.Described, lister.Lister):
    """Undo what reshapes have changed.

    The node that was reshaped last comes first. Servers that came in the
    meantime are moved as well.
    """

    examples = ('reshape undo undo.json --dry-run', 'reshape undo undo.json')

    def get_parser(self, prog_name):
        """Add the options.

        :param prog_name: of the command
        :returns: the parser
        """
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'file', metavar='FILE', help='that reshape apply has kept'
        )
        reshaping.add_dry_run(parser)
        return parser

    def take_action(self, parsed_args):
        """Undo each node's reshape, the last one first.

        :param parsed_args: what was given
        :returns: columns and rows
        """
        from nova_xcell.reshaper import client
        from nova_xcell.reshaper import undo_file

        records = undo_file.read(parsed_args.file)
        reshaper = client.Client(_placement())

        def task(record):
            if parsed_args.dry_run:
                return reshaper.plan_undo(record)
            return reshaper.undo(record)

        return _listed(
            reshaping.each(
                self,
                [(record['node'], lambda record=record: task(record))
                 for record in records],
                parsed_args.dry_run,
            )
        )  # fmt: skip
