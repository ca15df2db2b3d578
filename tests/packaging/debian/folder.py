# SPDX-License-Identifier: Apache-2.0
"""The folder ``debian/``: text from facts, nothing is run."""

from __future__ import annotations

import re
import textwrap

from tests.packaging.debian.errors import PackageError
from tests.packaging.debian.facts import Facts
from tests.packaging.debian.facts import Requirement

#: Debian names a module's package after the distribution, but for these.
NAMES = {
    'PyYAML': 'yaml',
    'libvirt-python': 'libvirt',
    'openstack-placement': 'placement',
}
#: Debian's versions of these begin with an epoch, which a bound has to have.
EPOCHS = {'nova': 2, 'oslo.config': 1}
OPERATORS = {'>=': '>=', '<=': '<=', '==': '=', '<': '<<', '>': '>>'}

#: What makes the man pages. Debian 12 has an older Sphinx than
#: doc/requirements.txt asks for, which is good enough for these.
DOCUMENTATION = ('python3-openstackdocstheme', 'python3-sphinx')
#: What the unit tests need beside the package itself.
TESTS = ('python3-ddt', 'python3-hypothesis', 'python3-stestr')

EMAIL = 'nova-xcell@example.org'

RULES = """\
#!/usr/bin/make -f
include /usr/share/dpkg/pkg-info.mk

# pbr would ask git; Debian has a tilde where Python has nothing or a dot.
export PBR_VERSION = $(subst ~,,$(subst ~dev,.dev,$(DEB_VERSION_UPSTREAM)))
export PYBUILD_SYSTEM = distutils
PACKAGE = $(CURDIR)/debian/{package}
INSTALLED = PYTHONPATH=$(PACKAGE)/usr/lib/$(shell py3versions -d)/dist-packages

%:
\tdh $@ --with python3 --buildsystem pybuild

# Below, where the package is installed.
override_dh_auto_test:

execute_after_dh_auto_install:
\t$(INSTALLED) oslo-config-generator --config-file etc/config-generator.conf
\t$(INSTALLED) oslopolicy-sample-generator \\
\t\t--config-file etc/policy-generator.conf
\t$(INSTALLED) sphinx-build -q -b man -d debian/doctrees doc/source debian/man
ifeq (,$(filter nocheck,$(DEB_BUILD_OPTIONS)))
\tmkdir -p debian/unit
\tcp -r .stestr.conf doc tests debian/unit
\tcd debian/unit && $(INSTALLED) python3 -m stestr run --concurrency 1
\tfind $(PACKAGE) -name __pycache__ -exec rm -r {{}} +
endif
"""


def package(facts: Facts) -> str:
    """Return the name of the binary package.

    :param facts: of the source
    """
    return 'python3-%s' % facts.name


def debian_version(version: str) -> str:
    """Return a version of Python the way Debian sorts it.

    :param version: for example 1.0.0rc1 or 1.0.1.dev3
    """
    return re.sub(r'(?<=\d)\.?(a|b|rc|dev)(?=\d)', r'~\1', version)


def relations(requirement: Requirement) -> list[str]:
    """Return the relations to packages that stand for a requirement.

    :param requirement: of the source
    """
    name = 'python3-%s' % NAMES.get(
        requirement.name, requirement.name.lower().replace('_', '-')
    )
    epoch = EPOCHS.get(requirement.name)
    bounds = [
        '%s (%s %s%s)'
        % (
            name,
            OPERATORS[operator],
            '' if epoch is None else '%d:' % epoch,
            version,
        )
        for operator, version in requirement.bounds
        if operator in OPERATORS
    ]
    return bounds or [name]


def files(facts: Facts, date: str) -> dict[str, str]:
    """Return the content of ``debian/``, by path in it.

    :param facts: of the source
    :param date: of the change log, as mail has it
    """
    name = package(facts)
    return {
        'changelog': changelog(facts, date),
        'clean': 'debian/doctrees/\ndebian/man/\ndebian/unit/\netc/*.sample\n',
        'control': control(facts),
        'copyright': copyright(facts),
        'rules': RULES.format(package=name),
        'source/format': '3.0 (quilt)\n',
        '%s.docs' % name: 'README.rst\n',
        '%s.examples' % name: 'etc/*.sample\n',
        '%s.manpages' % name: ''.join(
            'debian/man/%s\n' % page for page in facts.man_pages
        ),
    }


def changelog(facts: Facts, date: str) -> str:
    """Return the change log, with one entry.

    :param facts: of the source
    :param date: as mail has it
    """
    return '%s (%s-1) unstable; urgency=medium\n\n  * %s\n\n -- %s  %s\n' % (
        facts.name,
        debian_version(facts.version),
        'Built from the source.',
        maintainer(facts),
        date,
    )


def maintainer(facts: Facts) -> str:
    """Return who made it, with the address that Debian asks for.

    :param facts: of the source
    """
    return '%s <%s>' % (facts.author, EMAIL)


def control(facts: Facts) -> str:
    """Return the two paragraphs of ``debian/control``.

    Nothing depends on the host, and nothing breaks one that is not supported:
    apt would remove this package when it upgrades the host, and services whose
    configuration names it would start plain.

    :param facts: of the source
    """
    runtime = [
        relation
        for requirement in facts.requires
        for relation in relations(requirement)
    ]
    host = [
        relation
        for requirements in facts.extras.values()
        for requirement in requirements
        for relation in relations(requirement)[:1]
    ]
    build = [
        relation
        for requirement in facts.requires
        if requirement.name == 'pbr'
        for relation in relations(requirement)
    ]
    fields = [
        ('Source', facts.name),
        ('Section', 'python'),
        ('Priority', 'optional'),
        ('Maintainer', maintainer(facts)),
        (
            'Build-Depends',
            [
                'debhelper-compat (= 13)',
                'dh-python',
                'python3-all',
                *build,
                'python3-setuptools',
            ],
        ),
        (
            'Build-Depends-Indep',
            [
                *runtime,
                *DOCUMENTATION,
                *('%s <!nocheck>' % name for name in TESTS),
            ],
        ),
        ('Standards-Version', '4.6.2'),
        ('Rules-Requires-Root', 'no'),
        ('X-Python3-Version', '>= %s' % facts.python),
        None,
        ('Package', package(facts)),
        ('Architecture', 'all'),
        ('Depends', ['${misc:Depends}', '${python3:Depends}', *runtime]),
        ('Suggests', host),
        ('Description', description(facts)),
    ]
    return ''.join(
        '\n' if field is None else spell(*field) for field in fields
    )


def spell(field: str, value: str | list[str]) -> str:
    """Return a field of a control file.

    :param field: its name
    :param value: text, or relations
    """
    if isinstance(value, str):
        return '%s: %s\n' % (field, value)
    return '%s:\n%s' % (field, ''.join(' %s,\n' % item for item in value))


def description(facts: Facts) -> str:
    """Return the value of the field Description.

    :param facts: of the source
    """
    paragraphs = [
        textwrap.indent(textwrap.fill(paragraph, 77), ' ')
        for paragraph in facts.description
    ]
    return '%s\n%s' % (facts.summary, '\n .\n'.join(paragraphs))


def copyright(facts: Facts) -> str:
    """Return ``debian/copyright``, for a program that Debian can read.

    :param facts: of the source
    :raises: PackageError for a license whose text is not known here
    """
    if facts.license != 'Apache-2.0':
        raise PackageError('debian/copyright knows Apache-2.0 only')
    return (
        'Format: https://www.debian.org/doc/packaging-manuals/'
        'copyright-format/1.0/\n'
        'Upstream-Name: %s\n\n'
        'Files: *\n'
        'Copyright: %s\n'
        'License: %s\n'
        ' On Debian systems, the full text of the Apache License, version '
        '2.0, is in\n /usr/share/common-licenses/Apache-2.0.\n'
        % (facts.name, facts.author, facts.license)
    )
