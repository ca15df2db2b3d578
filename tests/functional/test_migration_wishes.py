# SPDX-License-Identifier: Apache-2.0
"""Wishes of flavors and images in nova-api (MF-02, MF-03, MF-06, MF-08)."""

import threading
from unittest import mock

import fixtures

from nova import objects
from nova import utils
from nova.objects import image_meta
from nova.virt import fake

from nova_xcell import loader
from tests.functional import migration_wishes

FLAVOR = migration_wishes.FLAVOR
IMAGE = migration_wishes.IMAGE


class TestExtraSpecs(migration_wishes.WishesTest):
    """What the API of flavors takes."""

    def setUp(self):
        super().setUp()
        self.flavor_id = self.flavor()

    def post(self, specs, microversion='2.86'):
        with utils.temporary_mutation(
            self.admin_api, microversion=microversion
        ):
            self.admin_api.post_extra_spec(
                self.flavor_id, {'extra_specs': specs}
            )

    def put(self, key, value):
        with utils.temporary_mutation(self.admin_api, microversion='2.86'):
            self.admin_api.put_extra_spec(self.flavor_id, key, {key: value})

    def specs(self):
        return self.admin_api.get_extra_specs(self.flavor_id)

    def test_values(self):
        """MF-02: what the host takes for a boolean anywhere."""
        for name in ('auto_converge', 'post_copy'):
            for value in ('true', 'false', 'True', 'no', '1'):
                self.post({FLAVOR + name: value})
                self.assertEqual(value, self.specs()[FLAVOR + name])

    def test_bad_value(self):
        """MF-02: the whole request is refused, and the key is named."""
        for name in ('auto_converge', 'post_copy'):
            for value in ('maybe', '', 'truth', '2'):
                self.assert_refused(
                    FLAVOR + name,
                    "'%s'" % value,
                    call=lambda: self.post(
                        {'hw:cpu_policy': 'shared', FLAVOR + name: value}  # noqa: B023
                    ),
                )
                self.assert_refused(
                    FLAVOR + name,
                    call=lambda: self.put(FLAVOR + name, value),  # noqa: B023
                )
        self.assertEqual({}, self.specs())

    def test_unknown_key(self):
        """MF-02: the keys there are are told."""
        for key in ('postcopy', 'post-copy', 'post_copy2', ''):
            self.assert_refused(
                FLAVOR + key,
                FLAVOR + 'auto_converge',
                FLAVOR + 'post_copy',
                call=lambda: self.post({FLAVOR + key: 'true'}),  # noqa: B023
            )
        self.assertEqual({}, self.specs())

    def test_keys_of_the_operator(self):
        """MF-02: the namespace is a free one, and stays so."""
        specs = {
            'compute:rack': 'any',
            'compute:live': 'x',
            'compute': 'x',
            'computer:live_migration_post_copy': 'maybe',
            FLAVOR + 'post_copy': 'true',
        }
        self.post(specs)
        self.assertEqual(specs, self.specs())

    def test_older_microversion(self):
        """The host validates nothing then; create does, see below."""
        self.post({FLAVOR + 'post_copy': 'maybe'}, '2.85')
        self.assertEqual({FLAVOR + 'post_copy': 'maybe'}, self.specs())
        self.assert_refused(
            call=lambda: self.post({FLAVOR + 'post_copy': 'maybe'})
        )

    def test_feature_switched_off(self):
        """The entry point is there all the same, and does nothing."""
        specs = {FLAVOR + 'post_copy': 'maybe', FLAVOR + 'other': 'x'}
        with fixtures.MockPatchObject(loader, 'armed', return_value=()):
            self.post(specs)
        self.assertEqual(specs, self.specs())
        self.assert_refused(call=lambda: self.post(specs))


class TestConflicts(migration_wishes.WishesTest):
    """MF-06: create, resize and rebuild."""

    #: What flavor and image say, and words of the answer.
    CASES = (
        (
            {'auto_converge': 'true', 'post_copy': 'true'},
            {},
            (
                'flavor extra spec %sauto_converge' % FLAVOR,
                'flavor extra spec %spost_copy' % FLAVOR,
            ),
        ),
        (
            {},
            {'auto_converge': 'true', 'post_copy': 'true'},
            (
                'image property %sauto_converge' % IMAGE,
                'image property %spost_copy' % IMAGE,
            ),
        ),
        (
            {'auto_converge': 'true'},
            {'post_copy': 'yes'},
            (
                'flavor extra spec %sauto_converge' % FLAVOR,
                'image property %spost_copy' % IMAGE,
            ),
        ),
        (
            {'post_copy': 'true'},
            {'post_copy': 'false'},
            (
                '%spost_copy is True' % FLAVOR,
                '%spost_copy is False' % IMAGE,
            ),
        ),
        (
            {'auto_converge': 'false'},
            {'auto_converge': 'true'},
            (
                '%sauto_converge is False' % FLAVOR,
                '%sauto_converge is True' % IMAGE,
            ),
        ),
        (
            {'post_copy': 'maybe'},
            {},
            ("%spost_copy is 'maybe'" % FLAVOR,),
        ),
        (
            {},
            {'post_copy': 'maybe'},
            ("%spost_copy is 'maybe'" % IMAGE,),
        ),
        ({}, {'auto_converge': ''}, ("%sauto_converge is ''" % IMAGE,)),
    )

    def test_create(self):
        for flavor, image, words in self.CASES:
            self.assert_server_refused(
                self.request(self.flavor(**flavor), self.image(**image)),
                *words,
            )

    def test_create_from_volume(self):
        for flavor, image, words in self.CASES:
            self.assert_server_refused(
                self.volume_request(
                    self.flavor(**flavor), **self.properties(image)
                ),
                *words,
            )

    def test_create_without_image(self):
        """The host does not look at the flavor then."""
        request = self.request(
            self.flavor(post_copy='maybe'),
            '',
            block_device_mapping_v2=[
                {
                    'boot_index': 0,
                    'source_type': 'blank',
                    'destination_type': 'volume',
                    'volume_size': 1,
                }
            ],
        )
        self.assert_server_refused(request, "%spost_copy is 'maybe'" % FLAVOR)

    def test_create_what_agrees(self):
        for flavor, image in (
            ({'post_copy': 'true'}, {'post_copy': 'yes'}),
            ({'post_copy': 'false'}, {'auto_converge': 'true'}),
            ({'auto_converge': 'false', 'post_copy': 'false'}, {}),
            ({}, {'auto_converge': 'false', 'post_copy': 'true'}),
        ):
            server = self.boot(self.flavor(**flavor), self.image(**image))
            self.delete(server)

    def assert_resize_refused(self, server):
        for wishes, words in (
            ({'post_copy': 'false'}, '%spost_copy is True' % IMAGE),
            (
                {'auto_converge': 'true'},
                'flavor extra spec %sauto_converge' % FLAVOR,
            ),
            ({'post_copy': 'maybe'}, "%spost_copy is 'maybe'" % FLAVOR),
        ):
            self.assert_action_refused(
                server,
                {'resize': {'flavorRef': self.flavor(**wishes)}},
                words,
            )

    def test_resize(self):
        server = self.boot(image=self.image(post_copy='true'))
        self.assert_resize_refused(server)

    def test_resize_booted_from_volume(self):
        server = self.boot_request(
            self.volume_request(**self.properties({'post_copy': 'true'}))
        )
        self.assert_resize_refused(server)

    def test_resize_without_image(self):
        server = self.boot_request(self.volume_request())
        self.assert_action_refused(
            server,
            {'resize': {'flavorRef': self.flavor(post_copy='maybe')}},
            "%spost_copy is 'maybe'" % FLAVOR,
        )

    def test_migrate_what_was_never_validated(self):
        """MF-11: who keeps the flavor is not asked again."""
        server = self.boot(self.flavor(post_copy='true'))
        self.set_system_metadata(server, post_copy='false')
        self.api.post_server_action(server['id'], {'migrate': None})
        self.wait_for_status(server, 'VERIFY_RESIZE')

    def test_rebuild(self):
        server = self.boot(self.flavor(post_copy='true'))
        for wishes, words in (
            ({'post_copy': 'false'}, '%spost_copy is False' % IMAGE),
            (
                {'auto_converge': 'true'},
                'image property %sauto_converge' % IMAGE,
            ),
            ({'auto_converge': 'maybe'}, "is 'maybe'"),
        ):
            self.assert_action_refused(
                server,
                {'rebuild': {'imageRef': self.image(**wishes)}},
                words,
            )

    def test_rebuild_booted_from_volume(self):
        server = self.boot_request(
            self.volume_request(self.flavor(post_copy='true'))
        )
        self.assert_action_refused(
            server,
            {'rebuild': {'imageRef': self.image(post_copy='false')}},
            '%spost_copy is False' % IMAGE,
        )


class TestImageProperties(migration_wishes.WishesTest):
    """MF-03: the object has them, and who does not know it is not hurt."""

    def spec(self, server):
        return objects.RequestSpec.get_by_instance_uuid(
            self.api_context(), server['id']
        )

    def api_context(self):
        return migration_wishes.cloud.nova_context.get_admin_context()

    def test_are_kept(self):
        server = self.boot(
            image=self.image(auto_converge='No', post_copy='yes')
        )
        properties = self.spec(server).image.properties
        self.assertIs(True, properties.compute_live_migration_post_copy)
        self.assertIs(False, properties.compute_live_migration_auto_converge)
        with self.context_of('cell1') as context:
            instance = objects.Instance.get_by_uuid(
                context, server['id'], expected_attrs=['system_metadata']
            )
            self.assertIs(
                True,
                instance.image_meta.properties.compute_live_migration_post_copy,
            )

    def test_removal(self):
        """What is stored is of use to plain services."""
        server = self.boot(image=self.image(post_copy='true'))
        plain = image_meta.ImageMetaProps
        self.useFixture(
            fixtures.MockPatchObject(objects, 'ImageMetaProps', plain)
        )
        registered = mock.patch.dict(
            objects.base.NovaObjectRegistry.obj_classes(),
            {'ImageMetaProps': [plain]},
        )
        registered.start()
        self.addCleanup(registered.stop)
        spec = self.spec(server)
        self.assertIs(plain, type(spec.image.properties))
        spec.save()
        self._rebuild_server(server, self.image())
        self._live_migrate(server)
        self.delete(server)


class _WaitingDriver(fake.FakeLiveMigrateDriver):
    """Migrates until it is told what to do, however long that takes."""

    def __init__(self, virtapi, read_only=False):
        super().__init__(virtapi, read_only)
        self.told = threading.Event()

    def live_migration(
        self, context, instance, dest, post_method, recover_method, *args, **kw
    ):
        self._abort_migration = False
        self.told.wait(60)
        self.told.clear()
        migrate_data = kw.get('migrate_data') or args[-1]
        if self._abort_migration:
            recover_method(
                context,
                instance,
                dest,
                migrate_data,
                migration_status='cancelled',
            )
        else:
            post_method(context, instance, dest, False, migrate_data)

    def live_migration_force_complete(self, instance):
        super().live_migration_force_complete(instance)
        self.told.set()

    def live_migration_abort(self, instance):
        super().live_migration_abort(instance)
        self.told.set()


class TestAbort(migration_wishes.WishesTest):
    """MF-08: what cannot be aborted is not tried."""

    compute_driver = 'fake.WaitingDriver'

    def setUp(self):
        self.stub_out('nova.virt.fake.WaitingDriver', _WaitingDriver)
        super().setUp()

    def migrate(self, *args, **kwargs):
        """Live-migrate a server; return it and the running migration."""
        server = self.boot(*args, **kwargs)
        self.api.post_server_action(
            server['id'],
            {'os-migrateLive': {'host': None, 'block_migration': 'auto'}},
        )
        self._wait_for_migration_status(server, ['running'])
        (migration,) = self.api.get_active_migrations(server['id'])
        return server, migration

    def abort(self, server, migration_id):
        self.api.delete_migration(server['id'], migration_id)

    def assert_abort_refused(self, server, migration_id, status, *words):
        self.assert_refused(
            *words,
            status=status,
            call=lambda: self.abort(server, migration_id),
        )
        self.assertNotIn(
            'live_migration_cancel',
            [
                action['action']
                for action in self.api.get_instance_actions(server['id'])
            ],
        )

    def set_status(self, migration, status):
        with self.context_of('cell1') as context:
            record = objects.Migration.get_by_uuid(context, migration['uuid'])
            record.status = status
            record.save()

    def finish(self, server, migration):
        self.api.force_complete_migration(server['id'], migration['id'])
        self._wait_for_migration_status(server, ['completed'])
        self.wait_for_rest(server)

    def test_asks_for_post_copy(self):
        """Also before the switch; force-complete works as ever."""
        server, migration = self.migrate(self.flavor(post_copy='true'))
        for migration_id in (migration['id'], migration['uuid']):
            self.assert_abort_refused(
                server, migration_id, 400, 'post-copy', str(migration_id)
            )
        self.set_status(migration, 'running (post-copy)')
        self.assert_abort_refused(
            server, migration['id'], 400, 'running (post-copy)'
        )
        self.set_status(migration, 'running')
        self.finish(server, migration)
        # It is over.
        self.assert_abort_refused(server, migration['id'], 409)

    def test_image_property_of_an_older_server(self):
        """MF-11: the property was there when nothing knew it."""
        server = self.boot()
        self.set_system_metadata(server, post_copy='true')
        self.boot = lambda: server
        server, migration = self.migrate()
        self.assert_abort_refused(server, migration['id'], 400, 'post-copy')
        self.finish(server, migration)

    def test_waiting_in_the_queue(self):
        """It has not begun, so it can be aborted whatever is wished."""
        server, migration = self.migrate(self.flavor(post_copy='true'))
        self.set_status(migration, 'queued')
        self.abort(server, migration['id'])
        self.set_status(migration, 'running')
        self._wait_for_migration_status(server, ['cancelled'])

    def test_rules_post_copy_out(self):
        """By id and by uuid."""
        for key in ('id', 'uuid'):
            server, migration = self.migrate(self.flavor(post_copy='false'))
            self.abort(server, migration[key])
            self._wait_for_migration_status(server, ['cancelled'])
            self.wait_for_rest(server)

    def test_unknown(self):
        server, migration = self.migrate()
        other = self.boot()
        for unknown in (
            migration['id'] + 100,
            'f41a9b2c-0c7d-4e8c-9d7c-2e3f1a5b6c7d',
            '%d1a9b2c-0c7d-4e8c-9d7c-2e3f1a5b6c7d' % (migration['id'] % 10),
        ):
            self.assert_abort_refused(server, unknown, 404, str(unknown))
        with self.context_of('cell1') as context:
            record = objects.Instance.get_by_uuid(context, other['id'])
            record.task_state = 'migrating'
            record.save()
        for key in ('id', 'uuid'):
            self.assert_abort_refused(other, migration[key], 404)
        self.finish(server, migration)
