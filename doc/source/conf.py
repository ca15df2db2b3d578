# SPDX-License-Identifier: Apache-2.0
"""Configuration of Sphinx; run by ``tox -e docs``."""

import pathlib

from docutils import nodes
from docutils.parsers import rst

extensions = [
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


def setup(app) -> None:
    """Extend Sphinx."""
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
