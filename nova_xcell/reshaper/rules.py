# SPDX-License-Identifier: Apache-2.0
"""Rules of a reshape, as an operator writes them: no host imports (RP-06)."""

from __future__ import annotations

import collections
import dataclasses
import fnmatch
import itertools
import re
import typing as ty

import jsonschema
import os_resource_classes

from nova_xcell.reshaper import document
from nova_xcell.reshaper import schema

BadRules = document.BadRules

#: Stands for the name of the node, that is, of the root of its tree.
NODE = '{node}'

#: Nova derives these names from its configuration, and devices from them.
_BOUND = 'CUSTOM_PMEM_NAMESPACE_'

#: Of so many errors the one that tells most is looked for.
_ERRORS = 100

_PLACEHOLDER = re.compile(r'\{[^}]*\}')


@dataclasses.dataclass(frozen=True)
class Child:
    """A child that is named in the rules.

    :ivar name: of the provider, with placeholders
    :ivar inventories: by resource class, what is said of its inventory; the
        rest comes from the provider that has the class now
    :ivar traits: it has to have
    """

    name: str
    inventories: ty.Mapping[str, ty.Mapping[str, int | float]]
    traits: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Existing:
    """Children that are there already; each gets an equal share.

    :ivar pattern: of their names, with placeholders and wildcards
    :ivar traits: they have to have
    """

    pattern: str
    traits: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Rule:
    """What all rules have in common.

    :ivar label: for messages
    :ivar nodes: patterns of the names of nodes, or their UUIDs
    :ivar providers: pattern of the names of providers that have the class
        now, with placeholders
    """

    label: str
    nodes: tuple[str, ...]
    providers: str

    def is_for(self, name: str, uuid: str) -> bool:
        """Say whether the rule is meant for a node.

        :param name: of the root of its tree
        :param uuid: of the root of its tree
        """
        return any(
            pattern == uuid or fnmatch.fnmatchcase(name, pattern)
            for pattern in self.nodes
        )


@dataclasses.dataclass(frozen=True)
class Spread(Rule):
    """Resource classes that go from a provider to its children.

    :ivar classes: the resource classes
    :ivar targets: children, or where to find them
    :ivar together: whether a consumer gets all of the classes from one child
    :ivar divisible: whether what a consumer has of a class may come from
        several children
    :ivar consumers: by UUID of the consumer, the name of the child it has to
        be on, with placeholders
    """

    classes: tuple[str, ...]
    targets: tuple[Child, ...] | Existing
    together: bool
    divisible: bool
    consumers: ty.Mapping[str, str]


@dataclasses.dataclass(frozen=True)
class Rename(Rule):
    """A resource class that gets another name.

    :ivar old: its name today
    :ivar new: its name afterwards
    """

    old: str
    new: str


def filled(text: str, **values: object) -> str:
    """Return a text with its placeholders replaced.

    :param text: for example ``{node}_gpu0``
    :param values: by name of the placeholder
    """
    return _PLACEHOLDER.sub(
        lambda found: str(values.get(found[0][1:-1], found[0])), text
    )


def matches(pattern: str, name: str, **values: str) -> bool:
    """Say whether a name is meant by a pattern with placeholders.

    :param pattern: with placeholders and wildcards
    :param name: of a provider
    :param values: by name of the placeholder; wildcards in them are none
    """
    values = {
        key: re.sub(r'([*?[])', r'[\1]', value)
        for key, value in values.items()
    }
    return fnmatch.fnmatchcase(name, filled(pattern, **values))


def parse(text: str | bytes, name: str = 'rules') -> tuple[Rule, ...]:
    """Return the rules of a file.

    :param text: YAML
    :param name: of the file, for messages
    :raises: :class:`BadRules` with the line and the reason
    """
    found = document.Document(text, name)
    if not isinstance(found.content, dict):
        # Not quoted: it may be any file.
        raise found.error((), 'this is no file of rules')
    validator = jsonschema.Draft7Validator(
        schema.RULES, format_checker=jsonschema.FormatChecker(['uuid'])
    )
    error = jsonschema.exceptions.best_match(
        itertools.islice(validator.iter_errors(found.content), _ERRORS)
    )
    if error is not None:
        raise found.error(error.absolute_path, error.message)
    return tuple(
        _Reader(found, ('rules', index)).read(content)
        for index, content in enumerate(found.content['rules'])
    )


class _Reader:
    """Makes a rule of what the schema has let pass."""

    def __init__(self, found: document.Document, path: document.Path) -> None:
        self._document = found
        self._path = path

    def _error(self, reason: str, *path: str | int) -> BadRules:
        return self._document.error((*self._path, *path), reason)

    def read(self, content: dict) -> Rule:
        kinds = [
            kind for kind in ('move', 'split', 'rename') if kind in content
        ]
        if len(kinds) != 1:
            raise self._error(
                'a rule has one of move, split and rename, not %s'
                % (' and '.join(kinds) or 'none')
            )
        (kind,) = kinds
        common = {
            'label': content.get(
                'name', 'rule in line %d' % self._document.line(self._path)
            ),
            'nodes': tuple(content.get('nodes', ['*'])),
        }
        if kind == 'rename':
            return self._rename(content[kind], common)
        return self._spread(kind, content[kind], common)

    def _rename(self, content: dict, common: dict) -> Rename:
        old, new = content['resource_class'], content['to']
        self._check_class(old, 'rename', 'resource_class')
        self._check_class(new, 'rename', 'to')
        if old == new:
            raise self._error('%s is its name already' % new, 'rename', 'to')
        providers = content.get('providers', '*')
        self._check_placeholders(providers, {'node'}, 'rename', 'providers')
        return Rename(providers=providers, old=old, new=new, **common)

    def _spread(self, kind: str, content: dict, common: dict) -> Spread:
        if kind == 'move':
            classes = [content['resource_class']]
            self._check_class(classes[0], kind, 'resource_class')
        else:
            classes = content['resource_classes']
            for index, name in enumerate(classes):
                self._check_class(name, kind, 'resource_classes', index)
        providers = content.get('from', NODE)
        self._check_placeholders(providers, {'node'}, kind, 'from')
        consumers = content.get('consumers', {})
        for consumer, child in consumers.items():
            self._check_placeholders(
                child, {'node', 'provider'}, kind, 'consumers', consumer
            )
        divisible = content.get('divisible', False)
        together = content.get('together', kind == 'split' and not divisible)
        if together and divisible:
            raise self._error(
                'what a consumer has is either divisible or together',
                kind,
                'divisible',
            )
        return Spread(
            providers=providers,
            classes=tuple(classes),
            targets=self._targets(kind, content['to'], classes),
            together=together,
            divisible=divisible,
            consumers=consumers,
            **common,
        )

    def _targets(
        self, kind: str, content: ty.Any, classes: list[str]
    ) -> tuple[Child, ...] | Existing:
        if isinstance(content, list):
            return self._named(kind, content, classes)
        traits = tuple(content.get('traits', ()))
        if set(content) - {'traits'} == {'existing'}:
            self._check_placeholders(
                content['existing'], {'node', 'provider'}, kind, 'to'
            )
            return Existing(content['existing'], traits)
        if set(content) - {'traits'} != {'count', 'name'}:
            raise self._error(
                'give either count and name, or existing', kind, 'to'
            )
        name, count = content['name'], content['count']
        self._check_placeholders(
            name, {'node', 'provider', 'index'}, kind, 'to', 'name'
        )
        if count > 1 and '{index}' not in name:
            raise self._error(
                'a name for %d children needs {index}' % count,
                kind,
                'to',
                'name',
            )
        return tuple(
            Child(
                _PLACEHOLDER.sub(
                    lambda found, number=number: (
                        str(number) if found[0] == '{index}' else found[0]
                    ),
                    name,
                ),
                {},
                traits,
            )
            for number in range(count)
        )

    def _named(
        self, kind: str, content: list[dict], classes: list[str]
    ) -> tuple[Child, ...]:
        seen = set()
        told: dict[str, int] = collections.Counter()
        for index, child in enumerate(content):
            path = (kind, 'to', index)
            self._check_placeholders(
                child['name'], {'node', 'provider'}, *path, 'name'
            )
            if child['name'] in seen:
                raise self._error(
                    'child %r is there twice' % child['name'], *path, 'name'
                )
            seen.add(child['name'])
            for name, inventory in child.get('inventories', {}).items():
                place = (*path, 'inventories', name)
                if name not in classes:
                    raise self._error('%s is not moved' % name, *place)
                if inventory.get('reserved', 0) > inventory['total']:
                    raise self._error(
                        'more is reserved than there is', *place, 'reserved'
                    )
                told[name] += 1
        for name, count in told.items():
            if count != len(content):
                raise self._error(
                    'the inventory of %s is said of some children only' % name,
                    kind,
                    'to',
                )
        return tuple(
            Child(
                child['name'],
                child.get('inventories', {}),
                tuple(child.get('traits', ())),
            )
            for child in content
        )

    def _check_class(self, name: str, *path: str | int) -> None:
        if name.startswith(_BOUND):
            raise self._error(
                '%s is how Nova finds persistent memory; it cannot change'
                % name,
                *path,
            )
        if (
            name not in os_resource_classes.STANDARDS
            and not os_resource_classes.is_custom(name)
        ):
            raise self._error(
                '%s is neither a standard resource class nor begins with '
                'CUSTOM_' % name,
                *path,
            )

    def _check_placeholders(
        self, text: str, known: set[str], *path: str | int
    ) -> None:
        for found in _PLACEHOLDER.findall(text):
            if found[1:-1] not in known:
                raise self._error(
                    '%s is none of the placeholders %s'
                    % (
                        found,
                        ', '.join('{%s}' % name for name in sorted(known)),
                    ),
                    *path,
                )
