# SPDX-License-Identifier: Apache-2.0
"""One move of one server, with what both cells have of it."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib

from oslo_log import log as logging
import oslo_messaging as messaging

from nova import exception as nova_exception
from nova import objects
from nova.i18n import _
from nova.virt import hardware

from nova_xcell import exception
from nova_xcell.compute import work
from nova_xcell.tasks import cells
from nova_xcell.tasks import goal
from nova_xcell.tasks import remote
from nova_xcell.tasks import services

LOG = logging.getLogger(__name__)

#: What is loaded of a server; all that its hosts are told, and that is saved.
FIELDS = (
    'flavor',
    'info_cache',
    'metadata',
    'migration_context',
    'numa_topology',
    'pci_devices',
    'pci_requests',
    'resources',
    'system_metadata',
)


class Half:
    """What one cell has of a move.

    :ivar cell: nova.objects.CellMapping
    :ivar context: auth context targeted at it
    :ivar instance: the server's record there, or None
    :ivar migration: nova.objects.Migration there, or None
    """

    def __init__(
        self,
        context,
        cell: objects.CellMapping,
        instance_uuid: str,
        migration_uuid: str,
    ) -> None:
        self.cell = cell
        self.context = cells.targeted(context, cell)
        self._uuids = instance_uuid, migration_uuid
        self.instance: objects.Instance | None = None
        self.migration: objects.Migration | None = None
        self.refresh()

    def refresh(self) -> None:
        """Read the records again."""
        instance_uuid, migration_uuid = self._uuids
        try:
            self.instance = objects.Instance.get_by_uuid(
                self.context, instance_uuid, expected_attrs=list(FIELDS)
            )
        except nova_exception.InstanceNotFound:
            self.instance = None
        try:
            self.migration = objects.Migration.get_by_uuid(
                self.context, migration_uuid
            )
        except nova_exception.MigrationNotFound:
            self.migration = None

    def facts(self) -> goal.Half:
        """Return what counts for a decision."""
        status = self.migration.status if self.migration else None
        if self.instance is None:
            return goal.Half(status=status)
        return goal.Half(
            exists=True,
            hidden=self.instance.hidden,
            vm_state=self.instance.vm_state,
            task_state=self.instance.task_state,
            status=status,
            undoing=self.instance.system_metadata.get(work.UNDOING),
        )

    def last_action(self) -> str | None:
        """Return the name of the last action of the server here."""
        actions = objects.InstanceActionList.get_by_instance_uuid(
            self.context, self._uuids[0]
        )
        # Newest first.
        return actions[0].action if actions else None


class Move:
    """A move, read from all that keeps it.

    :ivar source: Half of the cell that the server came from
    :ivar target: Half of the cell that it goes to
    :ivar mapping: nova.objects.InstanceMapping

    :param context: auth context; need not be targeted at a cell
    :param instance_uuid: UUID of the server
    :param migration_uuid: UUID of the migration
    :raises: :class:`~nova_xcell.exception.MoveWaits` if it cannot be read
    """

    def __init__(
        self, context, instance_uuid: str, migration_uuid: str
    ) -> None:
        self.context = context
        self.instance_uuid = instance_uuid
        self.migration_uuid = migration_uuid
        self.mapping = objects.InstanceMapping.get_by_instance_uuid(
            context, instance_uuid
        )
        self.source, self.target = self._halves()

    def _halves(self) -> tuple[Half, Half]:
        halves, silent = self._read_cells()
        known = [half for half in halves.values() if half.migration]
        if not known:
            raise self.waits(
                'no cell that answers has migration %s' % self.migration_uuid
            )
        migration = self._trusted(halves, known).migration
        source_cell = self._cell_of(migration.source_compute)
        dests = {
            half.migration.dest_compute
            for half in known
            if half.migration.dest_compute
        }
        needed = {
            source_cell,
            self.mapping.cell_mapping.uuid,
            *map(self._cell_of, dests),
        }
        if needed & silent.keys():
            raise self.waits(
                'no answer from the database of cell %s'
                % ', '.join(silent[uuid] for uuid in needed & silent.keys())
            )
        source = halves.pop(source_cell)
        # A record without the migration is not of this move.
        others = [half for half in halves.values() if half.migration]
        if not others:
            # Nothing has reached the other cell, or nothing is left there.
            return source, Nowhere(source)
        if len(others) > 1:
            raise self.waits(
                'more than two cells have records of it: %s'
                % ', '.join(half.cell.identity for half in others)
            )
        return source, others[0]

    def _trusted(self, halves: dict[str, Half], known: list[Half]) -> Half:
        """Return the half that says which way the move goes.

        It is that of the cell where the server is. Whoever can write to the
        database of another cell must not make up a move out of this one.
        """
        home = halves.get(self.mapping.cell_mapping.uuid)
        if home is None or (home.migration is None and home.instance is None):
            # It does not answer, or the server was deleted there.
            return known[0]
        if home.migration is None:
            raise self.waits(
                'cell %s, which has the server, knows nothing of migration %s'
                % (home.cell.identity, self.migration_uuid)
            )
        for half in (home, *known):
            if (
                half.migration.instance_uuid != self.instance_uuid
                or half.migration.source_compute
                != home.migration.source_compute
            ):
                raise self.waits(
                    'the records of migration %s in cells %s and %s '
                    'contradict each other'
                    % (
                        self.migration_uuid,
                        home.cell.identity,
                        half.cell.identity,
                    )
                )
        return home

    def _read_cells(self) -> tuple[dict[str, Half], dict[str, str]]:
        """Return the halves by the cell's UUID, and cells that are silent."""
        halves, silent = {}, {}
        for cell in cells.each(self.context):
            try:
                halves[cell.uuid] = Half(
                    self.context, cell, self.instance_uuid, self.migration_uuid
                )
            except Exception as exc:
                LOG.warning('Cell %s does not answer: %s', cell.identity, exc)
                silent[cell.uuid] = cell.identity
        return halves, silent

    def _cell_of(self, host: str) -> str:
        return objects.HostMapping.get_by_host(
            self.context, host
        ).cell_mapping.uuid

    def waits(self, reason: str) -> exception.MoveWaits:
        """Return the error of a move that cannot go on now.

        :param reason: why
        """
        return exception.MoveWaits(server=self.instance_uuid, reason=reason)

    @contextlib.contextmanager
    def needing(self, host: str) -> Iterator[None]:
        """Turn a host that does not answer into a move that waits.

        :param host: name of the host that the body calls
        :raises: :class:`~nova_xcell.exception.MoveWaits`
        """
        try:
            yield
        except messaging.RemoteError:
            raise
        except (
            exception.HostDown,
            exception.OutcomeUnknown,
            messaging.MessagingException,
        ) as exc:
            raise self.waits(
                _('host %(host)s is needed: %(reason)s')
                % {'host': host, 'reason': exc}
            )

    @property
    def home(self) -> Half:
        """The half that the instance mapping points at."""
        return self.target if self.at_target else self.source

    @property
    def at_target(self) -> bool:
        """Whether the instance mapping points at the target cell."""
        return (
            self.target.cell is not None
            and self.mapping.cell_mapping.uuid == self.target.cell.uuid
        )

    @property
    def source_host(self) -> str:
        """Name of the source host."""
        return (self.source.migration or self.target.migration).source_compute

    @property
    def dest_host(self) -> str | None:
        """Name of the destination host, None if none was chosen."""
        for half in (self.target, self.source):
            if half.migration and half.migration.dest_compute:
                return half.migration.dest_compute
        return None

    def goal(self) -> goal.Goal:
        """Decide where it has to go."""
        return goal.choose(
            goal.Facts(
                at_target=self.at_target,
                source=self.source.facts(),
                target=self.target.facts(),
                decision=self.home.last_action(),
                spec_is_current=self._spec_is_current(),
            )
        )

    def _spec_is_current(self) -> bool:
        instance = self.home.instance
        if instance is None:
            # Deleted; so may be its request spec.
            return True
        spec = objects.RequestSpec.get_by_instance_uuid(
            self.context, self.instance_uuid
        )
        return spec.flavor.flavorid == instance.flavor.flavorid

    def busy(self, clients: services.Services) -> tuple[str | None, bool]:
        """Ask the hosts whether they work on it.

        :param clients: of the services
        :returns: what a host works on, None if none does, and whether all
            that run could be asked
        """
        sure = True
        for half, host in (
            (self.source, self.source_host),
            (self.target, self.dest_host),
        ):
            if half.migration is None or host is None:
                continue
            if not remote.is_up(half.context, host):
                continue
            try:
                running = clients.xcell.running(
                    half.context, host, self.migration_uuid
                )
            except (messaging.MessagingException, exception.XcellError):
                sure = False
                continue
            if running:
                return 'host %s works on %s' % (host, ', '.join(running)), True
        return None, sure

    def map_to(self, half: Half) -> None:
        """Let the instance mapping point at a cell.

        :param half: of that cell
        """
        if self.mapping.cell_mapping.uuid != half.cell.uuid:
            self.mapping.cell_mapping = half.cell
            self.mapping.save()

    def renew_spec(self, instance: objects.Instance) -> None:
        """Give the request spec the flavor that the server has.

        And what follows from it, as the host's API does at a revert.

        :param instance: the server's record at home
        """
        spec = objects.RequestSpec.get_by_instance_uuid(
            self.context, self.instance_uuid
        )
        if spec.flavor.flavorid != instance.flavor.flavorid:
            spec.flavor = instance.flavor
            spec.numa_topology = hardware.numa_get_constraints(
                instance.flavor, instance.image_meta
            )
            spec.save()

    def refresh(self) -> None:
        """Read everything again."""
        self.mapping = objects.InstanceMapping.get_by_instance_uuid(
            self.context, self.instance_uuid
        )
        self.source.refresh()
        self.target.refresh()


class Nowhere(Half):
    """A target cell of which nothing is known, or nothing left.

    :param source: the other half
    """

    def __init__(self, source: Half) -> None:
        self.cell = None
        self.context = source.context
        self.instance = None
        self.migration = None

    def refresh(self) -> None:
        """There is nothing to read."""
