# SPDX-License-Identifier: Apache-2.0
"""What a record of an undo file looks like, as a JSON schema."""

from nova_xcell.reshaper import schema

#: What Placement takes for a UUID, in whatever spelling. It becomes part of
#: URLs, so it has no character that means something there.
_ID = {'type': 'string', 'pattern': r'^[0-9A-Za-z{}:-]{32,47}\Z'}
_AMOUNT = {'type': 'integer', 'minimum': 0, 'maximum': schema.MAX_INT}


def _by(key: dict, value: dict) -> dict:
    return {
        'type': 'object',
        'propertyNames': key,
        'additionalProperties': value,
    }


def _list_of(*items: dict) -> dict:
    return {
        'type': 'array',
        'items': list(items),
        'minItems': len(items),
        'maxItems': len(items),
    }


_INVENTORY = {
    'type': ['object', 'null'],
    'properties': {
        'total': _AMOUNT,
        'reserved': _AMOUNT,
        'min_unit': _AMOUNT,
        'max_unit': _AMOUNT,
        'step_size': _AMOUNT,
        'allocation_ratio': {'type': 'number', 'minimum': 0},
    },
    'required': ['total'],
    'additionalProperties': False,
}
_ALLOCATIONS = _by(_ID, _by(schema.CLASS, _AMOUNT))

#: The version is looked at before.
RECORD = schema.fixed(
    [
        'version',
        'attempt',
        'node',
        'root',
        'new',
        'traits',
        'inventories',
        'consumers',
        'origins',
    ],
    version={},
    attempt={'type': 'integer', 'minimum': 1},
    node=schema.NAME,
    root=_ID,
    new={
        'type': 'array',
        'items': schema.fixed(
            ['uuid', 'name', 'parent'], uuid=_ID, name=schema.NAME, parent=_ID
        ),
    },
    traits=_by(_ID, {'type': 'array', 'items': schema.CLASS}),
    inventories=_by(
        _ID,
        schema.fixed(
            ['name', 'classes'],
            name=schema.NAME,
            classes=_by(schema.CLASS, _list_of(_INVENTORY, _INVENTORY)),
        ),
    ),
    consumers=_by(_ID, _list_of(_ALLOCATIONS, _ALLOCATIONS)),
    origins={
        'type': 'array',
        'items': _list_of(_ID, schema.CLASS, _ID, schema.CLASS),
    },
)
