# SPDX-License-Identifier: Apache-2.0
"""How the conductor calls hosts and services, with the host's own clients."""

import contextlib
import unittest
from unittest import mock

# Decides on monkey patching, so nothing of the host may come before it.
import nova.tests.functional  # isort: skip

from keystoneauth1 import loading
from oslo_config import fixture as config_fixture
from oslo_messaging import conffixture

from nova import context as nova_context
from nova import objects
from nova.compute import rpcapi
import nova.conf

from nova_xcell import conf as xcell_conf
from nova_xcell.tasks import image_auth
from nova_xcell.tasks import remote
from nova_xcell.tasks import timeouts

CONF = nova.conf.CONF


class _Calls(unittest.TestCase):
    def setUp(self):
        super().setUp()
        objects.register_all()
        self.config = config_fixture.Config(CONF)
        for fixture in (self.config, conffixture.ConfFixture(CONF)):
            fixture.setUp()
            self.addCleanup(fixture.cleanUp)
        xcell_conf.register_opts(CONF)
        # An admin's looks at the policy files.
        self.context = nova_context.RequestContext(is_admin=True)


class TestTimeouts(_Calls):
    """XC-16: each step has its own time-out."""

    def call(self, operation, snapshot=None):
        """Return the time-out that the host's client asks for."""
        client = mock.Mock()
        client.can_send_version.return_value = True
        router = mock.Mock()
        router.client.return_value = client
        instance = objects.Instance(
            uuid='a8b1f5a4-0000-4000-8000-000000000001',
            flavor=objects.Flavor(root_gb=20),
            host='host1',
            system_metadata={},
        )
        migration = objects.Migration(
            uuid='a8b1f5a4-0000-4000-8000-000000000002',
            source_compute='host1',
            dest_compute='host2',
        )
        arguments = {
            'prep_snapshot_based_resize_at_dest': (
                None, 'node', migration, None, None, 'host2',
            ),
            'prep_snapshot_based_resize_at_source': (migration, snapshot),
            'finish_snapshot_based_resize_at_dest': (
                migration, snapshot, None,
            ),
        }.get(operation, (migration,))  # fmt: skip
        with contextlib.ExitStack() as stack:
            for target in (
                mock.patch.object(rpcapi.ComputeAPI, 'router', router),
                mock.patch.object(remote, 'is_up', return_value=True),
            ):
                stack.enter_context(target)
            api = remote.ComputeAPI()
            getattr(api, operation)(self.context, instance, *arguments)
            self.assertIs(router, api.router)
        (call,) = client.prepare.call_args_list
        return call.kwargs['timeout']

    def test_default(self):
        self.config.config(long_rpc_timeout=1234)
        for operation in timeouts.OPTIONS:
            with self.subTest(operation):
                self.assertEqual(1234, self.call(operation, 'image'))

    def test_own(self):
        for seconds, operation in enumerate(timeouts.OPTIONS, 7):
            with self.subTest(operation):
                option = timeouts.OPTIONS[operation]
                self.config.config(group='xcell', **{option: seconds})
                self.assertEqual(seconds, self.call(operation))

    def test_with_the_disk(self):
        self.config.config(long_rpc_timeout=100)
        self.config.config(group='xcell', timeout_per_gb=3)
        copying = {
            'prep_snapshot_based_resize_at_source',
            'finish_snapshot_based_resize_at_dest',
        }
        for operation in timeouts.OPTIONS:
            with self.subTest(operation):
                self.assertEqual(
                    160 if operation in copying else 100,
                    self.call(operation, 'image'),
                )
                # A root disk that is a volume stays where it is.
                self.assertEqual(100, self.call(operation))


class TestImageAuth(_Calls):
    """XC-27: periodic work has no token."""

    def configure(self, **options):
        loading.register_auth_conf_options(CONF, 'service_user')
        options.setdefault('auth_type', 'password')
        self.config.register_opts(
            loading.get_auth_plugin_conf_options('password'),
            group='service_user',
        )
        self.config.config(group='service_user', **options)

    def test_as_the_service(self):
        self.configure(username='nova', auth_url='http://keystone.example')
        found = image_auth.authenticated(self.context)
        self.assertIsNot(self.context, found)
        self.assertIsNone(self.context.user_auth_plugin)
        self.assertIs(found.user_auth_plugin, found.get_auth_plugin())
        self.assertEqual(
            'http://keystone.example', found.user_auth_plugin.auth_url
        )

    def test_nothing_is_configured(self):
        self.assertIs(self.context, image_auth.authenticated(self.context))

    def test_a_user_asks(self):
        self.configure(username='nova', auth_url='http://keystone.example')
        context = nova_context.RequestContext(
            'user', auth_token='token', is_admin=False
        )
        self.assertIs(context, image_auth.authenticated(context))
