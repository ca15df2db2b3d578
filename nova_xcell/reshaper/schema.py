# SPDX-License-Identifier: Apache-2.0
"""What the rules of a reshape look like, as a JSON schema."""

#: The largest number Placement stores.
_MAX_INT = 0x7FFFFFFF

_NAME = {'type': 'string', 'minLength': 1, 'maxLength': 200}
_CLASS = {'type': 'string', 'pattern': '^[A-Z0-9_]+$', 'maxLength': 255}
_POSITIVE = {'type': 'integer', 'minimum': 1, 'maximum': _MAX_INT}


def _fixed(required: list[str], **properties) -> dict:
    return {
        'type': 'object',
        'properties': properties,
        'required': required,
        'additionalProperties': False,
    }


def _list_of(items: dict) -> dict:
    return {'type': 'array', 'items': items, 'minItems': 1}


_TRAITS = _list_of(_CLASS)

_INVENTORY = _fixed(
    ['total'],
    total=_POSITIVE,
    reserved={'type': 'integer', 'minimum': 0, 'maximum': _MAX_INT},
    min_unit=_POSITIVE,
    max_unit=_POSITIVE,
    step_size=_POSITIVE,
    allocation_ratio={
        'type': 'number',
        'exclusiveMinimum': 0,
        'maximum': 1000000,
    },
)

_NAMED = _list_of(
    _fixed(
        ['name'],
        name=_NAME,
        traits=_TRAITS,
        inventories={
            'type': 'object',
            'propertyNames': _CLASS,
            'additionalProperties': _INVENTORY,
            'minProperties': 1,
        },
    )
)

_MADE = _fixed(
    [],
    count={'type': 'integer', 'minimum': 1, 'maximum': 1000},
    name=_NAME,
    existing=_NAME,
    traits=_TRAITS,
)

_TARGETS = {
    'type': ['array', 'object'],
    'if': {'type': 'array'},
    'then': _NAMED,
    'else': _MADE,
}

_SPREAD = {
    'from': _NAME,
    'to': _TARGETS,
    'divisible': {'type': 'boolean'},
    'consumers': {
        'type': 'object',
        'propertyNames': {'format': 'uuid', 'type': 'string'},
        'additionalProperties': _NAME,
    },
}

_RULE = _fixed(
    [],
    name=_NAME,
    nodes=_list_of(_NAME),
    move=_fixed(['resource_class', 'to'], resource_class=_CLASS, **_SPREAD),
    split=_fixed(
        ['resource_classes', 'to'],
        resource_classes={**_list_of(_CLASS), 'uniqueItems': True},
        together={'type': 'boolean'},
        **_SPREAD,
    ),
    rename=_fixed(
        ['resource_class', 'to'],
        resource_class=_CLASS,
        to=_CLASS,
        providers=_NAME,
    ),
)

RULES = _fixed(
    ['version', 'rules'], version={'const': 1}, rules=_list_of(_RULE)
)
