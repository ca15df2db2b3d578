# SPDX-License-Identifier: Apache-2.0
"""``nova-xcell-manage placement``: reshape nodes while services are down."""

from __future__ import annotations

import argparse
import itertools
import typing as ty

from cliff import lister
from cliff.formatters import base
from stevedore import extension

from nova_xcell import exception
from nova_xcell import releases
from nova_xcell.cmd import configuration
from nova_xcell.cmd import described
from nova_xcell.cmd import reshape_rows
from nova_xcell.cmd import reshaping


class UnknownHost(exception.XcellError):
    """No cell has a compute host of this name."""

    msg_fmt = 'There is no compute host %(name)s: %(reason)s'


def _placement(files: ty.Sequence[str]):
    releases.installed('placement')
    # Imported late: help needs none of the host's modules.
    from nova_xcell.reshaper import direct
    from nova_xcell.reshaper import placement

    config = direct.configured(files)
    configuration.check_connection(config, 'placement_database')
    return placement.Placement(direct.connect(config), workers=1)


def _nodes_of(host: str) -> list[str]:
    """Return UUIDs of the nodes of a compute host."""
    from nova import context as nova_context
    from nova import exception as host_exception
    from nova import objects

    context = nova_context.get_admin_context()
    try:
        mapping = objects.HostMapping.get_by_host(context, host)
        with nova_context.target_cell(context, mapping.cell_mapping) as cell:
            nodes = objects.ComputeNodeList.get_all_by_host(cell, host)
    except (
        host_exception.HostMappingNotFound,
        host_exception.ComputeHostNotFound,
    ) as exc:
        raise UnknownHost(name=host, reason=exception.one_line(exc))
    return [node.uuid for node in nodes]


class Text(base.ListFormatter):
    """Lines and trees for people, written while the command runs."""

    def add_argument_group(self, parser):
        """Add no option.

        :param parser: of the command
        """

    def emit_list(self, column_names, data, stdout, parsed_args):
        """Write what there is to say of each node as soon as it is known.

        :param column_names: not used
        :param data: how it went with each node, as it is done
        :param stdout: where to write
        :param parsed_args: what was given
        """
        for outcome in data:
            for line in _told(outcome, parsed_args.dry_run):
                stdout.write(line + '\n')
            stdout.flush()


class MigrateComputeInventory(described.Described, lister.Lister):
    """Reshape nodes in Placement's database, without any service.

    For an upgrade that skips releases: nothing but the databases has to run.
    A node that needs nothing is passed over, and so is one that a run before
    has done, which makes it safe to run it again. If it is interrupted, run it
    again with the same undo file.
    """

    examples = (
        'placement migrate_compute_inventory --rules rules.yaml --all '
        '--dry-run',
        'placement migrate_compute_inventory --rules rules.yaml --all '
        '--undo-file undo.json',
        'placement migrate_compute_inventory --undo undo.json',
    )
    formatter_default = 'text'

    def _load_formatter_plugins(self):
        """Return what -f can be: those of cliff, and one of our own."""
        found = super()._load_formatter_plugins()
        found.extensions.append(
            extension.Extension('text', None, Text, Text())
        )
        return found

    def get_parser(self, prog_name):
        """Add the options.

        :param prog_name: of the command
        :returns: the parser
        """
        parser = super().get_parser(prog_name)
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument('--rules', metavar='FILE', help='rules, in YAML')
        what.add_argument(
            '--undo',
            metavar='FILE',
            help='undo what the run that has kept this file did; all of its '
            'nodes if none is named',
        )
        nodes = parser.add_mutually_exclusive_group()
        reshaping.add_node(nodes)
        nodes.add_argument(
            '--host',
            metavar='NAME',
            help='all nodes of a compute host, as the databases of Nova say',
        )
        reshaping.add_all(nodes)
        reshaping.add_dry_run(parser)
        parser.add_argument(
            '--undo-file',
            metavar='FILE',
            help='where to keep what is needed to undo it; a file of a run '
            'before is gone on with; reshape-undo-TIME.json in the current '
            'directory if not given',
        )
        parser.add_argument(
            '--placement-config-file',
            action='append',
            default=[],
            metavar='FILE',
            help='configuration of Placement, for its database; may be '
            'repeated; where Placement looks for it if not given',
        )
        self._refuse = parser.error
        return parser

    def take_action(self, parsed_args):
        """Reshape each node, or undo that.

        :param parsed_args: what was given
        :returns: columns and rows
        """
        problem = _problem(parsed_args)
        if problem:
            self._refuse(problem)
        placement = _placement(parsed_args.placement_config_file)
        do = _undoing if parsed_args.undo else _doing
        tasks = do(placement, parsed_args, self._wanted(parsed_args))
        outcomes = reshaping.each(self, tasks, parsed_args.dry_run)
        if parsed_args.formatter == 'text':
            return (), outcomes
        rows = map(reshape_rows.of_outcome, outcomes)
        return reshape_rows.COLUMNS, list(itertools.chain.from_iterable(rows))

    def _wanted(self, parsed_args) -> list[str] | None:
        """Return names or UUIDs of nodes; None for all."""
        if parsed_args.host:
            return _nodes_of(parsed_args.host)
        return parsed_args.node or None

    def produce_output(self, parsed_args, column_names, data):
        """Write the result.

        :param parsed_args: what was given
        :param column_names: of the rows
        :param data: rows, or how it goes with each node
        :returns: nothing of interest
        """
        if parsed_args.formatter != 'text':
            return super().produce_output(parsed_args, column_names, data)
        # It has no columns to choose or to sort by.
        return self.formatter.emit_list(
            column_names, data, self.app.stdout, parsed_args
        )


def _problem(parsed_args: argparse.Namespace) -> str | None:
    """Return what is wrong with the command line, or None."""
    if parsed_args.rules and not (
        parsed_args.node or parsed_args.host or parsed_args.all
    ):
        return '--rules needs one of --node, --host and --all'
    if parsed_args.undo and parsed_args.undo_file:
        return '--undo-file goes with --rules only'
    return None


def _doing(
    placement, parsed_args, wanted: list[str] | None
) -> list[reshaping.Task]:
    from nova_xcell.reshaper import client
    from nova_xcell.reshaper import placement as placement_module
    from nova_xcell.reshaper import rules_file

    rules = rules_file.read(parsed_args.rules)
    kept = reshaping.undo_file_at(parsed_args.undo_file)
    reshaper = client.Client(placement)
    nodes = reshaping.wanted(
        placement_module.nodes(placement, wanted or []), rules
    )
    return [
        (
            name,
            lambda key=key: (
                reshaper.plan(key, rules)
                if parsed_args.dry_run
                else reshaper.apply(key, rules, kept.keep)
            ),
        )
        for key, name in sorted(nodes.items(), key=lambda item: item[1])
    ]


def _undoing(
    placement, parsed_args, wanted: list[str] | None
) -> list[reshaping.Task]:
    from nova_xcell.reshaper import client
    from nova_xcell.reshaper import undo_file

    reshaper = client.Client(placement)
    return [
        (
            record['node'],
            lambda record=record: (
                reshaper.plan_undo(record)
                if parsed_args.dry_run
                else reshaper.undo(record)
            ),
        )
        for record in undo_file.read(parsed_args.undo)
        if wanted is None
        or record['node'] in wanted
        or record['root'] in wanted
    ]


def _told(outcome: reshaping.Outcome, is_dry: bool) -> ty.Iterator[str]:
    """Return what there is to say about a node."""
    from nova_xcell.reshaper import diff

    name, plan, result, reason = outcome
    if plan is None:
        yield '%s: %s: %s' % (name, result, reason)
        return
    if plan.problems or plan.is_empty:
        yield '%s: %s' % (name, result)
    else:
        yield '%s: %s, %d providers and %d consumers' % (
            name,
            result,
            len(plan.inventories),
            len(plan.changes),
        )
    for problem in plan.problems:
        yield '  problem (%s)%s: %s' % (
            problem.kind,
            ' of consumer %s' % problem.consumer if problem.consumer else '',
            problem.reason,
        )
    for note in plan.notes:
        yield '  note: %s' % note
    if is_dry and not plan.is_empty:
        yield from ('  ' + line for line in diff.lines(plan))
