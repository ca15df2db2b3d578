# SPDX-License-Identifier: Apache-2.0
"""What libvirt is asked for in live migrations, on Nova's fake libvirt."""

import json
import threading
import time
import types

import ddt
import fixtures

from nova import context as nova_context
from nova import objects
import nova.conf
from nova.tests.fixtures import libvirt as fakelibvirt
from nova.tests.functional.libvirt import base
from nova.virt.libvirt import driver as libvirt_driver
from nova.virt.libvirt import migration as libvirt_migrate

CONF = nova.conf.CONF

CONVERGE = fakelibvirt.VIR_MIGRATE_AUTO_CONVERGE
SWITCH = fakelibvirt.VIR_MIGRATE_POSTCOPY
# Not in the fake libvirt of older releases.
PARALLEL = 1 << 17

#: Seconds until a test gives up.
LIMIT = 30

PCI_DEVICE = """
<hostdev mode='subsystem' type='pci' managed='yes'>
  <source><address domain='0x0000' bus='0x81' slot='0x00' function='0x1'/>
  </source>
</hostdev>"""


class Clock:
    """Takes the place of the driver's module ``time``."""

    def __init__(self):
        self.ahead = 0

    def time(self):
        return time.time() + self.ahead

    def sleep(self, seconds):
        time.sleep(seconds / 20)


class Watched:
    """What the fake libvirt is told of one migration."""

    def __init__(self, domain, params, flags):
        self.domain = domain
        self.params = params
        self.flags = flags

    @property
    def features(self):
        return self.flags & (CONVERGE | SWITCH | PARALLEL)


class MigrationBase(base.ServersTestBase):
    ADMIN_API = True
    microversion = 'latest'

    #: Whether migrations wait to be completed by the test.
    held = False

    def setUp(self):
        super().setUp()
        self.clock = Clock()
        self.migrations = {}
        self.started = {}
        self.pauses = []
        self.switches = []
        self.paused = threading.Event()
        for name, replacement in (
            ('nova.virt.libvirt.driver.time', self.clock),
            (
                'nova.tests.fixtures.libvirt.Domain.migrateToURI3',
                self._migrate,
            ),
            (
                'nova.tests.fixtures.libvirt.Domain.migrateStartPostCopy',
                lambda domain: self.switches.append(domain.UUIDString()),
            ),
        ):
            self.useFixture(fixtures.MonkeyPatch(name, replacement))
        suspend = fakelibvirt.Domain.suspend

        def pause(domain):
            self.pauses.append(domain.UUIDString())
            suspend(domain)
            self.paused.set()

        self.useFixture(
            fixtures.MonkeyPatch(
                'nova.tests.fixtures.libvirt.Domain.suspend', pause
            )
        )

    def start(self, auto_converge=False, post_copy=False, **kwargs):
        """Start two hosts with a configuration of their own."""
        self.flags(
            live_migration_permit_auto_converge=auto_converge,
            live_migration_permit_post_copy=post_copy,
            group='libvirt',
        )
        self.src = self.computes[self.start_compute('src', **kwargs)]
        self.dest = self.computes[self.start_compute('dest', **kwargs)]

    def _migrate(self, domain, destination, params, flags):
        uuid = domain.UUIDString()
        self.migrations[uuid] = Watched(domain, params, flags)
        self.dest.driver._host.get_connection().createXML(
            params['destination_xml'], 'flags'
        )
        if self.held:
            domain._job_type = fakelibvirt.VIR_DOMAIN_JOB_UNBOUNDED
        else:
            domain.complete_job()
        self.started.setdefault(uuid, threading.Event()).set()

    def create(self, flavor=None, image=None):
        """Create a server whose flavor and image say something."""
        extra_specs = {
            'compute:live_migration_%s' % name: value
            for name, value in (flavor or {}).items()
        }
        kwargs = {}
        if image:
            kwargs['image_uuid'] = self.glance.create(
                nova_context.get_admin_context(),
                {
                    'name': 'wishes',
                    'container_format': 'raw',
                    'disk_format': 'raw',
                    'min_disk': 0,
                    'min_ram': 0,
                    'status': 'active',
                    'properties': {
                        'compute_live_migration_%s' % name: value
                        for name, value in image.items()
                    },
                },
            )['id']
        return self._create_server(
            flavor_id=self._create_flavor(
                memory_mb=512,
                vcpu=1,
                disk=1,
                ephemeral=0,
                extra_spec=extra_specs,
            ),
            host='src',
            networks='none',
            **kwargs,
        )

    def migrate(self, server, state='ACTIVE'):
        """Migrate a server and return what libvirt was asked for."""
        self._live_migrate(server, server_expected_state=state)
        return self.migrations[server['id']]

    def begin(self, server):
        """Start a migration that runs until it is completed."""
        started = self.started.setdefault(server['id'], threading.Event())
        self.api.post_server_action(
            server['id'],
            {'os-migrateLive': {'host': None, 'block_migration': 'auto'}},
        )
        self.assertTrue(started.wait(LIMIT))
        return self.migrations[server['id']]

    def end(self, server):
        self.migrations[server['id']].domain.complete_job()
        self._wait_for_migration_status(server, ['completed'])
        return self._wait_for_state_change(server, 'ACTIVE')

    def force(self, server):
        migration = self.record(server)
        self.api.api_post(
            '/servers/%s/migrations/%s/action'
            % (server['id'], migration['id']),
            {'force_complete': None},
            check_response_status=[202],
        )

    def record(self, server):
        return self.api.api_get(
            '/os-migrations?instance_uuid=%s' % server['id']
        ).body['migrations'][0]

    def history(self, server, name):
        """Return the details of events of the live migration."""
        actions = self.api.get_instance_actions(server['id'])
        (request,) = (
            action['request_id']
            for action in actions
            if action['action'] == 'live-migration'
        )
        events = self.api.api_get(
            '/servers/%s/os-instance-actions/%s' % (server['id'], request)
        ).body['instanceAction']['events']
        return [
            json.loads(event['details'])
            for event in sorted(events, key=lambda event: event['start_time'])
            if event['event'] == name
        ]


@ddt.ddt
class TestFlags(MigrationBase):
    @ddt.data((False, False), (False, True), (True, False), (True, True))
    @ddt.unpack
    def test_configuration_and_wishes(self, auto_converge, post_copy):
        """MF-05, MF-11"""
        self.start(auto_converge, post_copy)
        before = self.src.driver._live_migration_flags
        configured = SWITCH if post_copy else CONVERGE if auto_converge else 0
        for flavor, image, expected in (
            (None, None, configured),
            ({'auto_converge': 'true'}, None, CONVERGE),
            (None, {'post_copy': 'true'}, SWITCH),
            (
                {'auto_converge': 'false'},
                {'post_copy': 'false'},
                0,
            ),
            (
                None,
                {'post_copy': 'false'},
                CONVERGE if auto_converge else 0,
            ),
        ):
            with self.subTest(flavor=flavor, image=image):
                server = self.create(flavor, image)
                self.assertEqual(expected, self.migrate(server).features)
                self._delete_server(server)
        # The host's own are those of its configuration.
        self.assertEqual(before, self.src.driver._live_migration_flags)
        self.assertEqual(configured, before & (CONVERGE | SWITCH))

    def test_trait_whatever_the_configuration(self):
        """MF-01"""
        self.start()
        for uuid in self.compute_rp_uuids.values():
            self.assertLessEqual(
                {'COMPUTE_MIGRATE_AUTO_CONVERGE', 'COMPUTE_MIGRATE_POST_COPY'},
                set(self._get_provider_traits(uuid)),
            )

    def test_changed_after_boot(self):
        """As nova-manage image_property set does it (MF-11)."""
        self.start()
        server = self.create(image={'post_copy': 'false'})
        self._set_property(server, 'post_copy', 'true')
        self.assertEqual(SWITCH, self.migrate(server).features)

    def test_conflict_that_was_never_validated(self):
        """The flavor goes before the image (MF-11)."""
        self.start(post_copy=True)
        server = self.create(flavor={'post_copy': 'false'})
        self._set_property(server, 'post_copy', 'true')
        self._set_property(server, 'auto_converge', 'maybe')
        self.assertEqual(0, self.migrate(server).features)

    def _set_property(self, server, name, value):
        instance = self.instance(server)
        instance.system_metadata['image_compute_live_migration_%s' % name] = (
            value
        )
        instance.save()

    def instance(self, server):
        return objects.Instance.get_by_uuid(
            nova_context.get_admin_context(),
            server['id'],
            expected_attrs=['system_metadata'],
        )

    def test_what_was_used_can_be_read(self):
        """MF-12"""
        self.start(post_copy=True)
        server = self.create({'auto_converge': 'true'})
        self.migrate(server)
        self.assertEqual(
            [
                {
                    'xcell_migration': self.record(server)['uuid'],
                    'auto_converge': True,
                    'auto_converge_reason': 'asked for by the flavor or image',
                    'post_copy': False,
                    'post_copy_reason': 'auto-converge is asked for',
                    'parallel': False,
                    'parallel_reason': 'not configured',
                }
            ],
            self.history(server, 'xcell_live_migration_flags'),
        )
        self.assertIn(
            'auto-converge on (asked for by the flavor or image), '
            'post-copy off (auto-converge is asked for)',
            self.stdlog.logger.output,
        )

    def test_history_cannot_be_written(self):
        """It is no reason to give up a migration (MF-12)."""
        self.start()
        server = self.create({'post_copy': 'true'})

        def fail(*args, **kwargs):
            raise OSError('no database')

        self.stub_out('nova.objects.InstanceActionEvent.create', fail)
        self.assertEqual(SWITCH, self.migrate(server).features)
        self.assertIn('no database', self.stdlog.logger.output)


class TestGuests(MigrationBase):
    """Guests that cannot be switched to post-copy (MF-09)."""

    def setUp(self):
        super().setUp()
        self.start(auto_converge=True, post_copy=True)

    def test_device_of_the_host(self):
        for flavor in ({}, {'post_copy': 'true'}):
            server = self.create(flavor)
            self.src.driver._host.get_connection().lookupByUUIDString(
                server['id']
            ).attachDevice(PCI_DEVICE.strip())
            self.assertEqual(CONVERGE, self.migrate(server).features)
            self._delete_server(server)

    def test_paused(self):
        server = self.create()
        self.api.post_server_action(server['id'], {'pause': None})
        self._wait_for_state_change(server, 'PAUSED')
        self.assertEqual(CONVERGE, self.migrate(server, 'PAUSED').features)

    def test_persistent_memory(self):
        server = self.create({'post_copy': 'true'})
        self.stub_out(
            'nova.virt.libvirt.driver.LibvirtDriver._get_vpmems',
            lambda driver, instance, prefix=None: [types.SimpleNamespace()],
        )
        self.assertEqual(CONVERGE, self.migrate(server).features)


class TestParallel(MigrationBase):
    """Several connections with an old QEMU (MF-09)."""

    def setUp(self):
        super().setUp()
        if 'live_migration_parallel_connections' not in CONF.libvirt:
            self.skipTest('this release of Nova has one connection only')
        self.flags(live_migration_parallel_connections=4, group='libvirt')

    def asked_for(self, flavor):
        watched = self.migrate(self.create(flavor))
        return (
            watched.features,
            watched.params.get('parallel.connections'),
        )

    def test_old(self):
        self.start()
        self.assertEqual((PARALLEL, 4), self.asked_for({}))
        # libvirt refuses a number of connections without the flag.
        self.assertEqual((SWITCH, None), self.asked_for({'post_copy': 'true'}))
        self.assertEqual(
            (PARALLEL | CONVERGE, 4),
            self.asked_for({'auto_converge': 'true'}),
        )

    def test_new(self):
        self.start(qemu_version=10001000)
        self.assertEqual(
            (PARALLEL | SWITCH, 4), self.asked_for({'post_copy': 'true'})
        )


class TestConcurrency(MigrationBase):
    held = True

    def test_each_its_own(self):
        """MF-07, MF-10"""
        self.flags(max_concurrent_live_migrations=3)
        self.start()
        servers = {
            features: self.create(flavor)
            for features, flavor in (
                (SWITCH, {'post_copy': 'true'}),
                (CONVERGE, {'auto_converge': 'true'}),
                (0, {}),
            )
        }
        for features, server in servers.items():
            self.assertEqual(features, self.begin(server).features)
        # The monitors know, too.
        for server in servers.values():
            self.force(server)
        for features, server in servers.items():
            if features == SWITCH:
                self._wait_for_migration_status(
                    server, ['running (post-copy)']
                )
            else:
                self._wait_until_paused(server)
        self.assertEqual([servers[SWITCH]['id']], self.switches)
        self.assertNotIn(servers[SWITCH]['id'], self.pauses)
        for server in servers.values():
            self.end(server)

    def _wait_until_paused(self, server):
        while server['id'] not in self.pauses:
            self.assertTrue(self.paused.wait(LIMIT))
            self.paused.clear()


class TestForced(MigrationBase):
    held = True

    def setUp(self):
        super().setUp()
        self.polls = 0
        self.polled = threading.Condition()
        stats = fakelibvirt.Domain.jobStats

        def count(domain, flags=0):
            with self.polled:
                self.polls += 1
                self.polled.notify_all()
            return stats(domain, flags)

        self.useFixture(
            fixtures.MonkeyPatch(
                'nova.tests.fixtures.libvirt.Domain.jobStats', count
            )
        )

    def let_it_poll(self, times=5):
        """Let the host look at the migration some more times."""
        with self.polled:
            goal = self.polls + times
            self.assertTrue(
                self.polled.wait_for(lambda: self.polls >= goal, LIMIT)
            )

    def let_time_pass(self):
        """Let the host find that the migration has taken very long."""
        # It has to know when the migration began.
        self.let_it_poll(1)
        self.clock.ahead = 100000

    def ways(self, server):
        return [
            (record['forced'], record['forced_reason'])
            for record in self.history(server, 'xcell_live_migration_forced')
        ]

    def refuse_switch(self):
        def fail(domain):
            self.switches.append(domain.UUIDString())
            raise fakelibvirt.make_libvirtError(
                fakelibvirt.libvirtError, 'it is not in the mood'
            )

        self.useFixture(
            fixtures.MonkeyPatch(
                'nova.tests.fixtures.libvirt.Domain.migrateStartPostCopy',
                fail,
            )
        )

    def test_server_that_does_not_want_it(self):
        """MF-07"""
        self.start(post_copy=True)
        server = self.create({'post_copy': 'false'})
        self.begin(server)
        self.force(server)
        self.assertTrue(self.paused.wait(LIMIT))
        self.end(server)
        self.assertEqual([], self.switches)
        self.assertEqual(
            [('paused', 'post-copy ruled out by the flavor or image')],
            self.ways(server),
        )

    def test_server_that_wants_it(self):
        """MF-07"""
        self.start()
        server = self.create({'post_copy': 'true'})
        self.begin(server)
        self.force(server)
        self._wait_for_migration_status(server, ['running (post-copy)'])
        self.end(server)
        self.assertEqual([], self.pauses)
        self.assertEqual(
            [('post-copy', 'post-copy asked for by the flavor or image')],
            self.ways(server),
        )

    def test_switch_fails(self):
        """The guest is paused, and that can be seen (MF-07)."""
        self.refuse_switch()
        self.start()
        server = self.create({'post_copy': 'true'})
        self.begin(server)
        self.force(server)
        self.assertTrue(self.paused.wait(LIMIT))
        # Once more changes nothing.
        self.force(server)
        self.let_it_poll()
        self.end(server)
        self.assertEqual(1, len(self.switches))
        self.assertEqual(1, len(self.pauses))
        self.assertEqual(
            [('paused', 'libvirt did not switch it to post-copy')],
            self.ways(server),
        )

    def test_migration_fails_after_pause(self):
        """The guest runs again, as on a plain host."""
        self.refuse_switch()
        self.start(post_copy=True)
        server = self.create()
        domain = self.begin(server).domain
        self.force(server)
        self.assertTrue(self.paused.wait(LIMIT))
        domain.fail_job()
        self._wait_for_migration_status(server, ['failed'])
        self.assertEqual(fakelibvirt.VIR_DOMAIN_RUNNING, domain._state)

    def test_paused_by_its_user_stays_paused(self):
        """MF-09"""
        self.flags(
            live_migration_timeout_action='force_complete', group='libvirt'
        )
        self.start()
        server = self.create()
        self.api.post_server_action(server['id'], {'pause': None})
        self._wait_for_state_change(server, 'PAUSED')
        domain = self.begin(server).domain
        self.paused.clear()
        self.let_time_pass()
        self.assertTrue(self.paused.wait(LIMIT))
        self.let_it_poll()
        domain.fail_job()
        self._wait_for_migration_status(server, ['failed'])
        self.assertEqual(fakelibvirt.VIR_DOMAIN_PAUSED, domain._state)

    def test_timeout_pauses_once(self):
        """MF-07"""
        self.flags(
            live_migration_timeout_action='force_complete', group='libvirt'
        )
        self.start(post_copy=True)
        server = self.create({'post_copy': 'false'})
        self.begin(server)
        self.let_time_pass()
        self.assertTrue(self.paused.wait(LIMIT))
        self.let_it_poll()
        self.end(server)
        self.assertEqual([server['id']], self.pauses)
        self.assertEqual(1, len(self.ways(server)))

    def test_timeout_is_acted_on_again_if_nothing_helped(self):
        """A host that cannot pause the guest tries again."""
        self.flags(
            live_migration_timeout_action='force_complete', group='libvirt'
        )
        tries = []
        enough = threading.Event()

        def fail(domain):
            tries.append(domain)
            if len(tries) >= 3:
                enough.set()
            raise fakelibvirt.make_libvirtError(
                fakelibvirt.libvirtError, 'busy'
            )

        self.useFixture(
            fixtures.MonkeyPatch(
                'nova.tests.fixtures.libvirt.Domain.suspend', fail
            )
        )
        self.start()
        server = self.create()
        self.begin(server)
        self.let_time_pass()
        self.assertTrue(enough.wait(LIMIT))
        self.end(server)
        self.assertEqual(
            [
                (
                    'nothing',
                    "post-copy not permitted by the host's configuration",
                )
            ],
            self.ways(server),
        )

    def test_timeout_aborts_once(self):
        """MF-07"""
        aborts = []
        self.useFixture(
            fixtures.MonkeyPatch(
                'nova.tests.fixtures.libvirt.Domain.abortJob',
                lambda domain: aborts.append(domain),
            )
        )
        self.start()
        server = self.create()
        domain = self.begin(server).domain
        self.let_time_pass()
        self.let_it_poll()
        domain._job_type = fakelibvirt.VIR_DOMAIN_JOB_CANCELLED
        self._wait_for_migration_status(server, ['cancelled'])
        self.assertEqual(1, len(aborts))


class TestHostUntouched(base.ServersTestBase):
    def test_host_functions_outside_of_a_migration(self):
        """Without a migration that is known the host's answer stands."""
        self.start_compute()
        self.assertTrue(
            libvirt_migrate.should_trigger_timeout_action(
                types.SimpleNamespace(uuid='x'), 10, 5, 'running'
            )
        )
        driver = self.computes['compute1'].driver
        self.assertIsInstance(driver, libvirt_driver.LibvirtDriver)
        self.assertEqual(
            driver._live_migration_flags, driver._get_migration_flags(False)
        )
