# SPDX-License-Identifier: Apache-2.0
"""Options of ``[xcell]``."""

import glob
import os

from oslo_config import cfg

from nova_xcell import exception
from nova_xcell import features
from nova_xcell.weighers import cells

xcell_group = cfg.OptGroup(
    'xcell',
    title='nova-xcell options',
    help="""
Options of the nova-xcell plug-ins. They are loaded into every
service whose configuration names them::

    [DEFAULT]
    config_source = xcell
    [xcell]
    driver = nova_xcell
""",
)


def _step_timeout(name: str, step: str, more: str = '') -> cfg.Opt:
    return cfg.IntOpt(
        name,
        min=1,
        help="""
Seconds to wait for the answer of %s.

A step that takes longer is not undone: its host is asked what became of
it, see ``settle_timeout``. A host that has died in the middle of it is
noticed after ``[DEFAULT] rpc_response_timeout``.%s

Possible values: a number of seconds, or nothing, which stands for
``[DEFAULT] long_rpc_timeout``.

Related options:

* ``[DEFAULT] long_rpc_timeout``
* ``[DEFAULT] rpc_response_timeout``
"""
        % (step, more),
    )


_CARRIES_DISK = (
    ' ``timeout_per_gb`` is added for a\nroot disk that it carries.'
)

xcell_opts = [
    cfg.ListOpt(
        'features',
        default=[features.ALL],
        help="""
Features to enable. A feature that is not named leaves the host
untouched. Give every service the same value.

Possible values:

* ``all``: every feature this release of nova-xcell has
%s"""
        % ''.join(
            '* ``%s``: %s\n' % (feature.name, feature.summary)
            for feature in features.FEATURES.values()
        ),
    ),
    cfg.ListOpt(
        'cell_weights',
        default=[],
        sample_default=['old-cell:draining', 'new-cell:preferred'],
        help="""
Cells that a cross-cell resize or cold migration should prefer or
leave.

The CrossCellWeigher gives a host in the cell the server comes from
1 and a host in any other cell -1. The weight of the host's cell is
added to that. It plays no part in anything but a move that may
cross cells.

Possible values: a list of ``CELL:WEIGHT``, where CELL is the name or
the uuid of a cell and WEIGHT is

* ``draining`` (-3): servers leave this cell whenever another can
  take them
* ``preferred`` (3): servers are drawn to this cell, also out of a
  cell that is not draining
* a number; above 2 it outweighs the preference for the cell the
  server comes from

Related options:

* ``[filter_scheduler] cross_cell_move_weight_multiplier``: how much
  all of this counts against the other weighers. A negative value
  prefers other cells over the server's own, the weights given here
  keep their sense; 0 switches them off too.
""",
    ),
    cfg.IntOpt(
        'prep_settle_timeout',
        default=60,
        min=0,
        help="""
Seconds to wait, after the preparation of a destination host timed
out, until it is certain that nothing of the move is left on that
host.

Until then no other host is tried: a claim that comes late would
overwrite that of the next host. When the time is over and the host
still does not answer, the move is given up and the server stays
what and where it was. A host that carries nova-xcell and whose
nova-compute is reported down is not waited for.

Possible values: 0 (ask once) or a number of seconds.

Related options:

* ``[DEFAULT] long_rpc_timeout``: how long the preparation may take
""",
    ),
    cfg.IntOpt(
        'settle_timeout',
        default=300,
        min=0,
        help="""
Seconds to wait, after a step of a cross-cell move timed out, until it
is certain what the host did.

The host is asked whether it still works on the step. While it does, it
is waited for; when it ends, the move goes on or back. When the host does
not answer in this time, the move is left as it is until the host is
back.

Possible values: 0 (ask once) or a number of seconds.

Related options:

* ``[DEFAULT] long_rpc_timeout``: how long a step may take before that
""",
    ),
    _step_timeout(
        'prep_at_dest_timeout',
        'a destination host that claims\nresources for a cross-cell move',
    ),
    _step_timeout(
        'prep_at_source_timeout',
        'the source host, which powers\nthe guest off, uploads its root disk '
        'and destroys it',
        _CARRIES_DISK,
    ),
    _step_timeout(
        'finish_at_dest_timeout',
        'the destination host, which\ndownloads the root disk and starts '
        'the guest',
        _CARRIES_DISK,
    ),
    _step_timeout(
        'confirm_at_source_timeout',
        'the source host, which cleans\nup when a move is confirmed',
    ),
    _step_timeout(
        'revert_at_dest_timeout',
        'the destination host, which\ndestroys the guest when a move is '
        'reverted',
    ),
    _step_timeout(
        'finish_revert_at_source_timeout',
        'the source host, which\nstarts the guest when a move is reverted',
    ),
    cfg.IntOpt(
        'timeout_per_gb',
        default=0,
        min=0,
        help="""
Seconds to add, for each GiB of a root disk that goes through the image
service, to ``prep_at_source_timeout`` and ``finish_at_dest_timeout``.

Possible values: 0, or a number of seconds: what a GiB takes at the speed
of the image service while as many servers move as may at a time.

Related options:

* ``prep_at_source_timeout``
* ``finish_at_dest_timeout``
""",
    ),
    cfg.IntOpt(
        'abandoned_after',
        default=60,
        min=1,
        help="""
Seconds after which a cross-cell move is taken for abandoned if no
conductor has touched its records.

A conductor touches the moves that it drives four times in this time.
The clocks of the conductors must not differ by as much. Where a host
of the move cannot be asked whether it works on it, because it does not
carry nova-xcell, ``[DEFAULT] long_rpc_timeout`` is added.

Possible values: a number of seconds, 1 or more.

Related options:

* ``reconcile_interval``
""",
    ),
    cfg.IntOpt(
        'reconcile_interval',
        default=60,
        min=-1,
        help="""
Seconds between two looks of a conductor for cross-cell moves that are
abandoned: its conductor has died, a host did not answer, an
administrator has reset the server's state. They are finished or rolled
back. Each conductor with access to the API database looks; one takes
a move.

Possible values: 0 (the interval of the service's other periodic work),
-1 (never), or a number of seconds.
""",
    ),
    cfg.StrOpt(
        'reshape_rules',
        sample_default='/etc/nova/reshape.yaml',
        help="""
File with rules that change the provider trees of nodes, in YAML.

nova-compute reads it once when it starts, and applies it to all that the
libvirt driver reports. Allocations change with it at start-up only. If a
rule is wrong, or cannot be applied to a node, nova-compute ends and says
why. The other services do not read it.

Possible values: a path, or nothing, which stands for no rules.

Related options:

* ``reshape_undo_dir``
""",
    ),
    cfg.StrOpt(
        'reshape_undo_dir',
        help="""
Folder where nova-compute keeps, in a file for each reshape, what is needed
to undo it with ``nova-xcell-manage``. It is made if need be.

Possible values: a path, or nothing, which stands for ``xcell-reshape`` in
``[DEFAULT] state_path``.

Related options:

* ``reshape_rules``
* ``[DEFAULT] state_path``
""",
    ),
]


def register_opts(conf: cfg.ConfigOpts) -> None:
    """Register the options of ``[xcell]``.

    :param conf: configuration to register them with
    """
    conf.register_group(xcell_group)
    conf.register_opts(xcell_opts, group=xcell_group)


def list_opts() -> list[tuple[cfg.OptGroup, list[cfg.Opt]]]:
    """Return the options for the sample config generator."""
    return [(xcell_group, xcell_opts)]


def validate(conf: cfg.ConfigOpts) -> None:
    """Check everything that stands in ``[xcell]``.

    :param conf: a parsed configuration with the options registered
    :raises: :class:`~nova_xcell.exception.XcellError` that names the option
        and what is wrong with it
    """
    _refuse_unknown_options(conf)
    for opt in xcell_opts:
        try:
            conf[xcell_group.name][opt.name]
        except (
            cfg.ConfigFileValueError,
            cfg.ConfigSourceValueError,
            ValueError,
        ) as exc:
            # What oslo.config says before that is where it found the value.
            reason = str(exc).rpartition(' is not valid: ')[2]
            raise exception.InvalidOption(name=opt.name, reason=reason)
    features.select(conf.xcell.features)
    cells.parse(conf.xcell.cell_weights)


def _refuse_unknown_options(conf: cfg.ConfigOpts) -> None:
    # "driver" is oslo.config's own option of a source's group.
    known = {'driver'} | {opt.name for opt in xcell_opts}
    for name, where in _written_options(conf):
        if name.replace('-', '_') not in known:
            raise exception.UnknownOption(
                name=name, where=where, known=', '.join(sorted(known))
            )


def _written_options(conf: cfg.ConfigOpts) -> list[tuple[str, str]]:
    """Return (option, where it was written) for all that is in [xcell].

    oslo.config ignores what it does not know, so the files are read once
    more; the parser is oslo.config's own.
    """
    written = []
    for path in _config_files(conf):
        sections: dict[str, dict[str, list[str]]] = {}
        cfg.ConfigParser(path, sections).parse()
        written += [
            (name, 'in %s' % path)
            for section, options in sections.items()
            if section.lower() == xcell_group.name
            for name in options
        ]
    prefix = 'OS_%s__' % xcell_group.name.upper()
    written += [
        (name[len(prefix) :].lower(), 'environment variable %s' % name)
        for name in os.environ
        if name.startswith(prefix)
    ]
    return written


def _config_files(conf: cfg.ConfigOpts) -> list[str]:
    files = list(conf.config_file or [])
    for directory in conf.config_dir or []:
        files += sorted(
            glob.glob(os.path.join(os.path.expanduser(directory), '*.conf'))
        )
    return files
