# SPDX-License-Identifier: Apache-2.0
"""Base of the fault matrix: one operation, one fault, and what comes of it.

After any single fault the cloud has to reach by itself one of three ends: the
operation is finished, or the server is as it was before, or it is in ERROR and
a plain hard reboot brings it back. In all of them nothing is left over.
"""

from __future__ import annotations

import dataclasses

from testtools import content

from nova.compute import power_state
from nova.tests.functional.api import client

from nova_xcell import loader
from tests.embedded import cloud
from tests.embedded import injection
from tests.embedded import observe
from tests.embedded import steps
from tests.faults import results

#: Options of the plug-ins, lowered so that nobody waits longer than needed.
HASTE = {
    'prep_settle_timeout': 3,
    'settle_timeout': 3,
    'abandoned_after': 1,
}

#: Seconds in which a conductor has to react.
REACTION = 60

#: Faults in the middle of some work.
MIDWAY = (
    steps.Fault.ERROR_MIDWAY,
    steps.Fault.TIMEOUT_LATE,
    steps.Fault.DEATH_MIDWAY,
    steps.Fault.HOST_DEATH,
)

#: Operation -> what a user sees before it and when it is finished: the status,
#: the cell, and whether the server has the flavor that it was created with.
VIEWS = {
    'resize': (('ACTIVE', 'cell1', True), ('VERIFY_RESIZE', 'cell2', False)),
    'confirm': (('VERIFY_RESIZE', 'cell2', False), ('ACTIVE', 'cell2', False)),
    'revert': (('VERIFY_RESIZE', 'cell2', False), ('ACTIVE', 'cell1', True)),
    'delete': (('VERIFY_RESIZE', 'cell2', False), None),
}


@dataclasses.dataclass(frozen=True)
class Verdict:
    """How an operation with a fault ended."""

    #: 'finished', 'before', 'rebooted' or 'neither'.
    end: str
    #: All that does not belong; empty when all is well.
    findings: list[str]


class FaultyMove(cloud.TwoCellCloud):
    """One server, one operation, one fault."""

    def setUp(self):
        # Room for many servers: what leaked is never freed.
        for resource in ('vcpus', 'memory_mb', 'local_gb'):
            self.stub_out(
                f'tests.embedded.driver.StoragePathFakeDriver.{resource}',
                1000000,
            )
        super().setUp()
        self.flags(rpc_response_timeout=8, long_rpc_timeout=40)
        self.flags(instances=-1, cores=-1, ram=-1, group='quota')
        if loader.armed():
            self.flags(group='xcell', **HASTE)

    def prepare(self, operation, backing):
        """Create a server and bring it to where the operation starts."""
        self.server = self.create_server(
            volume_backed=backing == 'volume', data_volume=backing == 'image'
        )
        self.flavor = self._view()[2]
        if operation != 'resize':
            self.resize(self.server)
            self.assertEqual([], self.wait_for_no_leak(self.server))
        self.assertEqual(VIEWS[operation][0], self._judged_view())

    def start(self, operation):
        """Ask for an operation, as a user does; the answer may be an error."""
        server = self.server['id']
        try:
            if operation == 'delete':
                self.api.delete_server(server)
            elif operation == 'resize':
                flavor = self.api.get_flavors()[1]['id']
                self.api.post_server_action(
                    server, {'resize': {'flavorRef': flavor}}
                )
            else:
                self.api.post_server_action(
                    server, {f'{operation}Resize': None}
                )
        except client.OpenStackApiException as exc:
            # What the user is told is not judged, what is there is.
            self.addDetail('answer', content.text_content(str(exc)))

    def run_case(self, case):
        """Run an operation with a fault and judge what comes of it."""
        self.prepare(case.operation, case.backing)
        with injection.Injection(case.step, case.fault) as fault:
            self.start(case.operation)
            self.assertTrue(
                fault.settled.wait(REACTION), 'the conductor is still busy'
            )
            self.assertTrue(fault.happened.is_set(), 'the step was never met')
            if case.fault in MIDWAY:
                self.assertTrue(fault.interrupted.is_set(), 'no work was done')
            if fault.conductor_died.is_set():
                self.replace_conductors(fault.forget_the_dead)
                self.run_periodic_tasks()
            if fault.dead_host:
                self.replace_compute(fault.dead_host, fault.forget_the_dead)
            fault.finish_late_work()
            verdict = self.judge(case.operation)
        results.save(case, verdict.end, verdict.findings)
        return verdict

    def judge(self, operation):
        """Let the cloud heal and say what became of the server."""
        findings = self.let_it_heal(self.server)
        view = self._judged_view()
        before, finished = VIEWS[operation]
        # A server whose deletion got no further than to end its move can be
        # deleted again.
        confirmed = operation == 'delete' and view == VIEWS['confirm'][1]
        if view == finished or confirmed:
            return Verdict('finished', findings + self._asleep())
        if view == before:
            return Verdict('before', findings + self._asleep())
        if view and view[0] == 'ERROR':
            return self._judge_after_reboot(before, finished)
        return Verdict('neither', [f'the server is {view}', *findings])

    def _judge_after_reboot(self, before, finished):
        try:
            self.api.post_server_action(
                self.server['id'], {'reboot': {'type': 'HARD'}}
            )
            self.wait_for_rest(self.server)
        except (client.OpenStackApiException, AssertionError) as exc:
            refused = [f'a hard reboot does not help: {exc}']
        else:
            refused = []
        findings = self.let_it_heal(self.server)
        view = self._judged_view()
        allowed = [end[1:] for end in (before, finished) if end]
        if view is None or view[0] != 'ACTIVE' or view[1:] not in allowed:
            refused.append(f'the server is {view} after a hard reboot')
        return Verdict('rebooted', refused + findings + self._asleep())

    def _judged_view(self):
        view = self._view()
        return view and (*view[:2], view[2] == self.flavor)

    def _view(self):
        try:
            server = self.api.get_server(self.server['id'])
        except client.OpenStackApiNotFoundException:
            return None
        home = observe.snapshot(self, server['id']).home
        return (
            server['status'],
            self.cell_of(server['OS-EXT-SRV-ATTR:host']),
            home and home.flavor,
        )

    def _asleep(self):
        """Find the guest that nobody has switched off, but is off."""
        seen = observe.snapshot(self, self.server['id'])
        if not seen.home or seen.home.host not in seen.guests:
            return []
        driver = self.computes[seen.home.host].manager.driver
        if driver.instances[seen.server].state == power_state.RUNNING:
            return []
        return [f'the guest on {seen.home.host} is switched off']


def add_tests(case_class, cases):
    """Give a class of tests one for each case.

    :param case_class: subclass of `FaultyMove`
    :param cases: of `steps.Case`
    """
    for case in cases:

        def test(self, case=case):
            verdict = self.run_case(case)
            self.assertEqual([], verdict.findings, verdict.end)

        test.__name__ = f'test_{case.name}'
        test.__doc__ = None
        setattr(case_class, test.__name__, test)
