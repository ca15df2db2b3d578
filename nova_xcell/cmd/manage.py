# SPDX-License-Identifier: Apache-2.0
"""``nova-xcell-manage``: look at and mend what moves have left."""

from __future__ import annotations

import sys

from cliff import app
from cliff import commandmanager
from oslo_log import log as logging
import pbr.version

#: Where the commands are found.
NAMESPACE = 'nova_xcell.manage'


class _Commands(commandmanager.CommandManager):
    """Finds the commands, one of which has underscores in its name."""

    def load_commands(self, namespace):
        """Find them.

        :param namespace: of the entry points
        """
        super().load_commands(namespace)
        # Named as the spec does; others have blanks instead.
        name = 'placement migrate_compute_inventory'
        found = self.commands.pop(name.replace('_', ' '), None)
        if found is not None:
            self.commands[name] = found


class Manage(app.App):
    """The command; reads the configuration of a conductor."""

    def __init__(self) -> None:
        super().__init__(
            description='Look at and mend what nova-xcell looks after. Runs '
            'where the API database can be reached, with the configuration '
            'of nova-conductor.',
            version=pbr.version.VersionInfo('nova-xcell').version_string(),
            command_manager=_Commands(NAMESPACE),
            deferred_help=True,
        )

    def build_option_parser(self, description, version, argparse_kwargs=None):
        """Add the options of the host's commands.

        :param description: of the command
        :param version: of the package
        :param argparse_kwargs: for the parser
        :returns: the parser
        """
        parser = super().build_option_parser(
            description, version, argparse_kwargs
        )
        for option in ('--config-file', '--config-dir'):
            parser.add_argument(
                option,
                action='append',
                default=[],
                metavar='PATH',
                help='as for the commands of Nova; may be repeated',
            )
        return parser

    def initialize_app(self, argv):
        """Read the configuration.

        :param argv: words behind the global options
        """
        if not argv or argv[0] in ('help', 'complete'):
            return
        arguments = ['nova-xcell-manage']
        for name in ('config_file', 'config_dir'):
            for path in getattr(self.options, name):
                arguments += ['--%s' % name.replace('_', '-'), path]
        # Here, and not above: help has to work without Nova's files.
        from nova import config
        from nova import objects
        import nova.conf

        from nova_xcell import conf as xcell_conf

        config.parse_args(arguments)
        xcell_conf.register_opts(nova.conf.CONF)
        logging.setup(nova.conf.CONF, 'nova')
        objects.register_all()


def main(argv: list[str] | None = None) -> int:
    """Run ``nova-xcell-manage``.

    :param argv: words; those of the process if None
    :returns: the exit code
    """
    return Manage().run(sys.argv[1:] if argv is None else argv)


if __name__ == '__main__':
    sys.exit(main())
