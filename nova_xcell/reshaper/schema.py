# SPDX-License-Identifier: Apache-2.0
"""What the rules of a reshape look like, as a JSON schema."""

#: The largest number Placement stores.
MAX_INT = 0x7FFFFFFF

NAME = {'type': 'string', 'minLength': 1, 'maxLength': 200}
#: The name of a resource class or trait; nothing that would change a URL.
CLASS = {'type': 'string', 'pattern': r'^[A-Z0-9_]+\Z', 'maxLength': 255}
_POSITIVE = {'type': 'integer', 'minimum': 1, 'maximum': MAX_INT}


def fixed(required: list[str], **properties) -> dict:
    """Return the schema of an object that has no other properties.

    :param required: names of those that have to be there
    :param properties: schemas by name
    """
    return {
        'type': 'object',
        'properties': properties,
        'required': required,
        'additionalProperties': False,
    }


def _list_of(items: dict) -> dict:
    return {'type': 'array', 'items': items, 'minItems': 1}


_TRAITS = _list_of(CLASS)

_INVENTORY = fixed(
    ['total'],
    total=_POSITIVE,
    reserved={'type': 'integer', 'minimum': 0, 'maximum': MAX_INT},
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
    fixed(
        ['name'],
        name=NAME,
        traits=_TRAITS,
        inventories={
            'type': 'object',
            'propertyNames': CLASS,
            'additionalProperties': _INVENTORY,
            'minProperties': 1,
        },
    )
)

_MADE = fixed(
    [],
    count={'type': 'integer', 'minimum': 1, 'maximum': 1000},
    name=NAME,
    existing=NAME,
    traits=_TRAITS,
)

_TARGETS = {
    'type': ['array', 'object'],
    'if': {'type': 'array'},
    'then': _NAMED,
    'else': _MADE,
}

_SPREAD = {
    'from': NAME,
    'to': _TARGETS,
    'divisible': {'type': 'boolean'},
    'consumers': {
        'type': 'object',
        'propertyNames': {'format': 'uuid', 'type': 'string'},
        'additionalProperties': NAME,
    },
}

_RULE = fixed(
    [],
    name=NAME,
    nodes=_list_of(NAME),
    move=fixed(['resource_class', 'to'], resource_class=CLASS, **_SPREAD),
    split=fixed(
        ['resource_classes', 'to'],
        resource_classes={**_list_of(CLASS), 'uniqueItems': True},
        together={'type': 'boolean'},
        **_SPREAD,
    ),
    rename=fixed(
        ['resource_class', 'to'],
        resource_class=CLASS,
        to=CLASS,
        providers=NAME,
    ),
)

RULES = fixed(
    ['version', 'rules'], version={'const': 1}, rules=_list_of(_RULE)
)
