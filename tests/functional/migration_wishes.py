# SPDX-License-Identifier: Apache-2.0
"""Base of tests with flavors and images that wish how to be migrated."""

import copy

from oslo_utils.fixture import uuidsentinel as uuids

from nova import objects
from nova import utils
from nova.tests.functional.api import client

from tests.embedded import cloud
from tests.embedded import observe

FLAVOR = 'compute:live_migration_'
IMAGE = 'compute_live_migration_'
POST_COPY = 'COMPUTE_MIGRATE_POST_COPY'
AUTO_CONVERGE = 'COMPUTE_MIGRATE_AUTO_CONVERGE'


class WishesTest(cloud.TwoCellCloud):
    """Two hosts of one cell, of which the first is preferred."""

    HOSTS = {'cell1': ('host1', 'host2')}

    def flavor(self, microversion='2.85', **wishes):
        """Make a flavor.

        :param microversion: of the request; from 2.86 on keys are validated
        :param wishes: what it says, by what is wished
        :returns: its id
        """
        flavor_id = self._create_flavor(
            vcpu=1, memory_mb=512, disk=1, ephemeral=0
        )
        specs = {FLAVOR + name: value for name, value in wishes.items()}
        if specs:
            with utils.temporary_mutation(
                self.admin_api, microversion=microversion
            ):
                self.admin_api.post_extra_spec(
                    flavor_id, {'extra_specs': specs}
                )
        return flavor_id

    def image(self, **wishes):
        """Make an image.

        :param wishes: what it says, by what is wished
        :returns: its id
        """
        image = copy.deepcopy(self.glance.image1)
        image['id'] = getattr(uuids, 'image_%d' % len(self.glance.images))
        image['properties'] = self.properties(wishes)
        return self.glance.create(None, image)['id']

    @staticmethod
    def properties(wishes):
        return {IMAGE + name: value for name, value in wishes.items()}

    def request(self, flavor=None, image=None, **more):
        """Return a request for a server.

        :param flavor: id of the flavor; one without wishes if it is left out
        :param image: id of the image, likewise
        :param more: more keys of the request
        """
        request = self._build_server(
            flavor_id=flavor or self.flavor(),
            image_uuid=self.image() if image is None else image,
            networks='none',
        )
        request.update(more)
        return request

    def volume_request(self, flavor=None, **properties):
        """Return a request for a server that boots from a volume.

        :param flavor: id of the flavor
        :param properties: properties of the image the volume is made of
        """
        volume_id = self.cinder.create_bootable(uuids.image)
        get = self.cinder.fake_get

        def fake_get(context, wanted, microversion=None):
            volume = get(context, wanted, microversion)
            if wanted == volume_id:
                volume['volume_image_metadata'].update(properties)
            return volume

        self.stub_out('nova.volume.cinder.API.get', self._method(fake_get))
        self.cinder.fake_get = fake_get
        return self.request(
            flavor,
            '',
            block_device_mapping_v2=[
                {
                    'boot_index': 0,
                    'uuid': volume_id,
                    'source_type': 'volume',
                    'destination_type': 'volume',
                }
            ],
        )

    @staticmethod
    def _method(function):
        return lambda self_api, *args, **kwargs: function(*args, **kwargs)

    def boot(self, *args, **kwargs):
        """Boot a server and wait until it is ACTIVE; see :meth:`request`."""
        return self.boot_request(self.request(*args, **kwargs))

    def boot_request(self, request):
        server = self.api.post_server({'server': request})
        self.ports[server['id']] = []
        return self.wait_for_status(server, 'ACTIVE')

    def assert_refused(self, *words, status=400, call=None):
        """A request is refused, with a message.

        :param words: what the message says
        :param status: of the answer
        :param call: the request
        """
        error = self.assertRaises(client.OpenStackApiException, call)
        text = error.response.json()
        self.assertEqual(status, error.response.status_code, text)
        for word in words:
            self.assertIn(word, str(text))

    def assert_server_refused(self, request, *words):
        self.assert_refused(
            *words, call=lambda: self.api.post_server({'server': request})
        )
        self.assertEqual([], self.api.get_servers())

    def assert_action_refused(self, server, action, *words):
        """An action is refused, and nothing has changed."""
        before = observe.snapshot(self, server['id'])
        actions = len(self.api.get_instance_actions(server['id']))
        self.assert_refused(
            *words,
            call=lambda: self.api.post_server_action(server['id'], action),
        )
        self.assertEqual(before, observe.snapshot(self, server['id']))
        self.assertEqual(
            actions, len(self.api.get_instance_actions(server['id']))
        )

    def set_system_metadata(self, server, **values):
        """Change what the record of a server has of its image."""
        with self.context_of('cell1') as context:
            instance = objects.Instance.get_by_uuid(
                context, server['id'], expected_attrs=['system_metadata']
            )
            instance.system_metadata.update(
                {'image_' + IMAGE + name: v for name, v in values.items()}
            )
            instance.save()

    def report(self, host, *traits):
        """Let a host report traits, beside what it reports anyway."""
        provider = self._get_provider_uuid_by_host(host)
        self._set_provider_traits(
            provider,
            [
                trait
                for trait in self._get_provider_traits(provider)
                if not trait.startswith('COMPUTE_MIGRATE_')
            ]
            + list(traits),
        )

    def host_of(self, server):
        return self.api.get_server(server['id'])['OS-EXT-SRV-ATTR:host']
