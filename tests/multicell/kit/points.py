# SPDX-License-Identifier: Apache-2.0
"""Named points: a function of a service, before it begins or after its end."""

from __future__ import annotations

import json
import pathlib

from tests.multicell import layout as lay
from tests.multicell.cloud import Cloud
from tests.multicell.waiting import wait_until

#: Its ``sitecustomize`` does the work in the service.
HOOK = lay.HERE / 'points'


class Point:
    """A point that a service is to reach.

    :param cloud: the cloud
    :param service: name of the service in the table of services
    :param where: ``module:function`` or ``module:Class.method``
    :param when: ``before`` or ``after`` that function
    """

    def __init__(
        self, cloud: Cloud, service: str, where: str, when: str = 'before'
    ) -> None:
        self.cloud = cloud
        self.service = service
        self.where = where
        self.when = when
        self._marker: pathlib.Path = cloud.layout.faults / f'point-{service}'

    def environment(self, action: str) -> dict[str, str]:
        """Return what the service needs in its environment.

        :param action: ``kill`` or ``hold``
        """
        module, name = self.where.split(':')
        self._marker.unlink(missing_ok=True)
        return {
            'PYTHONPATH': str(HOOK),
            'MULTICELL_POINT': json.dumps(
                {
                    'module': module,
                    'name': name,
                    'when': self.when,
                    'action': action,
                    'marker': str(self._marker),
                }
            ),
        }

    def wait(self, limit: float = 120) -> None:
        """Wait until the service has reached the point.

        :param limit: seconds
        :raises: MulticellError
        """
        wait_until(
            self._marker.exists,
            f'{self.service} is {self.when} {self.where}',
            limit,
        )

    def release(self) -> None:
        """Let the service go on, if it is held there."""
        self._marker.unlink(missing_ok=True)
