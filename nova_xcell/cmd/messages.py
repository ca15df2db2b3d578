# SPDX-License-Identifier: Apache-2.0
"""What a command says of an error: one line, and no secrets."""

from __future__ import annotations

import re

from oslo_utils import strutils

from nova_xcell import exception

#: What stands between the user's name and the host in a URL.
_CREDENTIALS = re.compile(r'(\w://[^\s:/?#@]*:)[^\s\'"]*@')

#: What SQLAlchemy appends.
_BACKGROUND = re.compile(r' *\(Background on this error at: \S+\)')

#: Errors that are to be expected, by the name of the class or of one it
#: derives from; the first one that fits counts. By name, since help and
#: documentation have to work without these packages.
_EXPECTED = {
    'nova_xcell.exception.XcellError': '%s',
    'oslo_db.exception.CantStartEngineError': '%s; the connection to the '
    'database is missing in the configuration or not valid, see '
    '[api_database] connection and --config-file',
    'oslo_db.exception.DBConnectionError': 'the database cannot be reached: '
    '%s',
    'oslo_db.exception.DBNonExistentTable': 'the database is not one of Nova, '
    'or of another release: %s',
    'oslo_db.exception.DBError': 'the database refuses: %s',
    'sqlalchemy.exc.ArgumentError': 'the connection to a database is not '
    'valid: %s',
    'sqlalchemy.exc.SQLAlchemyError': 'the database cannot be used: %s',
    'keystoneauth1.exceptions.auth_plugins.MissingAuthPlugin': '%s; how to '
    'log in to a service is missing in the configuration, see auth_type in '
    '[placement], [cinder] and [neutron]',
    'keystoneauth1.exceptions.base.ClientException': 'a service cannot be '
    'asked: %s',
    'cinderclient.exceptions.ClientException': 'Cinder refuses: %s',
    'oslo_messaging.exceptions.MessagingException': 'the message queue cannot '
    'be used: %s',
    'nova.exception.NovaException': '%s',
    'oslo_config.cfg.Error': 'the configuration is not valid: %s',
    'oslo_config.cfg.NoSuchOptError': 'the configuration is not valid: %s',
    'builtins.OSError': '%s',
}


def masked(text: str) -> str:
    """Return a text without the passwords in it.

    :param text: for the operator, of one line or several
    """
    return strutils.mask_password(_CREDENTIALS.sub(r'\1***@', text))


def line(text: str) -> str:
    """Return the first line of a text that says something, masked.

    SQLAlchemy appends the statement and a link.

    :param text: of an error
    """
    for each in _BACKGROUND.sub('', text).splitlines():
        if each.strip():
            return masked(' '.join(each.split()))
    return ''


def is_expected(error: BaseException) -> bool:
    """Tell whether an error needs no traceback to be understood.

    :param error: the error
    """
    return _pattern(error) is not None


def explain(error: BaseException) -> str:
    """Return what to tell of an error, on one line.

    :param error: the error
    """
    if isinstance(error, exception.XcellError):
        return line(exception.one_line(error))
    told = line(str(error)) or type(error).__name__
    pattern = _pattern(error)
    if pattern is None:
        return '%s: %s (this was not expected; --debug shows where)' % (
            type(error).__name__,
            told,
        )
    return pattern % told


def _pattern(error: BaseException) -> str | None:
    for base in type(error).__mro__:
        name = '%s.%s' % (base.__module__, base.__qualname__)
        if name in _EXPECTED:
            return _EXPECTED[name]
    return None
