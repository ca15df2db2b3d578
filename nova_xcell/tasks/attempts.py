# SPDX-License-Identifier: Apache-2.0
"""The destination hosts a move has tried: pure, no host imports."""

import oslo_messaging as messaging

from nova_xcell import exception


class Attempts:
    """Remembers which host refused a server, and why."""

    def __init__(self) -> None:
        self._reasons: list[tuple[str, str]] = []

    def failed(self, host: str, reason: object) -> None:
        """Note that a host is out.

        :param host: name of the compute host
        :param reason: the error or a text
        """
        self._reasons.append((host, exception.shown(reason)))

    def summary(self, conclusion: str) -> str:
        """Return all reasons in one text, for fault and event.

        :param conclusion: what follows from them, a sentence without period
        """
        reasons = '; '.join(
            '%s: %s' % (host, reason.rstrip('. '))
            for host, reason in self._reasons
        )
        return '%s. Tried: %s.' % (conclusion, reasons)


def reason_of(error: object) -> str:
    """Return the reason in an error for the log, and all of it.

    :param error: an error, also one that came over RPC: its text ends in the
        traceback of the other side. What the owner of the server may read of
        it is in :func:`nova_xcell.exception.shown`
    """
    if isinstance(error, messaging.RemoteError):
        text = '%s: %s' % (error.exc_type, error.value)
    elif hasattr(error, 'format_message'):
        text = exception.reason_in(error)
    else:
        text = str(error) or type(error).__name__
    return exception.without_traceback(str(text))


def outcome_unknown(exc: BaseException | None) -> bool:
    """Tell whether an error leaves open what the remote side did.

    :param exc: what came out of a remote call. The host's tasks turn a
        timeout into an error of their own, so the errors that it was raised
        from are looked at too.
    :returns: True after a timeout or a lost message, False if the remote side
        answered or was never asked
    """
    seen: set[int] = set()
    while exc is not None and id(exc) not in seen:
        if isinstance(exc, messaging.RemoteError):
            return False
        if isinstance(exc, messaging.MessagingException):
            return True
        seen.add(id(exc))
        exc = exc.__cause__ or exc.__context__
    return False
