# SPDX-License-Identifier: Apache-2.0
"""What all commands have: help with examples, and an exit code."""

from __future__ import annotations

import argparse
import textwrap
import typing as ty

from nova_xcell.cmd import exits

#: Name of the command that has all others.
PROGRAM = 'nova-xcell-manage'


class _Paragraphs:
    """Wraps paragraphs, and leaves those that are indented as they are."""

    def _fill_text(self, text, width, indent):
        fill = ty.cast(ty.Any, super())._fill_text
        return '\n\n'.join(
            textwrap.indent(paragraph.strip('\n'), indent)
            if paragraph.startswith(' ')
            else fill(paragraph.replace('::', ':'), width, indent)
            for paragraph in text.split('\n\n')
        )


def keep_paragraphs(parser: argparse.ArgumentParser) -> None:
    """Let help have the paragraphs of description and epilog.

    :param parser: of a command
    """
    parser.formatter_class = type(
        'HelpFormatter', (_Paragraphs, parser.formatter_class), {}
    )


def examples_of(*examples: str) -> str:
    """Return examples as help has them, and the documentation.

    :param examples: command lines without the name of the program
    """
    lines = ['Examples::' if len(examples) > 1 else 'Example::', '']
    lines += ['  %s %s' % (PROGRAM, example) for example in examples]
    return '\n'.join(lines)


def exit_codes() -> str:
    """Return exit codes as help has them."""
    lines = ['Exit codes::', '']
    for code, meaning in exits.MEANINGS.items():
        lines += textwrap.wrap(
            meaning,
            70,
            initial_indent='  %-4d ' % code,
            subsequent_indent=' ' * 7,
        )
    return '\n'.join(lines)


class Described:
    """Mixed into a command of cliff.

    :cvar examples: command lines without the name of the program
    :ivar code: the exit code
    """

    app: ty.Any
    examples: tuple[str, ...] = ()
    code = exits.Exit.OK

    def tell(self, code: exits.Exit) -> None:
        """Let the exit code say something as well.

        :param code: what it has to say
        """
        self.code = exits.worst(self.code, code)

    def run(self, parsed_args) -> int:
        """Run it.

        :param parsed_args: what was given
        :returns: the exit code
        """
        return ty.cast(ty.Any, super()).run(parsed_args) or self.code

    def get_epilog(self) -> str:
        """Return what stands at the end of help."""
        parts = [examples_of(*self.examples)]
        # The documentation, which has no application, says it once for all.
        if self.app is not None:
            parts.append(exit_codes())
        parts.append(ty.cast(ty.Any, super()).get_epilog())
        return '\n\n'.join(filter(None, parts))

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Return the parser.

        :param prog_name: of the command
        """
        parser = ty.cast(ty.Any, super()).get_parser(prog_name)
        keep_paragraphs(parser)
        return parser
