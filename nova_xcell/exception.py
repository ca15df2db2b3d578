# SPDX-License-Identifier: Apache-2.0
"""Errors of the plug-ins; all have one root."""

import typing as ty


class XcellError(Exception):
    """Root of every error this package raises on its own account.

    :param kwargs: values for the placeholders of ``msg_fmt``
    """

    msg_fmt = 'An unknown nova-xcell error occurred.'

    def __init__(self, **kwargs: object) -> None:
        super().__init__(self.msg_fmt % kwargs)


class HostNotInstalled(XcellError):
    msg_fmt = (
        '%(distribution)s is not installed beside nova-xcell; install '
        'one of the releases %(supported)s, or remove the xcell '
        'config_source from the configuration.'
    )


class UnsupportedHost(XcellError):
    msg_fmt = (
        '%(distribution)s %(version)s is not supported, this '
        'nova-xcell knows the releases %(supported)s; install a '
        'nova-xcell made for this release, or remove the xcell '
        'config_source from the configuration.'
    )


class UnknownFeature(XcellError):
    msg_fmt = (
        'unknown feature %(name)r in [xcell] features; known are: %(known)s.'
    )


class FeatureNotForRelease(XcellError):
    msg_fmt = (
        'feature %(name)r cannot be carried by %(distribution)s '
        '%(version)s, it needs one of the releases %(supported)s; '
        'take it out of [xcell] features.'
    )


class UnknownOption(XcellError):
    msg_fmt = (
        'unknown option %(name)r (%(where)s); the options of [xcell] '
        'are: %(known)s.'
    )


class InvalidOption(XcellError):
    msg_fmt = 'option %(name)s in [xcell] is not valid: %(reason)s'


class InvalidCellWeight(XcellError):
    msg_fmt = (
        '%(item)r is not a cell weight: %(reason)s. Write '
        'CELL:WEIGHT, with the name or uuid of a cell and "preferred", '
        '"draining" or a finite number.'
    )


class SeamChanged(XcellError):
    msg_fmt = (
        '%(path)s of this host is not what nova-xcell relies on '
        '(%(reason)s); nothing was armed. Install a nova-xcell made '
        'for this host, or remove the xcell config_source.'
    )


class PluginNotLoaded(XcellError):
    msg_fmt = (
        'plug-in %(name)r of the namespace %(namespace)r could not be '
        'loaded (%(reason)s); reinstall nova-xcell.'
    )


class PreparationAbandoned(XcellError):
    msg_fmt = 'migration %(migration)s does not wait for this host any more'


class WorkRefused(XcellError):
    msg_fmt = (
        'nobody waits for %(operation)s of migration %(migration)s any more'
    )


class OutcomeUnknown(XcellError):
    msg_fmt = (
        'host %(host)s has not answered, and does not tell how %(operation)s '
        'ended; it is looked at again when the host is back'
    )


class HostDown(XcellError):
    msg_fmt = (
        'the nova-compute service of host %(host)s is down; %(operation)s was '
        'not asked for'
    )


class RemoteWorkFailed(XcellError):
    msg_fmt = (
        '%(operation)s did not succeed on host %(host)s (%(state)s), and the '
        'answer was lost; see the log of nova-compute there'
    )


class RemoteWorkRefused(RemoteWorkFailed):
    msg_fmt = (
        '%(operation)s was not begun on host %(host)s, or died with it, and '
        'will not be unless it is asked for again'
    )


class MoveWaits(XcellError):
    msg_fmt = 'the move of %(server)s cannot go on: %(reason)s'


class HistoryChanged(XcellError):
    msg_fmt = (
        'the actions of server %(server)s changed while they were copied; '
        'nothing was written, try again.'
    )


class RecordInTheWay(XcellError):
    msg_fmt = (
        'cell %(cell)s has %(what)s of server %(server)s already; nothing '
        'was changed: %(todo)s.'
    )


class PeerWithoutPlugin(XcellError):
    msg_fmt = 'the compute service on %(host)s does not carry nova-xcell'


def one_line(exc: BaseException) -> str:
    """Return the message of any error on one line.

    :param exc: the error
    """
    return ' '.join(str(exc).split()) or type(exc).__name__


def shown(error: object) -> str:
    """Return what the owner of a server may read of an error.

    As in the faults of the host: the words of its own errors and of ours, and
    of any other only the name. What a library says may have addresses, paths
    or commands in it; the log has it.

    :param error: the error, also one that came over RPC, or a text
    """
    if not isinstance(error, BaseException):
        return str(error)
    if hasattr(error, 'exc_type'):
        # oslo_messaging.RemoteError
        return str(error.exc_type)
    if hasattr(error, 'format_message'):
        text = reason_in(error)
    elif isinstance(error, XcellError):
        text = str(error)
    else:
        return type(error).__name__.removesuffix('_Remote')
    if isinstance(text, BaseException):
        # An error that is the reason of another one.
        return shown(text)
    return without_traceback(str(text))


def reason_in(error: ty.Any) -> object:
    """Return the reason in an error of the host.

    Many say "reason" in words of their own, and those would come again for
    each host.

    :param error: a nova.exception.NovaException
    """
    return getattr(error, 'kwargs', {}).get('reason') or error.format_message()


def without_traceback(text: str) -> str:
    """Return the text of an error without the traceback of another service.

    :param text: that of an error that came over RPC ends in one
    """
    return text.strip().split('\nTraceback ', 1)[0].strip()
