# SPDX-License-Identifier: Apache-2.0
"""What the source says of itself, as far as a package needs it."""

from __future__ import annotations

import ast
import configparser
import dataclasses
import pathlib
import re

from tests.packaging.debian.errors import PackageError

BOUND = re.compile(r'(>=|<=|==|!=|<|>)\s*([0-9][0-9.]*)')
#: A requirement without its comment; markers are not understood.
REQUIREMENT = re.compile(
    r'([A-Za-z0-9][A-Za-z0-9._-]*)((?:\s*,?\s*%s)*)' % BOUND.pattern
)


@dataclasses.dataclass(frozen=True)
class Requirement:
    """One line of ``requirements.txt``.

    :param name: of the distribution
    :param bounds: operators and versions
    """

    name: str
    bounds: tuple[tuple[str, str], ...]


@dataclasses.dataclass(frozen=True)
class Facts:
    """The source.

    :param name: of the distribution
    :param version: as Python spells it
    :param summary: one line
    :param description: paragraphs
    :param author: who made it
    :param license: its SPDX identifier
    :param python: the least version
    :param requires: what it needs to run
    :param extras: what it may be used with, by name of the extra
    :param commands: console scripts
    :param man_pages: names of what Sphinx makes, such as ``nova-manage.1``
    """

    name: str
    version: str
    summary: str
    description: tuple[str, ...]
    author: str
    license: str
    python: str
    requires: tuple[Requirement, ...]
    extras: dict[str, tuple[Requirement, ...]]
    commands: tuple[str, ...]
    man_pages: tuple[str, ...]


def read(root: pathlib.Path, version: str) -> Facts:
    """Read them.

    :param root: of the source
    :param version: of the package
    :raises: PackageError for what is not understood
    """
    config = configparser.ConfigParser(interpolation=None, delimiters=('=',))
    config.optionxform = str
    config.read_string((root / 'setup.cfg').read_text())
    metadata = config['metadata']
    readme = root / metadata['description_file'].strip()
    return Facts(
        name=metadata['name'],
        version=version,
        summary=metadata['summary'],
        description=introduction(readme.read_text()),
        author=metadata['author'],
        license=metadata['license'],
        python=metadata['python_requires'].removeprefix('>='),
        requires=requirements((root / 'requirements.txt').read_text()),
        extras={
            name: requirements(text) for name, text in config['extras'].items()
        },
        commands=tuple(
            line.partition('=')[0].strip()
            for line in lines(config['entry_points']['console_scripts'])
        ),
        man_pages=man_pages((root / 'doc/source/conf.py').read_text()),
    )


def man_pages(conf: str) -> tuple[str, ...]:
    """Return the man pages that Sphinx makes.

    :param conf: its configuration, which is not run: it imports Sphinx
    :raises: PackageError if it does not list them
    """
    for node in ast.parse(conf).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == 'man_pages':
            return tuple(
                '%s.%s' % (page[1], page[4])
                for page in ast.literal_eval(node.value)
            )
    raise PackageError('the configuration of Sphinx has no man_pages')


def lines(text: str) -> list[str]:
    """Return what is in lines, without comments and empty ones.

    :param text: of a file or of an option
    """
    stripped = (line.partition('#')[0].strip() for line in text.splitlines())
    return [line for line in stripped if line]


def requirements(text: str) -> tuple[Requirement, ...]:
    """Return the requirements in a text.

    :param text: of a file or of an extra
    :raises: PackageError for a line that is not understood
    """
    found = []
    for line in lines(text):
        match = REQUIREMENT.fullmatch(line)
        if match is None:
            raise PackageError('the requirement "%s" is not understood' % line)
        found.append(Requirement(match[1], tuple(BOUND.findall(match[2]))))
    return tuple(found)


def introduction(readme: str) -> tuple[str, ...]:
    """Return what a README says before its first section, in paragraphs.

    :param readme: reStructuredText with one title
    """
    paragraphs = []
    for paragraph in readme.strip().split('\n\n'):
        if re.search(r'^([=-])\1{3,}$', paragraph, re.MULTILINE):
            if paragraphs:
                break
            continue
        paragraphs.append(' '.join(paragraph.split()).replace('``', ''))
    return tuple(paragraphs)
