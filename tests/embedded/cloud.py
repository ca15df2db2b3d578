# SPDX-License-Identifier: Apache-2.0
"""A cloud of two or more cells in one process.

Real nova-api, super-conductor, scheduler and computes, a real Placement,
SQLite and in-memory messaging; Cinder, Neutron and Glance are the fixtures
that Nova ships. Nothing here loads our plug-ins: that is the operator's
switch, see :mod:`tests.switch`, whose start() has to come before this module.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
from typing import Any

from oslo_utils import uuidutils

from nova import context as nova_context
import nova.conf
from nova.policies import base as base_policies
from nova.policies import servers as servers_policies
from nova.tests import fixtures as nova_fixtures
from nova.tests.functional import integrated_helpers

from tests.embedded import driver
from tests.embedded import faults
from tests.embedded import healing
from tests.embedded import invariants
from tests.embedded import observe

CONF = nova.conf.CONF

Server = dict[str, Any]

#: How a server may come out of a confirmed or reverted resize.
SETTLED = ('ACTIVE', 'SHUTOFF', 'ERROR')


class Cinder(nova_fixtures.CinderFixture):
    """Nova's Cinder fixture, with any number of bootable volumes."""

    def __init__(self, test: Any) -> None:
        super().__init__(test)
        self.bootable: dict[str, str] = {}

    def create_bootable(self, image: str) -> str:
        """Make a volume that a server can boot from.

        :param image: the image it was filled from
        :returns: the volume's id
        """
        volume_id = uuidutils.generate_uuid()
        self.bootable[volume_id] = image
        return volume_id

    def fake_get(
        self, context: Any, volume_id: str, microversion: str | None = None
    ) -> dict[str, Any]:
        """Describe a volume; it exists once it is asked for.

        :param context: request context
        :param volume_id: the volume
        :param microversion: of the request
        :returns: the volume as Nova sees it
        """
        volume = super().fake_get(context, volume_id, microversion)
        if volume_id in self.bootable:
            volume.update(
                bootable=True,
                volume_image_metadata={'image_id': self.bootable[volume_id]},
            )
        return volume


class TwoCellCloud(
    faults.FaultsMixin,
    healing.HealingMixin,
    integrated_helpers.ProviderUsageBaseTestCase,
):
    """Base class of tests that need a cloud with several cells.

    A subclass may set `HOSTS`. Hosts are preferred in the order of the
    number at the end of their names.
    """

    #: Cell name -> its compute hosts; cell1, cell2 and so on.
    HOSTS: dict[str, tuple[str, ...]] = {
        'cell1': ('host1',),
        'cell2': ('host2', 'host3'),
    }

    compute_driver = 'fake.StoragePathFakeDriver'

    def setUp(self) -> None:
        """Start the control services and every host of `HOSTS`."""
        self.NUMBER_OF_CELLS = len(self.HOSTS)
        self.conductors: list[Any] = []
        # Nova loads drivers by name from its own package only.
        self.stub_out(
            'nova.virt.fake.StoragePathFakeDriver',
            driver.StoragePathFakeDriver,
        )
        super().setUp()
        self.cinder = self.useFixture(Cinder(self))
        self.policy.set_rules(
            {servers_policies.CROSS_CELL_RESIZE: base_policies.RULE_ADMIN_API},
            overwrite=False,
        )
        self.flags(rpc_response_timeout=10, long_rpc_timeout=60)
        self.ports: dict[str, list[str]] = {}
        for cell, hosts in self.HOSTS.items():
            self._aggregate = self._create_aggregate(
                cell, availability_zone=cell
            )
            for host in hosts:
                self.start_host(host, cell)

    def start_service(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Start a service; the scheduler gets a predictable order of hosts.

        :param name: what to start, see the host's own method
        :returns: the service
        """
        if name == 'scheduler':
            # Added to what is configured, as an operator would, so that a
            # list which a config source brings stays in force.
            self.flags(
                weight_classes=CONF.filter_scheduler.weight_classes
                + ['tests.embedded.weigher.HostOrderWeigher'],
                group='filter_scheduler',
            )
        service = super().start_service(name, *args, **kwargs)
        if name == 'conductor':
            self.conductors.append(service)
        return service

    def start_host(self, host: str, cell: str) -> Any:
        """Start a compute host; its cell is its availability zone too.

        :param host: the host's name
        :param cell: the name of its cell
        :returns: the compute service
        """
        compute = self._start_compute(host, cell_name=cell)
        # All services share one config here. What names itself by it, such
        # as the conductor in its notifications, is not this compute host.
        self.flags(host='controller')
        if isinstance(compute.manager.driver, driver.StoragePathFakeDriver):
            compute.manager.driver.observer = self.on_volume_check
        self.admin_api.post_aggregate_action(
            self._aggregate, {'add_host': {'host': host}}
        )
        return compute

    def on_volume_check(self, host: str, volume_id: str, answer: bool) -> None:
        """Hear that a host was asked whether it reaches a volume.

        :param host: the host asked
        :param volume_id: the volume
        :param answer: what it said
        """

    # What there is, and where.

    @contextlib.contextmanager
    def context_of(self, cell: str) -> Iterator[nova_context.RequestContext]:
        """Give an admin context aimed at the database of a cell.

        :param cell: the cell's name
        :returns: context manager, yielding the context
        """
        with nova_context.target_cell(
            nova_context.get_admin_context(), self.cell_mappings[cell]
        ) as context:
            yield context

    def cell_of(self, host: str) -> str | None:
        """Name the cell of a host.

        :param host: the host's name
        :returns: the cell's name, None for a host of no cell
        """
        mapping = self.host_mappings.get(host)
        return mapping.cell_mapping.name if mapping else None

    def volumes_of(self, server: Server) -> list[str]:
        """List the volumes of a server.

        :param server: the server
        :returns: volume ids
        """
        return [
            volume['volumeId']
            for volume in self.api.get_server_volumes(server['id'])
        ]

    # What a user does.

    def create_server(
        self,
        name: str = 'server',
        volume_backed: bool = False,
        data_volume: bool = False,
        port: bool = True,
    ) -> Server:
        """Boot a server and wait until it is ACTIVE.

        :param name: its name
        :param volume_backed: boot from a volume instead of an image
        :param data_volume: give it a second, empty volume
        :param port: give it a port, tagged `private`
        :returns: the server
        """
        ports = []
        if port:
            ports.append(self.neutron.create_port({'port': {}})['port']['id'])
        request = self._build_server(
            name=name,
            flavor_id=self.api.get_flavors()[0]['id'],
            networks=[{'port': ports[0], 'tag': 'private'}]
            if port
            else 'none',
        )
        devices = [self._root(request, volume_backed)]
        if data_volume:
            devices.append(
                {
                    'boot_index': -1,
                    'uuid': uuidutils.generate_uuid(),
                    'source_type': 'volume',
                    'destination_type': 'volume',
                    'tag': 'data',
                }
            )
        request['block_device_mapping_v2'] = devices
        server = self.api.post_server({'server': request})
        self.ports[server['id']] = ports
        return self.wait_for_status(server, 'ACTIVE')

    def resize(self, server: Server, host: str | None = None) -> Server:
        """Resize a server, or migrate it, and wait for the outcome.

        The flavor is the second of the cloud, the first being what
        `create_server` used.

        :param server: the server
        :param host: cold migrate it to this host instead of resizing it
        :returns: the server, once no task is left on it: in VERIFY_RESIZE
            when all went well
        """
        if host:
            action = {'migrate': {'host': host}}
        else:
            flavor = self.api.get_flavors()[1]['id']
            action = {'resize': {'flavorRef': flavor}}
        self.api.post_server_action(server['id'], action)
        return self.wait_for_rest(server)

    def confirm(self, server: Server) -> Server:
        """Confirm a resize and wait until it is over.

        :param server: the resized server
        :returns: the server, ACTIVE, SHUTOFF or ERROR
        """
        return self._decide(server, 'confirm')

    def revert(self, server: Server) -> Server:
        """Revert a resize and wait until it is over.

        :param server: the resized server
        :returns: the server, ACTIVE, SHUTOFF or ERROR
        """
        return self._decide(server, 'revert')

    def delete(self, server: Server) -> None:
        """Delete a server and wait until it is gone.

        :param server: the server
        """
        self.api.delete_server(server['id'])
        self._wait_until_deleted(server)

    # Waiting, always for a condition.

    def wait_for_status(self, server: Server, *statuses: str) -> Server:
        """Wait until a server shows one of some statuses.

        :param server: the server
        :param statuses: what to wait for
        :returns: the server as it then is
        """
        return self._wait_for(
            server, lambda seen: self.assertIn(seen['status'], statuses)
        )

    def wait_for_rest(self, server: Server) -> Server:
        """Wait until no task is running on a server.

        :param server: the server
        :returns: the server as it then is
        """
        return self._wait_for(
            server,
            lambda seen: self.assertIsNone(
                seen['OS-EXT-STS:task_state'], seen['status']
            ),
        )

    def wait_for_no_leak(
        self, server: Server, upkeep: bool = False
    ) -> list[str]:
        """Wait until a server holds what it should and nothing else.

        :param server: the server
        :param upkeep: let the hosts run their periodic audit first: plain
            Nova leaves the claim of a deleted server to that
        :returns: what still does not belong after a while
        """
        found: list[str] = []

        def check() -> None:
            if upkeep:
                self._run_periodics()
            found[:] = invariants.leaks(observe.snapshot(self, server['id']))
            self.assertEqual([], found)

        with contextlib.suppress(AssertionError):
            self._wait_for_assert(check, max_retries=100, sleep=0.1)
        return found

    def _wait_for(self, server: Server, check: Any) -> Server:
        seen: list[Server] = []

        def poll() -> None:
            seen[:] = [self.api.get_server(server['id'])]
            check(seen[0])

        self._wait_for_assert(poll, max_retries=150, sleep=0.1)
        return seen[0]

    def _decide(self, server: Server, decision: str) -> Server:
        """Confirm or revert a resize and wait for all of it."""
        end = f'instance.resize_{decision}.end'
        before = sum(
            1
            for sent in self.notifier.versioned_notifications
            if sent['event_type'] == end
        )
        self.api.post_server_action(server['id'], {f'{decision}Resize': None})
        # A source's record counts as ACTIVE while it is still reverting.
        self.wait_for_status(server, *SETTLED)
        server = self.wait_for_rest(server)
        if server['status'] != 'ERROR':
            # The conductor tidies up after the server is at rest.
            self.notifier.wait_for_versioned_notifications(
                end, n_events=before + 1
            )
        return server

    def _root(self, request: Server, volume_backed: bool) -> dict[str, Any]:
        """Describe the root disk and take the image out where unneeded."""
        device = {
            'boot_index': 0,
            'uuid': request['imageRef'],
            'source_type': 'image',
            'destination_type': 'local',
        }
        if volume_backed:
            volume_id = self.cinder.create_bootable(request.pop('imageRef'))
            device.update(
                uuid=volume_id,
                source_type='volume',
                destination_type='volume',
                tag='root',
            )
        return device
