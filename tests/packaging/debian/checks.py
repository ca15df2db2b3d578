# SPDX-License-Identifier: Apache-2.0
"""What the installed package has to have, and has to leave."""

from __future__ import annotations

from collections.abc import Iterator
import gzip
import json
import pathlib
import re

from tests.packaging import tree
from tests.packaging.debian import folder as debian_folder
from tests.packaging.debian.build import Build
from tests.packaging.debian.errors import PackageError
from tests.packaging.debian.places import Layer

MODULES = '/usr/lib/python3/dist-packages/'
#: Prints what the samples have to have.
DECLARED = """
import json
from nova_xcell import conf, policies
print(json.dumps({
    'nova-xcell.conf.sample': [
        '#%s = ' % option.dest
        for _group, options in conf.list_opts() for option in options],
    'policy.yaml.sample': [
        '"%s": ' % rule.name for rule in policies.list_rules()],
}))
"""
#: Asks for help on every command, in one process.
HELP = """
from nova_xcell.cmd import manage
for name in manage.Manage().command_manager.commands:
    assert manage.main(['help', *name.split()]) == 0, name
    print('helped with', name)
"""


def expect(holds: bool, problem: str) -> None:
    """Complain if something does not hold.

    :param holds: whether it does
    :param problem: what is wrong if not
    :raises: PackageError
    """
    if not holds:
        raise PackageError(problem)


class Checks:
    """Installs the package, looks at it and removes it, step by step.

    :param build: that has made it
    :param package: it
    """

    def __init__(self, build: Build, package: pathlib.Path) -> None:
        self.layer: Layer = build.place
        self.facts = build.facts
        self.package = package
        self.name = debian_folder.package(build.facts)
        #: What there was before it was installed.
        self.before: dict[str, int] = {}

    def steps(self) -> Iterator[str]:
        """Return the names of the steps, in order."""
        for name in vars(type(self)):
            if name.startswith('step_'):
                yield name.removeprefix('step_')

    def run(self, name: str) -> None:
        """Do a step.

        :param name: of the step
        :raises: PackageError
        """
        getattr(self, 'step_%s' % name)()

    def _field(self, name: str) -> str:
        return self.layer.run('dpkg-deb', '-f', str(self.package), name)

    def step_relations(self) -> None:
        """It needs what requirements.txt has, and no host."""
        depends = self._field('Depends')
        for requirement in self.facts.requires:
            for relation in debian_folder.relations(requirement):
                expect(relation in depends, '%s is missing' % relation)
        everything = depends + self._field('Recommends')
        for host in ('nova', 'nova-common', 'placement', 'placement-common'):
            for word in (host, 'python3-%s' % host):
                expect(
                    word not in everything.replace(',', ' ').split(),
                    'it pulls in %s' % word,
                )
        expect('python3-nova' in self._field('Suggests'), 'no Suggests')

    def step_install(self) -> None:
        """What only its build needs is away; what it needs is there."""
        self.layer.run(
            'apt-mark',
            'manual',
            *(
                debian_folder.relations(requirement)[0].partition(' ')[0]
                for requirement in self.facts.requires
            ),
        )
        self.layer.apt('autoremove')
        self.before = self.layer.installed_files()
        self.layer.apt('install', str(self.package))

    def step_files(self) -> None:
        """Every module, and nothing of the host's packages."""
        listed = set(self.layer.run('dpkg', '-L', self.name).splitlines())
        modules = {
            MODULES + str(path.relative_to(tree.ROOT))
            for path in (tree.ROOT / 'nova_xcell').rglob('*.py')
        }
        python = {path for path in listed if path.endswith('.py')}
        expect(
            python == modules,
            'modules: %s' % ', '.join(sorted(python ^ modules)),
        )
        for path in listed:
            if path.startswith(MODULES):
                top = path.removeprefix(MODULES).partition('/')[0]
                expect(
                    top == 'nova_xcell' or top.startswith('nova_xcell-'),
                    '%s is not ours' % path,
                )
        document = '/usr/share/doc/%s/' % self.name
        for path in (
            *('/usr/bin/%s' % name for name in self.facts.commands),
            *('/usr/share/man/man1/%s.gz' % n for n in self.facts.man_pages),
            '%scopyright' % document,
            '%schangelog.Debian.gz' % document,
            '%sexamples/nova-xcell.conf.sample' % document,
            '%sexamples/policy.yaml.sample' % document,
        ):
            expect(path in listed, '%s is missing' % path)

    def step_man_pages(self) -> None:
        """Each command has one, which begins as ``apropos`` wants it."""
        for name in self.facts.commands:
            path = self.layer.outside('/usr/share/man/man1/%s.1.gz' % name)
            text = gzip.decompress(path.read_bytes()).decode()
            begins = r'\n\.SH "?NAME"?\n%s - \w' % name
            expect(
                re.search(begins, text.replace('\\-', '-')) is not None,
                '%s does not begin with its name' % path.name,
            )

    def step_samples(self) -> None:
        """They have every option and every rule."""
        folder = '/usr/share/doc/%s/examples/' % self.name
        declared = json.loads(self.layer.run('python3', '-c', DECLARED))
        for sample, lines in declared.items():
            text = self.layer.outside(folder + sample).read_text()
            expect(bool(lines), 'nothing is declared')
            for line in lines:
                expect('\n#%s' % line.lstrip('#') in text, line)

    def step_commands(self) -> None:
        """They tell how to use them, without a host."""
        for name in self.facts.commands:
            said = self.layer.run(name, '--help')
            expect('usage: %s' % name in said, said)
        said = self.layer.run('python3', '-c', HELP)
        expect('helped with reshape plan\n' in said, said)

    def step_status(self) -> None:
        """It refuses by name, since no host is here."""
        config = self.layer.outside('/etc/nova-xcell-check.conf')
        config.write_text(
            '[DEFAULT]\nconfig_source = xcell\n[xcell]\ndriver = nova_xcell\n'
        )
        said = self.layer.run(
            'nova-xcell-status',
            '--config-file',
            '/etc/nova-xcell-check.conf',
            'upgrade',
            'check',
            code=2,
        )
        config.unlink()
        expect(
            'nova is not installed beside nova-xcell'
            in ' '.join(said.replace('|', ' ').split()),
            said,
        )

    def step_purge(self) -> None:
        """Nothing of it is left, also no byte code."""
        self.layer.apt('purge', self.name)
        after = self.layer.installed_files()
        changed = {
            path
            for path in self.before.keys() | after.keys()
            if self.before.get(path) != after.get(path)
        }
        expect(
            not changed,
            'removed with a trace: %s' % ', '.join(sorted(changed)),
        )
