# SPDX-License-Identifier: Apache-2.0
"""Have Cinder write an image to a volume, and learn how that ended (VR-07).

Cinder sends an event when it has finished, but none when it has failed, and
one can get lost. So the volume itself is looked at as well.
"""

from __future__ import annotations

import time

from cinderclient import exceptions as cinder_exception
from oslo_log import log as logging

from nova import exception as nova_exception
from nova import objects
import nova.conf
from nova.i18n import _

from nova_xcell import action_events
from nova_xcell import exception
from nova_xcell.rebuild import outcomes
from nova_xcell.rebuild import refusals

CONF = nova.conf.CONF
LOG = logging.getLogger(__name__)

#: Event in the action of the rebuild; the last one says how it ended.
EVENT = 'xcell_reimage_volume'


class ReimageRefused(nova_exception.NovaException):
    """Nothing was written."""

    msg_fmt = _('Volume %(volume_id)s was not overwritten: %(reason)s')


class ReimageFailed(nova_exception.BuildAbortException):
    """Nobody knows what is on the volume.

    The host expects its base class of a rebuild.
    """

    msg_fmt = _(
        'The image was not written to volume %(volume_id)s: %(reason)s'
    )


def _timeout_error() -> type[BaseException]:
    try:
        return nova_exception.InstanceEventTimeout
    except AttributeError:
        # Nova 31.
        from eventlet import timeout

        return timeout.Timeout


#: What the host raises if an event does not come.
EVENT_TIMEOUT = _timeout_error()


def _code(error: Exception) -> int | None:
    """Return the HTTP status that Cinder has answered with.

    :param error: what the host's client raises
    :returns: None if no answer has come
    """
    if isinstance(error, nova_exception.CinderConnectionFailed):
        return None
    if isinstance(
        error, nova_exception.NovaException | cinder_exception.ClientException
    ):
        return error.code
    return None


def _shown(error: Exception) -> str:
    """Return what the owner of a server may read of an error.

    :param error: what the host's client raises; what Cinder answers is meant
        for users of its API
    """
    if isinstance(error, cinder_exception.ClientException):
        return str(error)
    return exception.shown(error)


class Reimage:
    """One image that is written to one volume.

    :param context: auth context
    :param instance: the server
    :param volume: the volume, as the host gets it from Cinder
    :param image_id: the image
    :param virtapi: nova.compute.manager.ComputeVirtAPI
    :param volume_api: nova.volume.cinder.API
    """

    def __init__(
        self,
        context,
        instance: objects.Instance,
        volume: dict,
        image_id: str,
        virtapi,
        volume_api,
    ) -> None:
        self._context = context
        self._instance = instance
        self._volume_id = volume['id']
        self._timeout = outcomes.timeout(
            CONF.reimage_timeout_per_gb, volume.get('size')
        )
        self._image_before = refusals.image_of(volume)
        self._image_id = image_id
        self._virtapi = virtapi
        self._volume_api = volume_api
        #: Whether a step has found out that it is done.
        self._is_settled = False

    def run(self) -> None:
        """Ask for it, and wait until it is done.

        :raises: :class:`ReimageRefused`
        :raises: :class:`ReimageFailed`
        """
        try:
            self._run()
        except (ReimageRefused, ReimageFailed) as exc:
            self._record(exc.format_message(), 'Error')
            raise
        self._record(
            _('Volume %(volume)s has image %(image)s.')
            % {'volume': self._volume_id, 'image': self._image_id}
        )

    def _run(self) -> None:
        deadline = time.monotonic() + self._timeout
        step = self._ask
        looks = 0
        while True:
            left = max(0.0, deadline - time.monotonic())
            wait = min(outcomes.interval(looks), left)
            try:
                self._wait(step, wait)
            except EVENT_TIMEOUT:
                pass
            else:
                if not self._is_stale_event():
                    return
            if wait == left:
                self._look(is_last=True)
                return
            step = self._look
            looks += 1

    def _wait(self, step, seconds: float) -> None:
        """Do a step, and wait for the event unless that has settled it.

        The event is waited for before the step begins: what comes in between
        two waits shows in the volume.
        """
        events = [('volume-reimaged', self._volume_id)]
        self._is_settled = False
        error = None
        try:
            with self._virtapi.wait_for_instance_event(
                self._instance, events, seconds, self._on_failed_event
            ):
                try:
                    self._is_settled = step()
                except Exception as exc:
                    error = exc
                if self._is_settled or error:
                    # Leaves no event that is waited for.
                    self._virtapi.exit_wait_early(events)
        except (Exception, EVENT_TIMEOUT):
            if not self._is_settled and not error:
                raise
        if error:
            raise error

    def _ask(self) -> bool:
        try:
            self._volume_api.reimage_volume(
                self._context,
                self._volume_id,
                self._image_id,
                reimage_reserved=True,
            )
        except Exception as exc:
            became = self._after(exc)
            LOG.info(
                'Cinder was asked to reimage volume %s: %s; %s.',
                self._volume_id,
                exc,
                became.value,
                instance=self._instance,
            )
            if became is outcomes.Progress.REFUSED:
                raise ReimageRefused(
                    volume_id=self._volume_id, reason=_shown(exc)
                )
            if became is outcomes.Progress.UNKNOWN:
                raise ReimageFailed(
                    volume_id=self._volume_id, reason=_shown(exc)
                )
            if became is outcomes.Progress.DONE:
                return True
        self._record(
            _(
                'Cinder writes image %(image)s to volume %(volume)s; it has '
                '%(time)d seconds.'
            )
            % {
                'image': self._image_id,
                'volume': self._volume_id,
                'time': self._timeout,
            }
        )
        return False

    def _after(self, error: Exception) -> outcomes.Progress:
        volume = self._volume() or {}
        return outcomes.after_error(
            volume.get('status'),
            _code(error),
            refusals.image_of(volume),
            self._image_id,
            self._image_before,
        )

    def _is_stale_event(self) -> bool:
        """Tell whether an event came of which the volume knows nothing."""
        if self._is_settled:
            return False
        status = self._status()
        found = outcomes.after_event(status)
        if found is outcomes.Progress.FAILED:
            raise self._failed(status)
        return found is outcomes.Progress.RUNNING

    def _look(self, is_last: bool = False) -> bool:
        volume = self._volume()
        if volume is None:
            found, status = outcomes.Progress.UNKNOWN, 'unknown'
        else:
            status = volume['status']
            found = outcomes.progress(
                status, refusals.image_of(volume), self._image_id
            )
        if found is outcomes.Progress.DONE:
            LOG.info(
                'Volume %s has the image; no event has told so.',
                self._volume_id,
                instance=self._instance,
            )
            return True
        if found is outcomes.Progress.FAILED:
            raise self._failed(status)
        if is_last:
            raise ReimageFailed(
                volume_id=self._volume_id,
                reason=_('it is in status %(status)s after %(time)d seconds')
                % {'status': status, 'time': self._timeout},
            )
        return False

    def _failed(self, status: str | None) -> ReimageFailed:
        return ReimageFailed(
            volume_id=self._volume_id, reason=_('it is in status %s') % status
        )

    def _status(self) -> str | None:
        volume = self._volume()
        return volume and volume['status']

    def _volume(self) -> dict | None:
        try:
            return self._volume_api.get(self._context, self._volume_id)
        except Exception:
            LOG.warning(
                'Cinder does not tell about volume %s.',
                self._volume_id,
                instance=self._instance,
                exc_info=True,
            )
            return None

    def _record(self, details: str, result: str = 'Success') -> None:
        action_events.record(
            self._context, self._instance, EVENT, details, result
        )

    def _on_failed_event(self, event_name: str, instance) -> None:
        raise ReimageFailed(
            volume_id=self._volume_id,
            reason=_('Cinder has sent %s as failed') % event_name,
        )
