# SPDX-License-Identifier: Apache-2.0
"""The table of seams against the installed host."""

import ast
import inspect
import textwrap
import unittest

# Decides on monkey patching, so nothing of the host may come before it.
import nova.tests.functional  # noqa: F401  isort: skip

from nova.compute import api as host_api
from nova.compute import migration_list as host_list
from nova.compute import resource_tracker as host_tracker
from nova.compute import stats as host_stats
from nova.conductor import manager as host_conductor
from nova.conductor.tasks import cross_cell_migrate as host_tasks
from nova.conductor.tasks import migrate
from nova.objects import image_meta as host_image_meta
from nova.policies import servers as host_policies
from nova.scheduler import manager as host_scheduler
from nova.scheduler import request_filter as host_filter
from nova.scheduler.weights import cross_cell as host_weigher
from nova.virt.libvirt import driver as host_driver

from nova_xcell import features
from nova_xcell import releases
from nova_xcell import seams
from nova_xcell.api import compute_api
from nova_xcell.api import migration_wishes
from nova_xcell.live import compute_api as live_compute_api
from nova_xcell.live import task_manager as live_task_manager
from nova_xcell.policies import cross_cell as policies
from nova_xcell.rebuild import compute_api as rebuild_compute_api
from nova_xcell.rebuild import task_manager as rebuild_task_manager
from nova_xcell.scheduler import manager as our_scheduler
from nova_xcell.scheduler import migration_traits
from nova_xcell.tasks import cross_cell_migrate
from nova_xcell.tasks import instance_copy
from nova_xcell.tasks import old_peers
from nova_xcell.tasks import swap
from nova_xcell.tasks import task_manager
from nova_xcell.views import host_api as our_host_api
from nova_xcell.views import migration_list
from nova_xcell.views import stats
from nova_xcell.virt import flags_driver
from nova_xcell.virt import libvirt_driver
from nova_xcell.virt import live_migration as live_driver
from nova_xcell.virt import reshaping_driver
from nova_xcell.weighers import cross_cell


class TestTable(unittest.TestCase):
    def test_every_seam_is_as_expected(self):
        self.assertEqual(
            {},
            seams.check_all(
                seams.for_features(
                    features.FEATURES, releases.installed('nova')
                )
            ),
        )

    def test_every_seam_of_placement_is_as_expected(self):
        table = seams.for_features(
            features.FEATURES, releases.installed('placement'), 'placement'
        )
        self.assertTrue(table)
        self.assertEqual({}, seams.check_all(table))

    def test_host_is_supported(self):
        self.assertIn(
            releases.installed('nova'), releases.SUPPORTED['nova'][1]
        )
        self.assertIn(
            releases.installed('placement'), releases.SUPPORTED['placement'][1]
        )

    def test_rows_are_complete(self):
        for seam in seams.SEAMS:
            with self.subTest(seam.path):
                is_exchanged = seam.kind in (seams.REPLACED, seams.EXTENDED)
                self.assertEqual(is_exchanged, seam.plugin is not None)
                self.assertTrue(seam.services)
                if not is_exchanged:
                    self.assertIsNotNone(seam.signature)

    def test_replaced_classes_do_not_name_themselves_in_super(self):
        """One that does would find our subclass, and recurse for ever."""
        for owner in (
            host_weigher.CrossCellWeigher,
            host_api.API,
            host_scheduler.SchedulerManager,
            host_conductor.ComputeTaskManager,
            host_tracker.ResourceTracker,
        ):
            self.assertNotIn(
                'super(%s,' % owner.__name__, inspect.getsource(owner)
            )


class TestOverrides(unittest.TestCase):
    """All that a subclass of ours overrides stands in the table."""

    def overridden(self, ours, host):
        for name, value in vars(ours).items():
            if (
                (inspect.isfunction(value) or isinstance(value, classmethod))
                and name != '__init__'
                and hasattr(host, name)
            ):
                yield name

    def test_in_the_table(self):
        from nova.compute import manager as host_manager

        from nova_xcell.compute import manager
        from nova_xcell.compute import reshapes
        from nova_xcell.rebuild import compute_manager as rebuild_manager

        listed = {
            (seam.module, seam.attribute)
            for seam in seams.SEAMS
            if seam.kind == seams.OVERRIDDEN
        }
        for ours, host in (
            (
                cross_cell_migrate.CrossCellMigrationTask,
                host_tasks.CrossCellMigrationTask,
            ),
            (
                cross_cell_migrate.RevertResizeTask,
                host_tasks.RevertResizeTask,
            ),
            (
                instance_copy.TargetDBSetupTask,
                host_tasks.TargetDBSetupTask,
            ),
            (cross_cell.CrossCellWeigher, host_weigher.CrossCellWeigher),
            (libvirt_driver.LibvirtDriver, host_driver.LibvirtDriver),
            (flags_driver.LibvirtDriver, host_driver.LibvirtDriver),
            (live_driver.LiveMigrations, host_driver.LibvirtDriver),
            (reshaping_driver.Reshapes, host_driver.LibvirtDriver),
            (reshapes.Reshapes, host_tracker.ResourceTracker),
            (live_compute_api.LiveMigrations, host_api.API),
            (
                live_task_manager.LiveMigrations,
                host_conductor.ComputeTaskManager,
            ),
            (manager.ComputeManager, host_manager.ComputeManager),
            (rebuild_manager.Rebuilds, host_manager.ComputeManager),
            (rebuild_compute_api.Rebuilds, host_api.API),
            (
                rebuild_task_manager.Rebuilds,
                host_conductor.ComputeTaskManager,
            ),
            (swap.RevertResizeTask, host_tasks.RevertResizeTask),
            (compute_api.API, host_api.API),
            (migration_wishes.MigrationWishes, host_api.API),
            (our_scheduler.WishedTraits, host_scheduler.SchedulerManager),
            (our_host_api.HostAPI, host_api.HostAPI),
            (migration_list.MigrationLister, host_list.MigrationLister),
            (stats.Stats, host_stats.Stats),
            (
                task_manager.ComputeTaskManager,
                host_conductor.ComputeTaskManager,
            ),
        ):
            for name in self.overridden(ours, host):
                with self.subTest(name):
                    self.assertIn(
                        (host.__module__, '%s.%s' % (host.__name__, name)),
                        listed,
                    )
                    self.assertEqual(
                        seams.spell_signature(getattr(host, name)),
                        seams.spell_signature(getattr(ours, name)),
                    )

    def test_host_driver_has_no_such_method_yet(self):
        self.assertFalse(
            hasattr(host_driver.LibvirtDriver, 'can_connect_volume')
        )


class TestReshapes(unittest.TestCase):
    def test_request_without_providers_is_refused(self):
        """RP-05: then those that do not change are sent."""
        from placement.schemas import reshaper

        self.assertEqual(
            1,
            reshaper.POST_RESHAPER_SCHEMA['properties']['inventories'][
                'minProperties'
            ],
        )


class TestTasksModule(unittest.TestCase):
    def looked_up(self, module):
        return {
            node.attr
            for node in ast.walk(ast.parse(inspect.getsource(module)))
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == 'cross_cell_migrate'
        }

    def test_has_all_that_the_host_looks_up_in_it(self):
        for module, expected in (
            (migrate, {'CrossCellMigrationTask'}),
            (
                host_conductor,
                {'ConfirmResizeTask', 'RevertResizeTask'},
            ),
        ):
            used = self.looked_up(module)
            self.assertEqual(expected, used)
            for name in used:
                self.assertTrue(
                    issubclass(
                        getattr(cross_cell_migrate, name),
                        getattr(host_tasks, name),
                    )
                )


class TestWeigher(unittest.TestCase):
    def test_host_looks_at_nothing_but_the_cell(self):
        """Ours asks it once per cell."""
        tree = ast.parse(
            textwrap.dedent(
                inspect.getsource(host_weigher.CrossCellWeigher._weigh_object)
            )
        )
        self.assertEqual(
            {'cell_uuid'},
            {
                node.attr
                for node in ast.walk(tree)
                if isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id == 'host_state'
            },
        )

    def test_host_has_no_limits_of_its_own(self):
        self.assertIsNone(host_weigher.CrossCellWeigher.minval)
        self.assertIsNone(host_weigher.CrossCellWeigher.maxval)


class TestPolicy(unittest.TestCase):
    """XC-01: the rule of the host stands, ours only explains it."""

    def test_same_rule_as_the_host(self):
        (host,) = [
            rule
            for rule in host_policies.rules
            if rule.name == policies.CROSS_CELL_RESIZE
        ]
        (ours,) = policies.list_rules()
        self.assertEqual(host_policies.CROSS_CELL_RESIZE, ours.name)
        self.assertEqual('!', ours.check_str)
        self.assertEqual(host.check_str, ours.check_str)
        self.assertEqual(host.scope_types, ours.scope_types)


class TestComputeVersion(unittest.TestCase):
    def test_same_as_the_hosts_api(self):
        self.assertEqual(
            host_api.MIN_COMPUTE_CROSS_CELL_RESIZE, old_peers.COMPUTE_VERSION
        )


class TestRefusedRequest(unittest.TestCase):
    """XC-26: the base class is what every controller answers with 400."""

    def test_controllers_translate_it(self):
        from nova.api.openstack.compute import evacuate
        from nova.api.openstack.compute import migrate_server
        from nova.api.openstack.compute import servers

        for method in (
            evacuate.EvacuateController._evacuate,
            migrate_server.MigrateServerController._migrate,
            servers.ServersController._resize,
        ):
            source = inspect.getsource(inspect.unwrap(method))
            handler = source[
                source.index('ExtendedResourceRequestOldCompute') :
            ]
            self.assertIn(
                'HTTPBadRequest(explanation=e.format_message())',
                handler[:200],
            )


class TestRebuild(unittest.TestCase):
    def test_controller_translates_refusals(self):
        """VR-01, VR-08: with 409, with 400, and the message."""
        from nova.api.openstack.compute import servers

        controller = servers.ServersController
        rebuild = (
            # Nova 31 and 32.
            getattr(controller, '_action_rebuild', None) or controller._rebuild
        )
        source = inspect.getsource(inspect.unwrap(rebuild))
        handler = source[source.index('exception.InstanceIsLocked') :]
        self.assertIn(
            'HTTPConflict(explanation=e.format_message())', handler[:120]
        )
        for name in ('ImageUnacceptable', 'InvalidVolume'):
            self.assertIn('exception.%s' % name, source)

    def test_allocations_are_deleted_where_the_server_is_not(self):
        """VR-06: only evacuations and rebuilds call what is replaced."""
        from nova.compute import manager as host_manager

        from nova_xcell.rebuild import tracker

        self.assertEqual(
            2,
            inspect.getsource(host_manager.ComputeManager).count(
                'self.rt.%s('
                % tracker.delete_allocation_for_evacuated_instance.__name__
            ),
        )


class TestMigrationWishes(unittest.TestCase):
    def test_controllers_translate_a_conflict(self):
        """MF-06: the base class is one that each of them answers with 400."""
        from nova.api.openstack.compute import servers

        self.assertTrue(
            issubclass(
                migration_wishes.WishesRefused,
                servers.INVALID_FLAVOR_IMAGE_EXCEPTIONS,
            )
        )
        # Of create, resize and rebuild.
        self.assertEqual(
            3,
            inspect.getsource(servers).count(
                'except INVALID_FLAVOR_IMAGE_EXCEPTIONS'
            ),
        )

    def test_controller_translates_a_refused_abort(self):
        """MF-08: with 400 and the message."""
        from nova.api.openstack.compute import server_migrations

        source = inspect.getsource(
            inspect.unwrap(server_migrations.ServerMigrationsController.delete)
        )
        handler = source[source.index('exception.InvalidMigrationState') :]
        self.assertIn(
            'HTTPBadRequest(explanation=e.format_message())', handler[:150]
        )

    def test_traits_exist(self):
        """Placement refuses a request with a name that it does not know."""
        import os_traits

        for trait in migration_traits.TRAITS.values():
            self.assertTrue(hasattr(os_traits, trait))

    def test_filters_of_the_host_are_kept(self):
        ours = list(migration_traits.REQUEST_FILTERS)
        ours.remove(migration_traits.require_migration_traits)
        self.assertEqual(host_filter.ALL_REQUEST_FILTERS, ours)

    def test_image_properties_are_looked_up_where_they_are_replaced(self):
        """Not under the name in their own module."""
        self.assertIn(
            'objects.ImageMetaProps.from_dict(',
            inspect.getsource(host_image_meta.ImageMeta.from_dict),
        )
