# SPDX-License-Identifier: Apache-2.0
"""What a server keeps when it moves to another cell (XC-06)."""

from oslo_utils.fixture import uuidsentinel as uuids

from nova import objects
from nova.objects import trusted_certs

from tests.embedded import cloud


class TestInstanceCopy(cloud.TwoCellCloud):
    def load(self, context, server):
        return objects.Instance.get_by_uuid(
            context,
            server['id'],
            expected_attrs=[
                'trusted_certs',
                'keypairs',
                'pci_requests',
                'numa_topology',
                'vcpu_model',
                'device_metadata',
                'flavor',
            ],
        )

    def extra_of(self, server, cell):
        with self.context_of(cell) as context:
            instance = self.load(context, server)
            return {
                'certs': instance.trusted_certs.ids,
                'keys': [pair.name for pair in instance.keypairs],
                'devices': instance.device_metadata is not None,
                'requests': instance.pci_requests is not None,
            }

    def test_cold_migration_carries_all_of_it(self):
        """The API loads little for a cold migration; the host copies what is
        loaded and writes the rest as empty."""
        server = self.create_server()
        with self.context_of('cell1') as context:
            instance = self.load(context, server)
            instance.trusted_certs = trusted_certs.TrustedCerts(
                ids=[uuids.cert]
            )
            instance.keypairs = objects.KeyPairList(
                objects=[
                    objects.KeyPair(
                        name='mine',
                        type='ssh',
                        public_key='k',
                        fingerprint='f',
                        user_id='u',
                    )
                ]
            )
            instance.device_metadata = objects.InstanceDeviceMetadata(
                devices=[]
            )
            instance.save()
        before = self.extra_of(server, 'cell1')
        self.assertEqual([uuids.cert], before['certs'])
        self.resize(server, host='host2')
        self.assertEqual(before, self.extra_of(server, 'cell2'))
