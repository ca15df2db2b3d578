# SPDX-License-Identifier: Apache-2.0
"""Port bindings of a move that the agent of Neutron 29 wires (XC-12)."""

import fixtures

from nova import exception

from nova_xcell.tasks import source_guest
from tests.embedded import cloud


class _BoundPorts(cloud.TwoCellCloud):
    def boot(self, driver):
        """Boot a server whose port a mechanism driver has bound."""
        create_port = self.neutron.create_port

        def create_bound_port(body):
            port = create_port(body)
            self.neutron._ports[port['port']['id']]['binding:vif_details'] = {
                'bound_drivers': {'0': driver}
            }
            return port

        with fixtures.MonkeyPatch(
            'nova.tests.fixtures.NeutronFixture.create_port',
            lambda neutron, body: create_bound_port(body),
        ):
            return self.create_server()


class TestPortBindings(_BoundPorts):
    def targets(self, server):
        """Return what each binding names as the target of a move, by host."""
        return {
            host: (binding.get('profile') or {}).get('migrating_to')
            for port in self.ports[server['id']]
            for host, binding in self.neutron._port_bindings[port].items()
        }

    def test_destination_names_itself_until_confirmed(self):
        """Neutron 29 takes the source's binding for the target otherwise."""
        server = self.boot('openvswitch')
        server = self.resize(server, host='host2')
        self.assertEqual('host2', self.targets(server)['host2'])
        server = self.confirm(server)
        self.assertEqual({'host2': None}, self.targets(server))

    def test_nothing_of_it_remains_after_a_revert(self):
        server = self.boot('openvswitch')
        server = self.resize(server, host='host2')
        server = self.revert(server)
        self.assertEqual({'host1': None}, self.targets(server))

    def test_other_drivers_do_not_see_it(self):
        """OVN would block the port of a server that does not live-migrate."""
        server = self.boot('ovn')
        server = self.resize(server, host='host2')
        self.assertIsNone(self.targets(server)['host2'])
        server = self.confirm(server)
        self.assertEqual({'host2': None}, self.targets(server))


class TestRestartedSource(_BoundPorts):
    """A nova-compute that dies with a guest off starts it when it is back.

    Neutron does not wire the port then: it still has a binding of the other
    host.
    """

    def fail_move(self, driver, status):
        """Return how often the guest is started for its port."""
        server = self.boot(driver)
        host = self.computes['host1'].manager
        starts = []

        def restart(context, instance, *args, **kwargs):
            host.driver.power_on(context, instance, None)
            raise exception.NovaException('it was restarted')

        def restore(guest, *args, **kwargs):
            # What it is if nova-compute was killed: nobody sets it to error.
            guest.move.source.migration.status = status
            return _restore(guest, *args, **kwargs)

        _restore = source_guest.SourceGuest.restore
        for owner, name, new in (
            (host.driver, 'snapshot', restart),
            (source_guest.SourceGuest, 'restore', restore),
            (
                type(host),
                'xcell_power_on',
                lambda _self, ctxt, instance: starts.append(instance.uuid),
            ),
        ):
            self.useFixture(fixtures.MockPatchObject(owner, name, new))
        server = self.resize(server, host='host2')
        self.assertEqual('ACTIVE', server['status'])
        self.assertEqual([], self.wait_for_no_leak(server, upkeep=True))
        return len(starts)

    def test_guest_is_started_for_its_port(self):
        self.assertEqual(1, self.fail_move('openvswitch', 'migrating'))

    def test_guest_that_was_not_off_is_left_alone(self):
        self.assertEqual(0, self.fail_move('openvswitch', 'error'))

    def test_other_drivers_wire_it(self):
        self.assertEqual(0, self.fail_move('ovn', 'migrating'))
