# SPDX-License-Identifier: Apache-2.0
"""``nova-xcell-manage placement``: reshape nodes while services are down."""

from __future__ import annotations

import argparse
import typing as ty

from cliff import command

from nova_xcell import exception
from nova_xcell.cmd import progress
from nova_xcell.cmd import reshaping


class UnknownHost(exception.XcellError):
    """No cell has a compute host of this name."""

    msg_fmt = 'There is no compute host %(name)s: %(reason)s'


class BadArguments(exception.XcellError):
    msg_fmt = '%(reason)s'


def _placement(files: ty.Sequence[str]):
    # Imported late: help needs none of the host's modules.
    from nova_xcell.reshaper import direct
    from nova_xcell.reshaper import placement

    return placement.Placement(
        direct.connect(direct.configured(files)), workers=1
    )


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


class MigrateComputeInventory(command.Command):
    """Reshape nodes in Placement's database, without any service.

    For an upgrade that skips releases: nothing but the databases has to run.
    A node that needs nothing is passed over, and so is one that a run before
    has done, which makes it safe to run it again. The exit code is 1 if a node
    could not be reshaped; that of a dry run is 2 if there is something to do.
    Example: nova-xcell-manage --config-file /etc/nova/nova.conf placement
    migrate_compute_inventory --rules rules.yaml --all --dry-run
    """

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
        parser.add_argument(
            '--dry-run',
            action='store_true',
            help='only show what would be done',
        )
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
        return parser

    def take_action(self, parsed_args):
        """Reshape each node, or undo that.

        :param parsed_args: what was given
        :returns: the exit code
        """
        _check(parsed_args)
        placement = _placement(parsed_args.placement_config_file)
        do = _undoing if parsed_args.undo else _doing
        tasks = do(placement, parsed_args, self._wanted(parsed_args))
        code = 0
        bar = progress.Progress(len(tasks))
        for name, task in tasks:
            bar.show(name)
            try:
                plan = task()
            except exception.XcellError as exc:
                code = 1
                told = ['%s: %s' % (name, exception.one_line(exc))]
            else:
                code = reshaping.worst(code, plan, parsed_args.dry_run)
                told = list(_told(plan, parsed_args.dry_run))
            bar.step()
            bar.clear()
            for line in told:
                self.app.stdout.write(line + '\n')
            self.app.stdout.flush()
        return code

    def _wanted(self, parsed_args) -> list[str] | None:
        """Return names or UUIDs of nodes; None for all."""
        if parsed_args.host:
            return _nodes_of(parsed_args.host)
        return parsed_args.node or None


def _check(parsed_args: argparse.Namespace) -> None:
    if parsed_args.rules and not (
        parsed_args.node or parsed_args.host or parsed_args.all
    ):
        raise BadArguments(
            reason='--rules needs one of --node, --host and --all'
        )
    if parsed_args.undo and parsed_args.undo_file:
        raise BadArguments(reason='--undo-file goes with --rules only')


#: The name of a node and what to do, which returns the plan.
_Tasks = list[tuple[str, ty.Callable[[], ty.Any]]]


def _doing(placement, parsed_args, wanted: list[str] | None) -> _Tasks:
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


def _undoing(placement, parsed_args, wanted: list[str] | None) -> _Tasks:
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


def _told(plan, dry_run: bool) -> ty.Iterator[str]:
    """Return what there is to say about a node."""
    from nova_xcell.reshaper import diff

    name = plan.tree.name
    if plan.problems:
        yield '%s: left as it is' % name
    elif plan.is_empty:
        yield '%s: nothing to do' % name
    else:
        yield '%s: %s, %d providers and %d consumers' % (
            name,
            'would be done' if dry_run else 'done',
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
    if dry_run and not plan.is_empty:
        yield from ('  ' + line for line in diff.lines(plan))
