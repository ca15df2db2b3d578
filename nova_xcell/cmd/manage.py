# SPDX-License-Identifier: Apache-2.0
"""``nova-xcell-manage``: look at and mend what moves have left."""

from __future__ import annotations

import logging
import sys

from cliff import app
from cliff import commandmanager
import pbr.version

from nova_xcell.cmd import described
from nova_xcell.cmd import exits
from nova_xcell.cmd import messages

#: Where the commands are found.
NAMESPACE = 'nova_xcell.manage'

#: What of the log is shown on standard error: with -q, without -v, and with
#: one or more of it. An error has its own line there in any case.
_LEVELS = (
    logging.CRITICAL,
    logging.CRITICAL,
    logging.WARNING,
    logging.INFO,
    logging.DEBUG,
)


class Commands(commandmanager.CommandManager):
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


class _OneLine(logging.Formatter):
    """Says of an error what there is to say on one line."""

    def format(self, record):
        """Return the line, and the traceback if one is wanted.

        :param record: of what has happened
        """
        if isinstance(record.msg, BaseException):
            text = messages.explain(record.msg)
        else:
            text = messages.line(record.getMessage())
        if record.exc_info:
            text += '\n' + messages.masked(
                self.formatException(record.exc_info)
            )
        return '%s: %s' % (described.PROGRAM, text)


class Manage(app.App):
    """The command; reads the configuration of a conductor."""

    NAME = described.PROGRAM
    #: Of errors. What services would log is the business of oslo.log.
    LOG = logging.getLogger('nova_xcell.errors')

    def __init__(self) -> None:
        super().__init__(
            description='Look at and mend what nova-xcell looks after. Runs '
            'where the API database can be reached, with the configuration '
            'of nova-conductor.',
            version=pbr.version.VersionInfo('nova-xcell').version_string(),
            command_manager=Commands(NAMESPACE),
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
            description,
            version,
            {
                'prog': described.PROGRAM,
                'epilog': '\n\n'.join(
                    (
                        described.examples_of(
                            'cross-cell audit',
                            '--config-file /etc/nova/nova.conf cross-cell '
                            'audit -f json',
                            'help cross-cell heal',
                        ),
                        described.exit_codes(),
                    )
                ),
                **(argparse_kwargs or {}),
            },
        )
        described.keep_paragraphs(parser)
        for option, default in (
            ('--config-file', 'nova.conf in ~/.nova, ~, /etc/nova and /etc'),
            ('--config-dir', 'nova.conf.d in the same places'),
        ):
            parser.add_argument(
                option,
                action='append',
                default=[],
                metavar='PATH',
                help='as for the commands of Nova; may be repeated; if not '
                'given, ' + default,
            )
        return parser

    def configure_logging(self):
        """Let errors go to standard error, whatever the configuration says."""
        handler = logging.StreamHandler(self.stderr)
        handler.setFormatter(_OneLine())
        self.LOG.handlers = [handler]
        self.LOG.propagate = False

    def initialize_app(self, argv):
        """Read the configuration.

        :param argv: words behind the global options
        """
        if self.options.deferred_help:
            return
        self._check_command(argv)
        if argv[0] not in ('help', 'complete'):
            # Imported late: help has to work without Nova's files.
            from nova_xcell.cmd import configuration

            configuration.read(
                described.PROGRAM, self._host_options(), self._level()
            )

    def _check_command(self, argv: list[str]) -> None:
        if not argv:
            self.parser.error(
                'name a command; "%s help" lists them' % self.NAME
            )
        try:
            self.command_manager.find_command(argv)
        except ValueError:
            self.parser.error(
                '%r is not a command; did you mean: %s?'
                % (' '.join(argv), ', '.join(self.get_fuzzy_matches(argv[0])))
            )

    def _host_options(self) -> list[str]:
        """Return what of the command line is for the host as well."""
        words = ['--debug'] if self._level() == logging.DEBUG else []
        for name, paths in (
            ('--config-file', self.options.config_file),
            ('--config-dir', self.options.config_dir),
            ('--log-file', filter(None, [self.options.log_file])),
        ):
            for path in paths:
                words += [name, path]
        return words

    def _level(self) -> int:
        if self.options.debug:
            return logging.DEBUG
        return _LEVELS[min(self.options.verbose_level, len(_LEVELS) - 1)]

    def run(self, argv):
        """Run a command.

        :param argv: words
        :returns: the exit code
        """
        try:
            return super().run(argv)
        except Exception:
            # With --debug, and logged with its traceback already.
            return exits.Exit.FAILED


def main(argv: list[str] | None = None) -> int:
    """Run ``nova-xcell-manage``.

    :param argv: words; those of the process if None
    :returns: the exit code
    """
    return exits.program(
        lambda: Manage().run(sys.argv[1:] if argv is None else argv)
    )


if __name__ == '__main__':
    sys.exit(main())
