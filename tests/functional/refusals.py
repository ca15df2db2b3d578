# SPDX-License-Identifier: Apache-2.0
"""Base of tests with servers that cannot move to another cell."""

import base64
import inspect

import fixtures
from oslo_utils.fixture import uuidsentinel as uuids

from nova import objects
from nova import utils
from nova.objects import share_mapping
from nova.tests.functional.api import client

from nova_xcell.api import compute_api
from tests.embedded import observe
from tests.functional import dest_hosts

CROSS_CELL = 'compute:servers:resize:cross_cell'


class RefusalTest(dest_hosts.DestHostsTest):
    """Servers with one thing each that is in the way."""

    def boot_flavor(self, microversion='latest', ephemeral=0, **server):
        """Boot a server from an image with a flavor of its own.

        :param microversion: of the request
        :param ephemeral: ephemeral disk of the flavor
        :param server: more keys of the request; disk and swap are the flavor's
        """
        self.flavor = self._create_flavor(
            vcpu=1,
            memory_mb=512,
            disk=server.pop('disk', 1),
            swap=server.pop('swap', 0),
            ephemeral=ephemeral,
        )
        request = self._build_server(flavor_id=self.flavor, networks='none')
        request.update(server)
        with utils.temporary_mutation(self.api, microversion=microversion):
            created = self.api.post_server({'server': request})
        self.server = self.wait_for_status(created, 'ACTIVE')
        self.ports[self.server['id']] = []
        return self.look()

    def look(self):
        """Take the picture that a refused server is compared with."""
        self.before = observe.snapshot(self, self.server['id'])
        return self.server

    def boot_with_property(self, **properties):
        """Boot a server whose image has had some properties."""
        self.boot_flavor()
        self.set_system_metadata(
            **{'image_' + name: value for name, value in properties.items()}
        )
        return self.server

    def set_system_metadata(self, **values):
        with self.context_of('cell1') as context:
            instance = objects.Instance.get_by_uuid(
                context, self.server['id'], expected_attrs=['system_metadata']
            )
            instance.system_metadata.update(values)
            instance.save()

    def boot_with_share(self):
        self.boot_flavor()
        self._stop_server(self.server)
        with self.context_of('cell1') as context:
            mapping = share_mapping.ShareMapping(context)
            mapping.uuid = uuids.share_mapping
            mapping.instance_uuid = self.server['id']
            mapping.share_id = uuids.share
            mapping.status = 'inactive'
            mapping.tag = 'share'
            mapping.export_location = '192.0.2.1:/share'
            mapping.share_proto = 'NFS'
            mapping.create()
        return self.look()

    def boot_with_personality(self):
        return self.boot_flavor(
            microversion='2.56',
            config_drive=True,
            personality=[
                {
                    'path': '/etc/motd',
                    'contents': base64.b64encode(b'hello').decode(),
                }
            ],
        )

    def permit(self, rule, check='@'):
        self.policy.set_rules({rule: check}, overwrite=False)

    def migrate_and_fail(self, host='host2'):
        """Name a host of the other cell, and return what the API says."""
        error = self.assertRaises(
            client.OpenStackApiException,
            self.api.post_server_action,
            self.server['id'],
            {'migrate': {'host': host}},
        )
        return error

    def events(self):
        """Return the events of the last action, by name."""
        action = self.api.get_instance_actions(self.server['id'])[0]
        answer = self.admin_api.api_get(
            '/servers/%s/os-instance-actions/%s'
            % (self.server['id'], action['request_id'])
        )
        return {
            event['event']: event
            for event in answer.body['instanceAction']['events']
        }


class PlainApiTest(RefusalTest):
    """nova-api does not carry the plug-ins, nova-conductor does."""

    def setUp(self):
        ours, host = compute_api.API, compute_api.API.__mro__[1]
        for name in vars(ours):
            if hasattr(host, name) and not name.startswith('__'):
                self.useFixture(
                    fixtures.MockPatchObject(
                        ours, name, inspect.getattr_static(host, name)
                    )
                )
        super().setUp()
