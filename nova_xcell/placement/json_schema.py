# SPDX-License-Identifier: Apache-2.0
"""Tells quickly that a document is valid: pure, no host imports.

Only the keywords that Placement's schemas use are known here, and only
documents that are valid beyond doubt are told. Others are for ``jsonschema``
to judge, which takes ten times longer and finds the words for what is wrong.
"""

from collections.abc import Callable
import re
import typing as ty

Check = Callable[[ty.Any], bool]

#: For ``format``; other formats are not known.
_FORMATS = ('uuid',)


class Unknown(Exception):
    """A schema uses a keyword that is not known here."""


def compile_schema(schema: dict, is_uuid: Check) -> Check:
    """Make a function that tells whether a document is certainly valid.

    :param schema: a JSON schema
    :param is_uuid: tells whether a string is of the format ``uuid``
    :raises: :class:`Unknown`
    """
    types = schema.get('type')
    kinds = types if isinstance(types, list) else [types]
    checks = [_of_type(kind, schema, is_uuid) for kind in kinds]
    if len(checks) == 1:
        return checks[0]
    return lambda value: any(check(value) for check in checks)


def _of_type(kind: str | None, schema: dict, is_uuid: Check) -> Check:
    try:
        make, keywords = _TYPES[kind]
    except KeyError:
        raise Unknown('type %s' % kind) from None
    known = {'type', *keywords}
    if isinstance(schema['type'], list):
        # For the other types.
        known.update(word for words in _TYPES.values() for word in words[1])
    strange = schema.keys() - known
    # The host has written this on an integer, where it means nothing.
    if strange - {'additionalProperties'}:
        raise Unknown(', '.join(sorted(strange)))
    return make(schema, is_uuid)


def _object(schema: dict, is_uuid: Check) -> Check:
    others = schema.get('additionalProperties', True)
    if others not in (True, False):
        raise Unknown('additionalProperties')
    required = frozenset(schema.get('required', ()))
    least = schema.get('minProperties', 0)
    checks_of = _checks_of(schema, is_uuid)

    def check(value: ty.Any) -> bool:
        if not isinstance(value, dict) or len(value) < least:
            return False
        if not required <= value.keys():
            return False
        for name, part in value.items():
            checks = checks_of(name)
            if not checks and not others:
                return False
            if not all(is_valid(part) for is_valid in checks):
                return False
        return True

    return check


def _checks_of(
    schema: dict, is_uuid: Check
) -> Callable[[str], tuple[Check, ...]]:
    """Return what tells the checks of a property."""
    properties = {
        name: compile_schema(part, is_uuid)
        for name, part in schema.get('properties', {}).items()
    }
    patterns = [
        (re.compile(pattern).search, compile_schema(part, is_uuid))
        for pattern, part in schema.get('patternProperties', {}).items()
    ]

    def checks_of(name: str) -> tuple[Check, ...]:
        found = tuple(check for matches, check in patterns if matches(name))
        return (*found, properties[name]) if name in properties else found

    return checks_of


def _array(schema: dict, is_uuid: Check) -> Check:
    is_valid = compile_schema(schema['items'], is_uuid)
    least = schema.get('minItems', 0)
    return lambda value: (
        isinstance(value, list)
        and len(value) >= least
        and all(is_valid(part) for part in value)
    )


def _string(schema: dict, is_uuid: Check) -> Check:
    if schema.get('format', 'uuid') not in _FORMATS:
        raise Unknown('format %s' % schema['format'])
    least = schema.get('minLength', 0)
    most = schema.get('maxLength')
    matches = re.compile(schema.get('pattern', '')).search
    has_format = is_uuid if 'format' in schema else lambda value: True
    return lambda value: (
        isinstance(value, str)
        and len(value) >= least
        and (most is None or len(value) <= most)
        and matches(value) is not None
        and has_format(value)
    )


def _number(schema: dict, is_uuid: Check) -> Check:
    return _between(schema, (int, float))


def _integer(schema: dict, is_uuid: Check) -> Check:
    # 1.0 is an integer to jsonschema, and so a case for it.
    return _between(schema, (int,))


def _between(schema: dict, kinds: tuple[type, ...]) -> Check:
    least, most = schema.get('minimum'), schema.get('maximum')
    return lambda value: (
        type(value) in kinds
        and (least is None or value >= least)
        and (most is None or value <= most)
    )


def _null(schema: dict, is_uuid: Check) -> Check:
    return lambda value: value is None


#: By type, what makes its check, and the keywords that this looks at.
_TYPES: dict[str | None, tuple[Callable, tuple[str, ...]]] = {
    'object': (
        _object,
        (
            'properties',
            'patternProperties',
            'additionalProperties',
            'required',
            'minProperties',
        ),
    ),
    'array': (_array, ('items', 'minItems')),
    'string': (_string, ('format', 'pattern', 'minLength', 'maxLength')),
    'number': (_number, ('minimum', 'maximum')),
    'integer': (_integer, ('minimum', 'maximum')),
    'null': (_null, ()),
}
