# SPDX-License-Identifier: Apache-2.0
"""From features to seams: arm and disarm the plug-ins in this process.

Arming decides, checks and puts hooks on the imports of host modules; a seam
is installed when its module has been imported, which may have happened before
or may happen later. Everything that can be wrong ends the process with one
line and leaves nothing installed.
"""

import logging
import sys
import types
import typing as ty

from oslo_config import cfg
import stevedore
import wrapt

from nova_xcell import conf as xcell_conf
from nova_xcell import exception
from nova_xcell import features
from nova_xcell import releases
from nova_xcell import seams

# Not oslo.log: a service arms before its logging is set up, and only seams
# that are installed later are seen in its log.
LOG = logging.getLogger(__name__)


class _Installed(ty.NamedTuple):
    """A replaced attribute, and what has to be put back."""

    seam: seams.Seam
    owner: ty.Any
    key: str
    original: ty.Any
    replacement: ty.Any


# By host project: one process can have applications of both, as in tests.
_armed: dict[str, tuple[str, ...]] = {}
_seams: dict[str, tuple[seams.Seam, ...]] = {}
# Seams are looked at once only: afterwards some are ours.
_checked: set[seams.Seam] = set()
_installed: dict[seams.Seam, _Installed] = {}
# Import hooks cannot be taken back, so each module gets one for good. It does
# nothing while its seams' features are not armed.
_hooked: set[str] = set()


def arm(conf: cfg.ConfigOpts, project: str) -> tuple[str, ...]:
    """Arm the features that a service's configuration asks for.

    Called again with the same features it does nothing, with others it
    changes over to them.

    :param conf: the service's parsed configuration
    :param project: its project, ``nova`` or ``placement``
    :returns: the features armed
    :raises: :class:`~nova_xcell.exception.XcellError`; nothing is armed then
    """
    release = releases.installed(project)
    xcell_conf.register_opts(conf)
    xcell_conf.validate(conf)
    wanted = features.with_part_in(
        features.select(conf.xcell.features), project
    )
    features.check_release(wanted, release, project)
    if wanted == _armed.get(project, ()):
        return wanted
    disarm(project)
    try:
        _armed[project] = wanted
        _seams[project] = seams.for_features(wanted, release, project)
        modules = dict.fromkeys(seam.module for seam in _seams[project])
        imported = [
            sys.modules[name] for name in modules if name in sys.modules
        ]
        for step in (_check_module, _install_module):
            for module in imported:
                step(module)
        for name in modules:
            _hook(name)
    except Exception:
        disarm(project)
        raise
    LOG.info('nova-xcell: armed for %s.', ', '.join(wanted) or 'no feature')
    return wanted


def disarm(project: str | None = None) -> None:
    """Put back everything that was replaced; the process is plain again.

    :param project: do so for one host project only
    """
    for each in [project] if project else list(_seams):
        _armed.pop(each, None)
        _checked.difference_update(_seams.pop(each, ()))
    for seam in reversed(list(_installed)):
        if project in (None, seam.project):
            _uninstall(_installed.pop(seam))


def armed() -> tuple[str, ...]:
    """Return the features armed in this process."""
    return tuple(name for names in _armed.values() for name in names)


def installed() -> tuple[seams.Seam, ...]:
    """Return the seams that are in place right now."""
    return tuple(_installed)


def _hook(module_name: str) -> None:
    if module_name not in _hooked:
        _hooked.add(module_name)
        wrapt.register_post_import_hook(_on_import, module_name)


def _on_import(module: types.ModuleType) -> None:
    """Check and install the seams of a module that was just imported.

    :raises: SystemExit: whoever imports may swallow any Exception
    """
    try:
        _check_module(module)
        _install_module(module)
    except Exception as exc:
        disarm()
        raise SystemExit('nova-xcell: %s' % exception.one_line(exc)) from exc


def _check_module(module: types.ModuleType) -> None:
    for seam in _seams_of(module):
        if seam not in _checked:
            seams.check(seam, module)
            _checked.add(seam)


def _install_module(module: types.ModuleType) -> None:
    for seam in _seams_of(module):
        if seam.plugin is not None and seam not in _installed:
            _installed[seam] = _install(seam, module)
            LOG.info('nova-xcell: %s is %s.', seam.path, seam.kind)


def _seams_of(module: types.ModuleType) -> list[seams.Seam]:
    return [
        seam
        for table in _seams.values()
        for seam in table
        if seam.module == module.__name__
    ]


def _install(seam: seams.Seam, module: types.ModuleType) -> _Installed:
    owner, key = seams.holder(seam, module)
    if seam.item is not None:
        owner, key = getattr(owner, key), seam.item
        original = owner[key]
    else:
        original = getattr(owner, key)
    replacement = _load_plugin(*seam.plugin)
    if seam.kind == seams.EXTENDED:
        replacement = _before(replacement, original)
    if seam.item is not None:
        owner[key] = replacement
    else:
        setattr(owner, key, replacement)
    return _Installed(seam, owner, key, original, replacement)


def _before(mixin: type, original: type) -> type:
    """Return a class that has what a mixin adds, and the original's name."""
    return type(
        original.__name__,
        (mixin, original),
        {'__module__': mixin.__module__, '__doc__': original.__doc__},
    )


def _uninstall(entry: _Installed) -> None:
    if entry.seam.item is not None:
        entry.owner[entry.key] = entry.original
    else:
        setattr(entry.owner, entry.key, entry.original)


def _load_plugin(namespace: str, name: str) -> ty.Any:
    try:
        return stevedore.DriverManager(
            namespace, name, warn_on_missing_entrypoint=False
        ).driver
    except Exception as exc:
        raise exception.PluginNotLoaded(
            namespace=namespace, name=name, reason=exc
        ) from exc
