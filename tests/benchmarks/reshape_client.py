# SPDX-License-Identifier: Apache-2.0
"""What reading and planning a reshape takes, beside POST /reshaper itself.

``python -m tests.benchmarks.reshape_client`` does what ``nova-xcell-manage
reshape`` does to a host with many servers, with Placement in the same process.
The request that it then sends is measured with the host's handler and with
ours.
"""

from __future__ import annotations

import argparse
import pathlib
import tempfile
import time

from tests import switch

switch.start()

from nova_xcell.reshaper import client  # noqa: E402
from nova_xcell.reshaper import direct  # noqa: E402
from nova_xcell.reshaper import placement  # noqa: E402
from nova_xcell.reshaper import rules  # noqa: E402
from tests.benchmarks import reshape_case  # noqa: E402
from tests.embedded import placement_api  # noqa: E402

CONSUMERS = (100, 1000, 3000)

RULES = {
    'vgpu': """
version: 1
rules:
- move:
    resource_class: VGPU
    to: {count: 4, name: '{node}_gpu{index}'}
""",
    'numa': """
version: 1
rules:
- split:
    resource_classes: [VCPU, MEMORY_MB]
    to: {count: 2, name: '{node}_numa{index}'}
""",
}

_FORMAT = '%-5s %6s %9s %11s %8s %9s %9s %7s'


class _Timed(direct.Direct):
    """Knows how long POST /reshaper took."""

    def request(self, url: str, *args, **kwargs) -> direct.Response:
        """Ask Placement, see the class it is of."""
        began = time.perf_counter()
        answer = super().request(url, *args, **kwargs)
        if url == '/reshaper':
            self.handler = time.perf_counter() - began
        return answer


def measure(
    application: placement_api.Application,
    database: placement_api.Database,
    case: reshape_case.Case,
) -> tuple[int, int, float, float]:
    """Reshape the host of a case.

    :param application: Placement's, plain or with ours
    :param database: what it works with
    :param case: its contents
    :returns: requests and statements that come before POST /reshaper; seconds
        that they and the plan took; seconds of POST /reshaper
    """
    database.fill(case.tables)
    adapter = _Timed(application.app)
    asked = placement.Placement(adapter)
    reshaping = client.Client(asked)
    wanted = rules.parse(RULES[case.name])
    root = case.root['uuid']
    with application.armed(), database.used():
        with placement_api.statements(database.engine) as statements:
            began = time.perf_counter()
            reshaping.plan(root, wanted)
            planned = time.perf_counter() - began
            requests, sent = asked.requests, len(statements)
        plan = reshaping.apply(root, wanted, lambda record: None)
    if plan.problems:
        raise RuntimeError(plan.problems)
    return requests, sent, planned, adapter.handler


def main() -> None:
    parser = argparse.ArgumentParser(
        prog='python -m tests.benchmarks.reshape_client'
    )
    parser.add_argument('--consumers', nargs='+', type=int, default=CONSUMERS)
    options = parser.parse_args()
    print(
        _FORMAT
        % (
            *('case', 'N', 'requests', 'statements', 'plan, s'),
            *('ours, s', 'host, s', 'host x'),
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        url = 'sqlite:///%s' % (pathlib.Path(folder) / 'placement')
        database = placement_api.Database(url)
        applications = [
            placement_api.Application([database], is_plain)
            for is_plain in (False, True)
        ]
        class_ids = database.ids('resource_classes')
        for name in RULES:
            for count in options.consumers:
                case = reshape_case.Case(name, count, class_ids)
                ours, host = (
                    measure(application, database, case)
                    for application in applications
                )
                requests, sent, planned, handler = ours
                print(
                    _FORMAT
                    % (
                        name,
                        count,
                        requests,
                        sent,
                        '%.3f' % planned,
                        '%.3f' % handler,
                        '%.3f' % host[3],
                        '%.1f' % (host[3] / planned),
                    ),
                    flush=True,
                )


if __name__ == '__main__':
    main()
