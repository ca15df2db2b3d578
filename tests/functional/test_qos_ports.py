# SPDX-License-Identifier: Apache-2.0
"""Ports with resource requests move, or the user is told (XC-24)."""

import copy

import fixtures
import oslo_messaging as messaging

from nova.tests.functional import test_servers_resource_request as requests
from nova.virt import fake

from nova_xcell.compute import endpoint as compute_endpoint
from nova_xcell.tasks import endpoint
from nova_xcell.tasks import task_manager
from tests.functional import qos_hosts
from tests.functional import refusals


class TestQosPort(qos_hosts.QosHostsTest):
    """All services carry the plug-ins."""

    def move(self, host='host2'):
        self.boot_with_request()
        self.act({'migrate': {'host': None}}, 'VERIFY_RESIZE')
        self.assert_taken_by(host)
        self.assert_promised_by(host)
        (migration,) = self.migrations()
        self.assertEqual(1000, self.promised('host1', migration.uuid))

    def test_moved_and_confirmed(self):
        self.move()
        self.assertEqual('ACTIVE', self.confirm(self.server)['status'])
        self.assertEqual([], self.wait_for_no_leak(self.server))
        self.assert_promised_by('host2')

    def test_moved_and_reverted(self):
        self.move()
        self.assertEqual('ACTIVE', self.revert(self.server)['status'])
        self.assert_as_before()
        self.assert_promised_by('host1')

    def test_host_of_another_cell_is_named(self):
        self.boot_with_request()
        self.act({'migrate': {'host': 'host3'}}, 'VERIFY_RESIZE')
        self.assert_taken_by('host3')
        self.assert_promised_by('host3')

    def test_alternate_takes_it(self):
        self.refuse_claim('host2')
        self.move('host3')

    def test_no_host_takes_it(self):
        self.boot_with_request()
        for host in ('host2', 'host3'):
            self.refuse_claim(host)
        self.act({'migrate': {'host': None}}, 'ACTIVE')
        self.assert_as_before()
        self.assert_promised_by('host1')

    def test_source_fails(self):
        self.boot_with_request()
        self.fail_snapshot()
        self.act({'migrate': {'host': None}}, 'ACTIVE')
        # As in the host, the audit of the tracker drops host2's claim.
        self.assertEqual([], self.wait_for_no_leak(self.server, upkeep=True))
        self.assert_as_before()
        self.assert_promised_by('host1')

    def test_not_permitted(self):
        """What an earlier request was allowed is of no use to this one."""
        self.move()
        self.assertEqual('ACTIVE', self.revert(self.server)['status'])
        self.permit(refusals.CROSS_CELL, '!')
        self.act({'migrate': {'host': None}}, 'ACTIVE')
        self.assert_as_before()


class TestPlainComputes(qos_hosts.QosHostsTest):
    """Hosts without the plug-ins cannot take such a port, or give it back."""

    def without_plugins(self, *hosts):
        ping = compute_endpoint.ComputeXcellAPI.ping

        def answer(api, context, host):
            if host in hosts:
                raise compute_endpoint.exception.PeerWithoutPlugin(host=host)
            return ping(api, context, host)

        self.useFixture(
            fixtures.MockPatchObject(
                compute_endpoint.ComputeXcellAPI, 'ping', answer
            )
        )

    def test_destination(self):
        self.boot_with_request()
        self.without_plugins('host2')
        self.act({'migrate': {'host': None}}, 'VERIFY_RESIZE')
        self.assert_taken_by('host3')

    def test_source(self):
        self.boot_with_request()
        self.without_plugins('host1')
        self.act({'migrate': {'host': None}}, 'ACTIVE')
        self.assert_as_before()
        self.assert_reason_is_told(
            'resource request (QoS), and nova-compute on host1 does not carry'
        )


class TestPlainConductor(qos_hosts.QosHostsTest):
    """A nova-conductor without the plug-ins is not asked to move it."""

    def test_user_is_told(self):
        self.boot_with_request()

        def ping(*args):
            raise messaging.UnsupportedVersion('1.0')

        self.useFixture(
            fixtures.MockPatchObject(endpoint.XcellEndpoint, 'ping', ping)
        )
        error = self.migrate_and_fail()
        self.assertEqual(400, error.response.status_code)
        self.assertIn('Host host2 is in another cell', str(error))
        self.assertIn('nova-conductor does not carry nova-xcell', str(error))
        # No other host of the cell has what the port asks for.
        self.act({'migrate': {'host': None}}, 'ACTIVE')
        self.assert_as_before()
        event = self.events()['api_stay_in_cell']
        self.assertIn('resource request (QoS)', event['details'])

    def test_another_one_takes_the_request(self):
        """One with the plug-ins has answered nova-api, a plain one works."""
        self.boot_with_request()
        ours = task_manager.ComputeTaskManager
        self.useFixture(
            fixtures.MockPatchObject(
                ours, '_cold_migrate', ours.__base__._cold_migrate
            )
        )
        for host in ('host2', None):
            self.act({'migrate': {'host': host}}, 'ACTIVE')
            self.assert_as_before()


class TestSriovPort(qos_hosts.QosHostsTest):
    """An SR-IOV port gets a device of the card that placement has chosen."""

    compute_driver = 'fake.FakeDriverWithPciResources'

    #: The cards with a bandwidth, each with one device.
    CARDS = {'host1': 2, 'host2': 3, 'host3': 2}

    def setUp(self):
        resources = fake.FakeDriverWithPciResources
        self.useFixture(resources.FakeDriverWithPciResourcesConfigFixture())
        super().setUp()
        self.cards = {
            host: self.add_provider(
                host,
                'NIC Switch agent',
                '%s-ens%d' % (host, card),
                'CUSTOM_VNIC_TYPE_DIRECT',
            )
            for host, card in self.CARDS.items()
        }

    def boot_with_request(self):
        port = copy.deepcopy(
            requests.ResourceRequestNeutronFixture.port_with_sriov_resource_request
        )
        self.neutron._networks[port['network_id']] = self.neutron.network_2
        self.neutron._ports[port['id']] = port
        self.boot_flavor(networks=[{'port': port['id']}])
        self.ports[self.server['id']] = [port['id']]
        self.port = port['id']

    def assert_card(self, host):
        profile = self.neutron.show_port(self.port)['port']['binding:profile']
        self.assertEqual(self.cards[host], profile['allocation'])
        self.assertEqual(
            '0000:%02x:00.1' % self.CARDS[host], profile['pci_slot']
        )

    def test_moved_and_reverted(self):
        self.boot_with_request()
        self.assert_card('host1')
        self.act({'migrate': {'host': None}}, 'VERIFY_RESIZE')
        self.assert_taken_by('host2')
        self.assert_card('host2')
        self.assertEqual('ACTIVE', self.revert(self.server)['status'])
        self.assertEqual([], self.wait_for_no_leak(self.server))
        self.assert_card('host1')
