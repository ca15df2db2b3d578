# SPDX-License-Identifier: Apache-2.0
"""What a seam is, and how one is compared with the host."""

import dataclasses
import inspect
import types
import typing as ty

from nova_xcell import exception
from nova_xcell import features
from nova_xcell import releases

#: The value of the attribute is exchanged for the plug-in's.
REPLACED = 'replaced'
#: The value is a class; one of the plug-in's goes before it, so that several
#: features can have a part in it.
EXTENDED = 'extended'
#: A subclass of ours overrides it, and calls ``super()`` unless the row says
#: that it does not.
OVERRIDDEN = 'overridden'
#: Not a public interface of the host, but called by the plug-ins.
CALLED = 'called'


@dataclasses.dataclass(frozen=True)
class Seam:
    """One attribute of the host.

    :ivar module: host module that holds it; checked and installed as soon as
        that module is imported, not before
    :ivar attribute: dotted name inside the module
    :ivar kind: :data:`REPLACED`, :data:`EXTENDED`, :data:`OVERRIDDEN` or
        :data:`CALLED`
    :ivar signature: the parameters relied on, as ``inspect`` spells them
        without annotations; None for what is not called
    :ivar plugin: for a replaced or extended one, stevedore namespace and name
        of what takes its place or goes before it
    :ivar item: for a replaced one that is a dictionary, the key
    :ivar feature: the feature it belongs to
    :ivar services: services it has an effect in
    :ivar nova_releases: for one of Nova's, the major versions it holds for
    :ivar placement_releases: the same for one of Placement's
    """

    module: str
    attribute: str
    kind: str
    signature: str | None = None
    plugin: tuple[str, str] | None = None
    item: str | None = None
    feature: str = features.CROSS_CELL_RESIZE.name
    services: tuple[str, ...] = ()
    nova_releases: tuple[int, ...] = releases.SUPPORTED['nova'][1]
    placement_releases: tuple[int, ...] = releases.SUPPORTED['placement'][1]

    @property
    def project(self) -> str:
        """The host project that has it."""
        if self.module.partition('.')[0] == 'placement':
            return 'placement'
        return 'nova'

    def is_in(self, project: str, release: int) -> bool:
        """Return whether it holds for a release of a host project.

        :param project: ``nova`` or ``placement``
        :param release: its major version
        """
        if project != self.project:
            return False
        if project == 'placement':
            return release in self.placement_releases
        return release in self.nova_releases

    @property
    def path(self) -> str:
        """Dotted path, for messages."""
        item = '[%s]' % self.item if self.item else ''
        return '%s.%s%s' % (self.module, self.attribute, item)


#: Services.
API = ('nova-api',)
CONDUCTOR = ('nova-conductor',)
COMPUTE = ('nova-compute',)
SCHEDULER = ('nova-scheduler',)
PLACEMENT = ('placement-api',)


def holder(seam: Seam, module: types.ModuleType) -> tuple[ty.Any, str]:
    """Return the object that holds a seam's attribute, and its last name.

    :param seam: the seam
    :param module: its imported module
    :raises: AttributeError if the host has no such attribute
    """
    *parents, name = seam.attribute.split('.')
    owner: ty.Any = module
    for parent in parents:
        owner = getattr(owner, parent)
    getattr(owner, name)
    return owner, name


def check(seam: Seam, module: types.ModuleType) -> None:
    """Compare a seam with the host.

    :param seam: the seam
    :param module: its imported module
    :raises: :class:`~nova_xcell.exception.SeamChanged`
    """
    try:
        owner, name = holder(seam, module)
    except AttributeError as exc:
        raise exception.SeamChanged(path=seam.path, reason=exc)
    value = getattr(owner, name)
    if seam.item is not None and seam.item not in value:
        raise exception.SeamChanged(path=seam.path, reason='no such key')
    if seam.signature is None:
        return
    found = spell_signature(value)
    if found != seam.signature:
        raise exception.SeamChanged(
            path=seam.path,
            reason='expected %s, found %s' % (seam.signature, found),
        )


def spell_signature(function: ty.Callable) -> str:
    """Return the parameters of a function without annotations.

    :param function: a function or method of the host, decorated or not
    """
    signature = inspect.signature(_undecorated(function))
    parameters = [
        parameter.replace(
            annotation=inspect.Parameter.empty,
            default=_Sentinel()
            if type(parameter.default) is object
            else parameter.default,
        )
        for parameter in signature.parameters.values()
    ]
    return str(
        signature.replace(
            parameters=parameters, return_annotation=inspect.Signature.empty
        )
    )


class _Sentinel:
    """Stands for a default whose spelling has an address in it."""

    def __repr__(self) -> str:
        return '<object>'


def _undecorated(function: ty.Callable) -> ty.Callable:
    function = inspect.unwrap(function)
    if str(inspect.signature(function)) == '(*args, **kwargs)':
        # oslo.messaging's decorators leave no __wrapped__.
        for cell in getattr(function, '__closure__', None) or ():
            if inspect.isfunction(cell.cell_contents):
                return _undecorated(cell.cell_contents)
    return function
