# SPDX-License-Identifier: Apache-2.0
"""What is copied and brought back, against the records of the host."""

import unittest

# Decides on monkey patching, so nothing of the host may come before it.
import nova.tests.functional  # noqa: F401  isort: skip

from nova.db.main import models
from nova.objects import block_device
from nova.objects import instance

from nova_xcell.tasks import records
from nova_xcell.tasks import revert_fields


class TestTables(unittest.TestCase):
    """XC-06: a table of the host that knows servers is copied, or is not on
    purpose.
    """

    def names_a_server(self, table):
        return {'instance_uuid', 'resource_id'} & set(table.c.keys()) or any(
            key.target_fullname.startswith(('instances.', 'instance_actions.'))
            for key in table.foreign_keys
        )

    def test_each_is_known(self):
        known = {*records.BY_SERVER, records.EVENTS, *records.LEFT_OUT}
        tables = models.BASE.metadata.tables
        for name, table in tables.items():
            if self.names_a_server(table):
                self.assertIn(name, known)
        self.assertEqual(set(), known - set(tables))
        for name, column in records.BY_SERVER.items():
            self.assertIn(column, tables[name].c)

    def test_a_row_comes_after_what_it_refers_to(self):
        order = [*records.BY_SERVER, records.EVENTS]
        for name in order:
            for key in records.table(name).foreign_keys:
                self.assertLess(
                    order.index(key.column.table.name), order.index(name)
                )


class TestFields(unittest.TestCase):
    """XC-14: what is brought back at revert is there."""

    def test_of_a_server(self):
        for field in revert_fields.INSTANCE:
            self.assertIn(field, instance.Instance.fields)

    def test_of_a_device(self):
        for field in revert_fields.KEPT_OF_DEVICE:
            self.assertIn(field, block_device.BlockDeviceMapping.fields)
