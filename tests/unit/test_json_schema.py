# SPDX-License-Identifier: Apache-2.0
"""Documents that are valid beyond doubt."""

import unittest
import uuid

from nova_xcell.placement import json_schema


def is_uuid(value):
    try:
        uuid.UUID(value)
    except ValueError:
        return False
    return True


class TestCompile(unittest.TestCase):
    def assert_valid(self, schema, *values):
        check = json_schema.compile_schema(schema, is_uuid)
        for value in values:
            self.assertTrue(check(value), value)

    def assert_doubtful(self, schema, *values):
        check = json_schema.compile_schema(schema, is_uuid)
        for value in values:
            self.assertFalse(check(value), value)

    def test_integer(self):
        schema = {'type': 'integer', 'minimum': 1, 'maximum': 9}
        self.assert_valid(schema, 1, 9)
        # 1.0 is an integer to jsonschema, which may say so.
        self.assert_doubtful(schema, 0, 10, 1.0, True, '1', None)

    def test_number(self):
        schema = {'type': 'number', 'maximum': 9}
        self.assert_valid(schema, 1, 1.5, -1)
        self.assert_doubtful(schema, 9.1, False, float('nan'))

    def test_string(self):
        schema = {
            'type': 'string',
            'minLength': 1,
            'maxLength': 3,
            'pattern': '^[A-Z]+$',
        }
        self.assert_valid(schema, 'A', 'ABC')
        self.assert_doubtful(schema, '', 'ABCD', 'a', 1)

    def test_format(self):
        schema = {'type': 'string', 'format': 'uuid'}
        self.assert_valid(schema, str(uuid.uuid4()))
        self.assert_doubtful(schema, 'no')

    def test_several_types(self):
        schema = {'type': ['integer', 'null'], 'additionalProperties': False}
        self.assert_valid(schema, 1, None)
        self.assert_doubtful(schema, {}, '')

    def test_array(self):
        schema = {
            'type': 'array',
            'minItems': 1,
            'items': {'type': 'integer'},
        }
        self.assert_valid(schema, [1, 2])
        self.assert_doubtful(schema, [], [1, 'a'], (1,))

    def test_object(self):
        schema = {
            'type': 'object',
            'minProperties': 1,
            'properties': {'name': {'type': 'string'}},
            'patternProperties': {'^[A-Z]+$': {'type': 'integer'}},
            'required': ['name'],
            'additionalProperties': False,
        }
        self.assert_valid(schema, {'name': ''}, {'name': '', 'A': 1})
        self.assert_doubtful(
            schema,
            {},
            {'A': 1},
            {'name': 1},
            {'name': '', 'A': ''},
            {'name': '', 'b': 1},
            [],
        )

    def test_others_are_allowed(self):
        self.assert_valid({'type': 'object'}, {}, {'a': object()})

    def test_property_and_pattern(self):
        schema = {
            'type': 'object',
            'properties': {'A': {'type': 'integer'}},
            'patternProperties': {'A': {'type': 'integer', 'minimum': 1}},
        }
        self.assert_valid(schema, {'A': 1})
        self.assert_doubtful(schema, {'A': 0})

    def test_what_is_not_known(self):
        for schema in (
            {},
            {'type': 'boolean'},
            {'type': 'integer', 'multipleOf': 2},
            {'type': 'string', 'format': 'date'},
            {'type': 'object', 'additionalProperties': {'type': 'string'}},
            {'type': 'object', 'properties': {'a': {'enum': [1]}}},
        ):
            with self.assertRaises(json_schema.Unknown):
                json_schema.compile_schema(schema, is_uuid)
