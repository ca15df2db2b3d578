# SPDX-License-Identifier: Apache-2.0
"""Configuration of Sphinx; run by ``tox -e docs``."""

import fnmatch
import pathlib

from cliff import sphinxext
from docutils import nodes
from docutils.parsers import rst

from nova_xcell.cmd import manage

extensions = [
    'cliff.sphinxext',
    'openstackdocstheme',
    'oslo_config.sphinxext',
    'oslo_policy.sphinxext',
]

project = 'nova-xcell'
copyright = 'nova-xcell developers'
root_doc = 'index'

# The theme takes nothing from git: an unpacked release has none.
html_theme = 'openstackdocs'
html_theme_options = {'display_global_toc_section': False}
html_last_updated_fmt = None
openstackdocs_auto_name = False
openstackdocs_auto_version = False
openstackdocs_pdf_link = False
pygments_style = 'native'

# reno finds versions in the history of git, which an unpacked release has not.
HAS_HISTORY = (pathlib.Path(__file__).parents[2] / '.git').exists()
if HAS_HISTORY:
    extensions.append('reno.sphinxext')


class _ReleaseNotes(rst.Directive):
    """Stands in for reno's directive."""

    def run(self) -> list[nodes.Node]:
        """Return where the notes are."""
        return [
            nodes.paragraph(
                text='They are in the folder releasenotes/notes of the '
                'release, a file for each change.'
            )
        ]


autoprogram_cliff_application = 'nova-xcell-manage'
autoprogram_cliff_app_dist_name = 'nova-xcell'
# Options of cliff, which the page describes once for all commands.
autoprogram_cliff_ignored = [
    '--help', '--format', '--column', '--quote', '--noindent', '--max-width',
    '--fit-width', '--print-empty', '--sort-column', '--sort-ascending',
    '--sort-descending',
]  # fmt: skip


class _Commands(sphinxext.AutoprogramCliffDirective):
    """Knows the command that has underscores in its name."""

    def _load_commands(self):
        manager = manage.Commands(self.arguments[0])
        pattern = self.options.get('command', '*')
        if not manager.commands:
            raise self.error(
                'There is no command in %s; is nova-xcell installed beside '
                'Sphinx, and anew since the last command came?'
                % self.arguments[0]
            )
        return {
            name: self._load_command(manager, name)
            for name in fnmatch.filter(sorted(manager.commands), pattern)
        }


def setup(app) -> None:
    """Extend Sphinx.

    :param app: Sphinx
    """
    app.setup_extension('cliff.sphinxext')
    app.add_directive('autoprogram-cliff', _Commands, override=True)
    if not HAS_HISTORY:
        app.add_directive('release-notes', _ReleaseNotes)


man_pages = [
    (
        'cli/nova-xcell-status',
        'nova-xcell-status',
        'check an installation of nova-xcell',
        ['nova-xcell developers'],
        1,
    ),
    (
        'cli/nova-xcell-manage',
        'nova-xcell-manage',
        'look at and mend what moves to other cells have left',
        ['nova-xcell developers'],
        1,
    ),
]
