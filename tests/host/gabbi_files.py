# SPDX-License-Identifier: Apache-2.0
"""Runs the YAML files of Placement's own tests, without gabbi.

gabbi needs other versions of packages than the host does, and another gabbi
for each release. The files that are run here use little of it; what is not
known fails.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import sys
import types
import typing as ty

import webob
import yaml

METHODS = ('GET', 'POST', 'PUT', 'PATCH', 'DELETE')

#: Keys of a test that are looked at.
KEYS = {
    'name',
    'desc',
    'data',
    'status',
    'request_headers',
    'response_headers',
    'response_strings',
    'response_json_paths',
    *METHODS,
}

_ENVIRON = re.compile(r"\$ENVIRON\['(\w+)'\]")
_STEP = re.compile(r'\.(\w+)|\[(\d+)\]')


def fixtures() -> types.ModuleType:
    """Return the host's fixtures for its files."""
    try:
        import gabbi.fixture  # noqa: F401
    except ImportError:
        # All that they want of it is a base class without any methods.
        package = types.ModuleType('gabbi')
        package.fixture = types.ModuleType('gabbi.fixture')
        package.fixture.GabbiFixture = object
        sys.modules['gabbi'] = package
        sys.modules['gabbi.fixture'] = package.fixture
    from placement.tests.functional.fixtures import gabbits

    return gabbits


def names(prefix: str) -> list[str]:
    """Return the names of the host's files.

    :param prefix: what they begin with
    """
    return sorted(path.stem for path in _folder().glob('%s*.yaml' % prefix))


def _folder() -> pathlib.Path:
    from placement.tests import functional

    return pathlib.Path(functional.__file__).parent / 'gabbits'


class Failed(Exception):
    """An answer is not the one that a file expects."""


@contextlib.contextmanager
def run(name: str) -> ty.Iterator[ty.Iterator[tuple[str, ty.Callable]]]:
    """Prepare what a file needs.

    :param name: of the file
    :returns: context manager, yielding its tests in their order: the name,
        and what runs it, raising :class:`Failed`
    """
    from placement import deploy

    gabbits = fixtures()
    document = yaml.safe_load((_folder() / ('%s.yaml' % name)).read_text())
    defaults = document.get('defaults', {})
    if set(defaults) - {'request_headers'}:
        raise Failed('unknown defaults in %s' % name)
    with contextlib.ExitStack() as stack:
        for fixture_name in document['fixtures']:
            fixture = getattr(gabbits, fixture_name)()
            fixture.start_fixture()
            stack.callback(fixture.stop_fixture)
        app = deploy.loadapp(gabbits.CONF)
        yield (
            (test['name'], lambda test=test: _run(app, test, defaults))
            for test in document['tests']
        )


def _run(app: ty.Any, test: dict, defaults: dict) -> None:
    unknown = set(test) - KEYS
    if unknown:
        raise Failed('unknown keys: %s' % ', '.join(sorted(unknown)))
    test = _filled_in(test)
    (method,) = (key for key in test if key in METHODS)
    headers = {
        **_filled_in(defaults.get('request_headers', {})),
        **test.get('request_headers', {}),
    }
    body = json.dumps(test['data']).encode() if 'data' in test else b''
    request = webob.Request.blank(
        test[method], method=method, body=body, headers=headers
    )
    answer = request.get_response(app)
    _check('status', test.get('status', 200), answer.status_int, answer)
    for header, value in test.get('response_headers', {}).items():
        _check(header, value, answer.headers.get(header), answer)
    for text in test.get('response_strings', ()):
        if text not in answer.text:
            raise Failed('%r is not in %s' % (text, answer.text))
    for path, value in test.get('response_json_paths', {}).items():
        found = _at(path, answer.json)
        if isinstance(value, str) and re.fullmatch('/.*/', value):
            if re.search(value[1:-1], found) is None:
                raise Failed('%s is not in %s' % (value, found))
        else:
            _check(path, value, found, answer)


def _check(what: str, expected: ty.Any, found: ty.Any, answer) -> None:
    if expected != found:
        raise Failed(
            '%s: expected %r, found %r in %s'
            % (what, expected, found, answer.text)
        )


def _filled_in(value: ty.Any) -> ty.Any:
    """Replace what stands for variables of the environment."""
    if isinstance(value, str):
        return _ENVIRON.sub(lambda match: os.environ[match.group(1)], value)
    if isinstance(value, list):
        return [_filled_in(part) for part in value]
    if isinstance(value, dict):
        return {
            _filled_in(key): _filled_in(part) for key, part in value.items()
        }
    return value


def _at(path: str, document: ty.Any) -> ty.Any:
    """Return the part of a document that a path like ``$.a[0].b`` names."""
    if not re.fullmatch(r'\$(%s)*' % _STEP.pattern, path):
        raise Failed('unknown kind of path: %s' % path)
    for key, index in _STEP.findall(path):
        document = document[key] if key else document[int(index)]
    return document
