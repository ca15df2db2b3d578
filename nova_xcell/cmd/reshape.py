# SPDX-License-Identifier: Apache-2.0
"""``nova-xcell-manage reshape``: change the shape of provider trees."""

from __future__ import annotations

import typing as ty

from cliff import lister

from nova_xcell import exception
from nova_xcell.cmd import reshaping

_COLUMNS = ('Node', 'What', 'Provider or consumer', 'Before', 'After')


def _placement():
    # Imported late: these are Nova's modules, and help needs none of them.
    from nova import utils

    from nova_xcell.reshaper import placement

    return placement.Placement(utils.get_sdk_adapter('placement', admin=True))


def _rows(plan) -> ty.Iterator[tuple]:
    """Return what a plan does, line by line."""
    node = plan.tree.name
    for new in plan.new:
        yield node, 'create', new.name, None, None
    for key, traits in plan.traits.items():
        yield node, 'traits', plan.names[key], None, ', '.join(sorted(traits))
    for key, after in plan.inventories.items():
        provider = plan.tree.providers.get(key)
        before = provider.inventories if provider else {}
        for name in sorted(before.keys() | after.keys()):
            if before.get(name) != after.get(name):
                yield (
                    node,
                    'inventory',
                    plan.names[key],
                    _total(name, before),
                    _total(name, after),
                )
    for consumer, change in plan.changes.items():
        yield (
            node,
            'allocation',
            consumer,
            _spelled(change.consumer.allocations, plan.names),
            _spelled(change.after, plan.names),
        )
    for note in plan.notes:
        yield node, 'note', note, None, None
    for problem in plan.problems:
        yield (
            node,
            'problem: ' + problem.kind,
            problem.consumer,
            problem.reason,
            None,
        )


def _total(name: str, inventories) -> str | None:
    if name not in inventories:
        return None
    return '%s: %d' % (name, inventories[name]['total'])


def _spelled(allocations, names) -> str:
    return '; '.join(
        '%s %s'
        % (
            names.get(key, key),
            ', '.join('%s: %d' % each for each in sorted(amounts.items())),
        )
        for key, amounts in sorted(
            allocations.items(), key=lambda item: names.get(item[0], item[0])
        )
    )


class _Reshape(lister.Lister):
    """What the commands have in common."""

    code = 0

    def run(self, parsed_args):
        """Run it.

        :param parsed_args: what was given
        :returns: the exit code
        """
        return super().run(parsed_args) or self.code


class _OfRules(_Reshape):
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

    The exit code is 0 if there is nothing to do, 2 if there is, and 1 if it
    cannot be done. Example: nova-xcell-manage --config-file
    /etc/nova/nova.conf reshape plan --rules rules.yaml --node gpu-1
    """

    def take_action(self, parsed_args):
        """Plan for each node.

        :param parsed_args: what was given
        :returns: columns and rows
        """
        from nova_xcell.reshaper import client

        placement, rules, nodes = self._read(parsed_args)
        rows = []
        for key in nodes:
            plan = client.Client(placement).plan(key, rules)
            rows += _rows(plan)
            self.code = reshaping.worst(self.code, plan)
        return _COLUMNS, rows


class Apply(_OfRules):
    """Reshape nodes.

    A node whose plan has a problem is left as it is. What is needed to undo
    the reshape is kept in a file. The exit code is 1 if a node could not be
    reshaped. Example: nova-xcell-manage --config-file /etc/nova/nova.conf
    reshape apply --rules rules.yaml --node gpu-1 --undo-file undo.json
    """

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
        parser.add_argument(
            '--dry-run',
            action='store_true',
            help='only say what would be done',
        )
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
        return _each(
            self,
            nodes.items(),
            lambda key: (
                reshaper.plan(key, rules)
                if parsed_args.dry_run
                else reshaper.apply(key, rules, kept.keep)
            ),
            parsed_args.dry_run,
        )


class Undo(_Reshape):
    """Undo what reshapes have changed.

    Servers that came in the meantime are moved as well. The exit code is 1
    if a node could not be brought back. Example: nova-xcell-manage
    --config-file /etc/nova/nova.conf reshape undo undo.json
    """

    def get_parser(self, prog_name):
        """Add the options.

        :param prog_name: of the command
        :returns: the parser
        """
        parser = super().get_parser(prog_name)
        parser.add_argument(
            'file', metavar='FILE', help='that reshape apply has kept'
        )
        parser.add_argument(
            '--dry-run',
            action='store_true',
            help='only say what would be done',
        )
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
        return _each(
            self,
            [(index, record['node']) for index, record in enumerate(records)],
            lambda index: (
                reshaper.plan_undo(records[index])
                if parsed_args.dry_run
                else reshaper.undo(records[index])
            ),
            parsed_args.dry_run,
        )


def _each(command, nodes, do, dry_run) -> tuple[tuple, list[tuple]]:
    """Do something for each node; one that fails does not stop the others."""
    rows = []
    for key, name in nodes:
        try:
            plan = do(key)
        except exception.XcellError as exc:
            command.code = 1
            rows.append(
                (
                    name,
                    'problem: placement',
                    None,
                    exception.one_line(exc),
                    None,
                )
            )
            continue
        rows += _rows(plan)
        if plan.problems:
            command.code = 1
            result = 'left as it is'
        elif plan.is_empty:
            result = 'nothing to do'
        else:
            result = 'would be done' if dry_run else 'done'
        rows.append((name, result, None, None, None))
    return _COLUMNS, rows
