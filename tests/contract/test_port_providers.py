# SPDX-License-Identifier: Apache-2.0
"""Which providers the bindings of ports name (XC-24)."""

import unittest

from nova_xcell.compute import port_providers


def port(name, host, **profile):
    return {'id': name, 'binding:host_id': host, 'binding:profile': profile}


class TestMappings(unittest.TestCase):
    def test_one_group(self):
        self.assertEqual(
            {'port': ['bridge']},
            port_providers.mappings(
                [port('port', 'host', allocation='bridge')], 'host'
            ),
        )

    def test_several_groups(self):
        self.assertEqual(
            {'bandwidth': ['bridge'], 'packets': ['agent']},
            port_providers.mappings(
                [
                    port(
                        'port',
                        'host',
                        allocation={
                            'bandwidth': 'bridge',
                            'packets': 'agent',
                        },
                    )
                ],
                'host',
            ),
        )

    def test_what_does_not_count(self):
        """Bindings to other hosts, and ports that ask for nothing."""
        self.assertEqual(
            {},
            port_providers.mappings(
                [
                    port('elsewhere', 'other', allocation='bridge'),
                    port('plain', 'host', pci_slot='0000:03:00.1'),
                    {'id': 'unbound'},
                ],
                'host',
            ),
        )
