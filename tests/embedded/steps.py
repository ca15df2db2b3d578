# SPDX-License-Identifier: Apache-2.0
"""The steps of a cross-cell resize, and what can go wrong at each.

One table for all: `injection` makes a step fail, the fault matrix of
`tests.functional` goes through all of them. A step is named by the attribute
of the host that does it, so a host that does its work elsewhere is noticed: a
fault that is never met fails the test.
"""

from __future__ import annotations

from collections.abc import Iterator
import dataclasses
import enum

#: The operations a user can start.
OPERATIONS = ('resize', 'confirm', 'revert', 'delete')


class Fault(enum.StrEnum):
    """What happens at a step."""

    #: Fails before it has done anything.
    ERROR_BEFORE = 'error-before'
    #: The host that does the work fails in the middle of it.
    ERROR_MIDWAY = 'error-midway'
    #: Does all of its work and fails then.
    ERROR_AFTER = 'error-after'
    #: The request never arrives.
    TIMEOUT_BEFORE = 'timeout-before'
    #: The work is done, the answer never arrives.
    TIMEOUT_AFTER = 'timeout-after'
    #: The work has begun, and goes on when the conductor has reacted.
    TIMEOUT_LATE = 'timeout-late'
    #: The request waits in its queue until the conductor has reacted.
    TIMEOUT_QUEUED = 'timeout-queued'
    #: The conductor dies before the step.
    DEATH_BEFORE = 'death-before'
    #: The conductor dies while a host does the work. The host goes on when
    #: there is a new conductor.
    DEATH_MIDWAY = 'death-midway'
    #: The conductor dies when the step is done.
    DEATH_AFTER = 'death-after'
    #: The compute host that does the work dies in the middle of it.
    HOST_DEATH = 'host-death'


_EVERY = tuple(Fault)
_ERROR = (Fault.ERROR_BEFORE,)
_AROUND = (Fault.ERROR_BEFORE, Fault.DEATH_BEFORE)
_THROUGH = (Fault.ERROR_BEFORE, Fault.DEATH_AFTER)
_WRITE = (
    Fault.ERROR_BEFORE,
    Fault.ERROR_AFTER,
    Fault.DEATH_BEFORE,
    Fault.DEATH_AFTER,
)

_TASKS = 'nova.conductor.tasks.cross_cell_migrate.'
_MANAGER = 'nova.compute.manager.ComputeManager.'
_TRACKER = 'nova.compute.resource_tracker.ResourceTracker.'
_NETWORK = 'nova.network.neutron.API.'
_DRIVER = 'tests.embedded.driver.StoragePathFakeDriver.'


@dataclasses.dataclass(frozen=True)
class Step:
    """Something that one process does, or asks another one to do."""

    #: For the user of the tests; unique within an operation.
    name: str
    #: The attribute to be wrapped; of a call, the name of the method.
    where: str
    faults: tuple[Fault, ...]

    #: Of a call, the attribute that is met in the middle of the work.
    midway: str | None = None
    #: Whether compute hosts do it, and not the conductor.
    on_host: bool = False
    #: 'image' or 'volume' if servers with other root disks skip it.
    only: str | None = None
    #: How often the attribute is met before it is this step.
    skip: int = 0
    #: The attribute that does it with the plug-ins, if that is another one.
    ours: str | None = None

    @property
    def is_call(self) -> bool:
        """Whether the conductor calls a compute host for it."""
        return self.midway is not None


def _call(name: str, where: str, midway: str) -> Step:
    return Step(name, where, _EVERY, midway=midway)


def _host(name: str, where: str, **kwargs) -> Step:
    return Step(name, where, _ERROR, on_host=True, **kwargs)


_RESIZE = (
    Step(
        'start',
        _TASKS
        + '%s._perform_external_api_checks' % ('CrossCellMigrationTask'),
        _AROUND,
    ),
    Step(
        'target-records',
        _TASKS + 'TargetDBSetupTask._execute',
        _WRITE,
        ours='nova_xcell.tasks.instance_copy.TargetDBSetupTask._execute',
    ),
    Step(
        'target-migrations',
        _TASKS + 'TargetDBSetupTask._copy_migrations',
        _AROUND,
        ours='nova_xcell.tasks.records.insert_history',
    ),
    Step(
        'dest-bindings',
        _TASKS + 'PrepResizeAtDestTask._create_port_bindings',
        _THROUGH,
    ),
    Step(
        'dest-attachments',
        _TASKS + 'PrepResizeAtDestTask._create_volume_attachments',
        _THROUGH,
    ),
    _call(
        'prep-at-dest',
        'prep_snapshot_based_resize_at_dest',
        _TRACKER + 'resize_claim',
    ),
    Step(
        'mirror-claim',
        _TASKS
        + 'CrossCellMigrationTask._update_migration_from_dest_after_claim',
        _THROUGH,
    ),
    Step(
        'snapshot-image',
        'nova.compute.utils.create_image',
        _THROUGH,
        only='image',
    ),
    _call(
        'prep-at-source',
        'prep_snapshot_based_resize_at_source',
        _DRIVER + 'power_off',
    ),
    _host('source-snapshot', _DRIVER + 'snapshot', only='image'),
    _host('source-destroy', _DRIVER + 'destroy'),
    _host('source-attachments', _MANAGER + '_terminate_volume_connections'),
    _host('source-bindings', _NETWORK + 'migrate_instance_start'),
    Step(
        'finish-start',
        _TASKS + 'FinishResizeAtDestTask._execute',
        _ERROR,
    ),
    _call(
        'finish-at-dest',
        'finish_snapshot_based_resize_at_dest',
        _DRIVER + 'spawn',
    ),
    _host('dest-volumes', _MANAGER + '_prep_block_device'),
    _host('dest-activate', _NETWORK + 'migrate_instance_finish'),
    _host('delete-image', 'nova.compute.utils.delete_image', only='image'),
    Step(
        'swap-records',
        _TASKS + 'FinishResizeAtDestTask._update_instance_mapping',
        _ERROR,
    ),
    Step('mapping', 'nova.objects.InstanceMapping.save', _WRITE),
    Step('request-spec', 'nova.objects.RequestSpec.save', _AROUND),
)

_CONFIRM = (
    Step('start', _TASKS + 'get_inst_and_cell_map_from_source', _AROUND),
    _call(
        'confirm-at-source',
        'confirm_snapshot_based_resize_at_source',
        _DRIVER + 'cleanup',
    ),
    _host('source-bindings', _NETWORK + 'cleanup_instance_network_on_host'),
    _host('source-claim', _TRACKER + 'drop_move_claim_at_source'),
    _host('source-allocation', _MANAGER + '_delete_allocation_after_move'),
    Step('source-records', 'nova.objects.Instance.destroy', _WRITE),
    Step(
        'finish',
        _TASKS + 'ConfirmResizeTask._finish_confirm_in_target_cell',
        _THROUGH,
    ),
    Step(
        'state',
        _TASKS + 'ConfirmResizeTask._set_vm_and_task_state',
        _AROUND,
    ),
)

_REVERT = (
    Step('start', _TASKS + 'get_inst_and_cell_map_from_source', _AROUND),
    Step(
        'source-volumes',
        _TASKS + 'RevertResizeTask._update_bdms_in_source_cell',
        _THROUGH,
    ),
    Step(
        'source-actions',
        _TASKS + 'RevertResizeTask._update_instance_actions_in_source_cell',
        _THROUGH,
        ours='nova_xcell.tasks.history.bring',
    ),
    Step(
        'source-records',
        _TASKS + 'RevertResizeTask._update_instance_in_source_cell',
        _WRITE[1:],
    ),
    Step('mapping', 'nova.objects.InstanceMapping.save', _WRITE),
    _call(
        'revert-at-dest',
        'revert_snapshot_based_resize_at_dest',
        _DRIVER + 'destroy',
    ),
    _host('source-bindings', _NETWORK + 'migrate_instance_start'),
    _host('dest-bindings', _NETWORK + 'cleanup_instance_network_on_host'),
    _host('dest-claim', _TRACKER + 'drop_move_claim_at_dest'),
    Step('target-records', 'nova.objects.Instance.destroy', _WRITE),
    _call(
        'finish-at-source',
        'finish_revert_snapshot_based_resize_at_source',
        _DRIVER + 'finish_revert_migration',
    ),
    _host('source-allocation', _MANAGER + '_revert_allocation'),
    _host('source-attachments', _MANAGER + '_update_volume_attachments'),
    _host('source-activate', _NETWORK + 'migrate_instance_finish'),
    _host('source-complete', _MANAGER + '_complete_volume_attachments'),
    Step(
        'end',
        _TASKS + 'RevertResizeTask._send_resize_revert_notification',
        _AROUND,
        skip=1,
    ),
)

#: Operation -> its steps, in their order. Deleting a server that waits for
#: confirm or revert confirms first, and the user waits for the outcome.
STEPS: dict[str, tuple[Step, ...]] = {
    'resize': _RESIZE,
    'confirm': _CONFIRM,
    'revert': _REVERT,
    'delete': _CONFIRM,
}

#: What is most likely to happen: of each call, the conductor's death and an
#: unknown outcome, and the writes where a server changes its cell.
_LIKELY = frozenset(
    (
        Fault.ERROR_MIDWAY,
        Fault.TIMEOUT_AFTER,
        Fault.TIMEOUT_LATE,
        Fault.DEATH_MIDWAY,
        Fault.HOST_DEATH,
    )
)


@dataclasses.dataclass(frozen=True)
class Case:
    """One cell of the matrix."""

    operation: str
    step: Step
    fault: Fault
    #: What the server boots from: 'image' or 'volume'.
    backing: str

    @property
    def name(self) -> str:
        """The name of the case, unique in the matrix."""
        return '_'.join(
            (self.operation, self.step.name, self.fault.value, self.backing)
        ).replace('-', '_')

    @property
    def likely(self) -> bool:
        """Whether it is one of those that each change has to pass."""
        if self.step.is_call:
            # The work is the same for both, most of it, so one of them does.
            return self.fault in _LIKELY and (
                self.backing == 'volume' or self.fault is Fault.ERROR_MIDWAY
            )
        return self.step.name == 'mapping' and self.backing == 'volume'


def cases() -> Iterator[Case]:
    """Go through the whole matrix.

    :returns: every operation, step, fault and kind of root disk
    """
    for operation in OPERATIONS:
        for step in STEPS[operation]:
            for fault in step.faults:
                for backing in ('image', 'volume'):
                    if step.only in (None, backing):
                        yield Case(operation, step, fault, backing)
