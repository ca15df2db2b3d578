# SPDX-License-Identifier: Apache-2.0
"""What the plug-ins rely on in Placement, beside the table of seams."""

import ast
import inspect
import unittest

# Decides on monkey patching, so nothing of the host may come before it.
import nova.tests.functional  # noqa: F401  isort: skip

from oslo_config import cfg
from oslo_utils import uuidutils

from placement import db_api as host_db_api
from placement import deploy  # noqa: F401
from placement import util as host_util
from placement.db.sqlalchemy import models
from placement.handlers import allocation as host_allocation
from placement.handlers import reshaper as host_handler
from placement.handlers import util as host_data_util
from placement.objects import reshaper as host_reshaper
from placement.schemas import reshaper as host_schemas

from nova_xcell import loader
from nova_xcell import seams
from nova_xcell.placement import allocation
from nova_xcell.placement import data_util
from nova_xcell.placement import db_api
from nova_xcell.placement import json_schema
from nova_xcell.placement import reshaper
from nova_xcell.placement import util
from tests.contract import base

#: Ours, and what they stand for in the handler.
PAIRS = {
    'allocation': (allocation, host_allocation),
    'data_util': (data_util, host_data_util),
    'db_api': (db_api, host_db_api),
    'reshaper': (reshaper, host_reshaper),
    'util': (util, host_util),
}

SCHEMAS = (
    host_schemas.POST_RESHAPER_SCHEMA,
    host_schemas.POST_RESHAPER_SCHEMA_V1_34,
    host_schemas.POST_RESHAPER_SCHEMA_V1_38,
)


class TestHandler(unittest.TestCase):
    """The handler finds in our modules all that it looks up (RP-04)."""

    def looked_up(self):
        tree = ast.parse(inspect.getsource(host_handler))
        (handler,) = [
            node for node in tree.body if isinstance(node, ast.FunctionDef)
        ]
        # Its decorators are there before we are.
        for statement in handler.body:
            for node in ast.walk(statement):
                if (
                    isinstance(node, ast.Attribute)
                    and isinstance(node.value, ast.Name)
                    and node.value.id in PAIRS
                ):
                    yield node.value.id, node.attr

    def test_functions(self):
        used = set(self.looked_up())
        self.assertEqual(
            {
                ('allocation', 'inspect_consumers'),
                ('allocation', 'create_allocation_list'),
                ('allocation', 'delete_consumers'),
                ('data_util', 'update_consumers'),
                ('db_api', 'placement_context_manager'),
                ('reshaper', 'reshape'),
                ('util', 'extract_json'),
            },
            used,
        )
        listed = {
            (seam.module, seam.attribute)
            for seam in seams.SEAMS
            if seam.kind == seams.OVERRIDDEN
        }
        for module, name in used:
            if module == 'db_api':
                continue
            ours, host = PAIRS[module]
            self.assertIn((host.__name__, name), listed)
            self.assertEqual(
                seams.spell_signature(getattr(host, name)),
                seams.spell_signature(getattr(ours, name)),
            )

    def test_modules_are_the_ones_that_are_replaced(self):
        for name, (_ours, host) in PAIRS.items():
            self.assertIs(host, getattr(host_handler, name))


class TestSchemas(unittest.TestCase):
    def test_all_keywords_are_known(self):
        """Else every request would be left to jsonschema."""
        for schema in SCHEMAS:
            json_schema.compile_schema(schema, uuidutils.is_uuid_like)

    def test_these_are_all_that_the_handler_has(self):
        self.assertEqual(
            len(SCHEMAS),
            inspect.getsource(host_handler).count(
                'schema.POST_RESHAPER_SCHEMA'
            ),
        )


class TestTables(unittest.TestCase):
    def test_columns(self):
        """What is inserted has all of the columns."""
        automatic = {'id', 'created_at', 'updated_at'}
        for model, expected in (
            (
                models.Allocation,
                {
                    'resource_provider_id',
                    'resource_class_id',
                    'consumer_id',
                    'used',
                },
            ),
            (
                models.Inventory,
                {
                    'resource_provider_id',
                    'resource_class_id',
                    'total',
                    'reserved',
                    'min_unit',
                    'max_unit',
                    'step_size',
                    'allocation_ratio',
                },
            ),
            (
                models.Consumer,
                {
                    'uuid',
                    'project_id',
                    'user_id',
                    'generation',
                    'consumer_type_id',
                },
            ),
            (models.Project, {'external_id'}),
            (models.User, {'external_id'}),
        ):
            self.assertEqual(
                expected, set(model.__table__.c.keys()) - automatic
            )


SHOW = '''
import sys
from unittest import mock
from placement import wsgi
with mock.patch('placement.deploy.loadapp', autospec=True):
    wsgi.init_application()
from placement.handlers import reshaper
print([getattr(reshaper, name).__name__ for name in %r])
''' % (tuple(PAIRS),)

OURS = str(['nova_xcell.placement.%s' % name for name in PAIRS])
PLAIN = str([host.__name__ for _ours, host in PAIRS.values()])

DATABASE = '[placement_database]\nconnection = sqlite://\n'


class TestArming(base.ProcessTest):
    """Placement, started with the switch in its own configuration."""

    def service(self, config, before=''):
        """Start Placement's application, and show what the handler uses.

        :param config: contents of placement.conf
        :param before: code that runs before it
        """
        (self.folder / 'placement.conf').write_text(config)
        folder = "os.environ['OS_PLACEMENT_CONFIG_DIR'] = %r\n" % str(
            self.folder
        )
        return self.run_python('import os\n' + folder + before + SHOW)

    def assert_shows(self, expected, config):
        process = self.service(config)
        self.assertEqual(expected, process.stdout.strip(), process.stderr)

    def test_armed(self):
        self.assert_shows(OURS, base.ENABLED + DATABASE)

    def test_feature_by_name(self):
        self.assert_shows(
            OURS, base.ENABLED + 'features = reshape-handler\n' + DATABASE
        )

    def test_feature_switched_off(self):
        self.assert_shows(
            PLAIN, base.ENABLED + 'features = cross-cell-resize\n' + DATABASE
        )

    def test_without_the_switch(self):
        self.assert_shows(PLAIN, DATABASE)

    def test_unknown_feature(self):
        self.assert_refused(
            self.service(base.ENABLED + 'features = teleport\n' + DATABASE),
            'teleport',
        )

    def test_without_nova(self):
        """Placement is often installed without it."""
        process = self.service(
            base.ENABLED + DATABASE, "import sys\nsys.modules['nova'] = None\n"
        )
        self.assertEqual(OURS, process.stdout.strip(), process.stderr)

    def test_changed_seam(self):
        self.assert_refused(
            self.service(
                base.ENABLED + DATABASE,
                'from placement.objects import reshaper\n'
                'reshaper.reshape = lambda ctx: None\n',
            ),
            'placement.objects.reshaper.reshape',
            'found (ctx)',
        )


class TestDisarming(unittest.TestCase):
    def test_arm_and_disarm(self):
        conf = cfg.ConfigOpts()
        conf([], project='test', default_config_files=[])
        self.addCleanup(loader.disarm, 'placement')
        for _round in range(2):
            loader.arm(conf, 'placement')
            for name, (ours, _host) in PAIRS.items():
                self.assertIs(ours, getattr(host_handler, name))
            loader.disarm('placement')
            for name, (_ours, host) in PAIRS.items():
                self.assertIs(host, getattr(host_handler, name))
