# SPDX-License-Identifier: Apache-2.0
"""What is listed and counted of a server with a record in two cells (XC-07,
XC-33).
"""

import contextlib
import datetime

import fixtures
from oslo_utils import timeutils

from nova import objects
from nova import utils

from tests.embedded import cloud


class ViewsTest(cloud.TwoCellCloud):
    @contextlib.contextmanager
    def at_version(self, version):
        before = self.api.microversion
        self.api.microversion = version
        try:
            yield
        finally:
            self.api.microversion = before

    def get(self, path, version):
        with self.at_version(version):
            return self.api.api_get(path).body

    def pages(self, path, version, key, links):
        """Follow a list from page to page, as a client does.

        :returns: what is on each page
        """
        pages = []
        while path:
            # A list that does not end is a list that shows things twice.
            self.assertLess(len(pages), 10, pages)
            body = self.get(path, version)
            pages.append(body[key])
            path = None
            for link in body.get(links, ()):
                path = '/' + link['href'].split('/v2.1/')[1]
        return pages

    def resized(self, **kwargs):
        """Return a server in cell2 with a hidden record in cell1."""
        server = self.resize(self.create_server(**kwargs), host='host2')
        self.assertEqual('VERIFY_RESIZE', server['status'])
        return server


class TestMigrations(ViewsTest):
    def listed(self, path, version):
        return [
            (migration['instance_uuid'], migration['status'])
            for migration in self.get(path, version)['migrations']
        ]

    def test_each_is_listed_once(self):
        """XC-07: at every microversion, by every filter, on every page."""
        older, newer = self.create_server('older'), self.create_server('newer')
        for server in (older, newer):
            self.resize(server, host='host2')
        both = [(newer['id'], 'finished'), (older['id'], 'finished')]
        for version in ('2.1', '2.22', '2.23', '2.58', '2.59', '2.66', '2.80'):
            self.assertEqual(
                sorted(both),
                sorted(self.listed('/os-migrations', version)),
                version,
            )
        for version in ('2.59', '2.66', '2.80', 'latest'):
            self.assertEqual(both, self.listed('/os-migrations', version))
            for limit in (1, 2, 3):
                pages = self.pages(
                    '/os-migrations?limit=%d' % limit,
                    version,
                    'migrations',
                    'migrations_links',
                )
                self.assertEqual(
                    [server for server, _status in both],
                    [row['instance_uuid'] for page in pages for row in page],
                )
        for server in (older, newer):
            self.assertEqual(
                [],
                self.get('/servers/%s/migrations' % server['id'], '2.23')[
                    'migrations'
                ],
            )
        self.confirm(older)
        self.revert(newer)
        both = [(newer['id'], 'reverted'), (older['id'], 'confirmed')]
        for version in ('2.1', '2.23', '2.59', '2.80'):
            self.assertEqual(
                sorted(both), sorted(self.listed('/os-migrations', version))
            )

    def test_stale_record_fits_no_filter(self):
        """XC-07: it may be behind, or ahead while a revert is under way."""
        server = self.resized()
        with self.context_of('cell1') as context:
            (stale,) = objects.MigrationList.get_by_filters(
                context, {'instance_uuid': server['id']}
            )
            stale.status = 'post-migrating'
            stale.save()
        with self.context_of('cell2') as context:
            (current,) = objects.MigrationList.get_by_filters(
                context, {'instance_uuid': server['id']}
            )
        self.assertEqual(stale.uuid, current.uuid)
        for version in ('2.1', '2.23', '2.59', '2.66', '2.80'):
            for query, wanted in (
                ('', [(server['id'], 'finished')]),
                ('?status=finished', [(server['id'], 'finished')]),
                ('?status=post-migrating', []),
                ('?host=host1', [(server['id'], 'finished')]),
                ('?source_compute=host1', [(server['id'], 'finished')]),
            ):
                path = '/os-migrations%s' % query
                self.assertEqual(wanted, self.listed(path, version), path)


class TestServers(ViewsTest):
    def listed(self, query, version):
        return [
            (server['id'], server['OS-EXT-SRV-ATTR:host'])
            for server in self.get('/servers/detail' + query, version)[
                'servers'
            ]
        ]

    def check(self, server, host, other):
        here = [(server['id'], host)]
        long_ago = '2001-01-01T00:00:00Z'
        for version in ('2.1', '2.74', 'latest'):
            for query, wanted in (
                ('', here),
                ('?all_tenants=1', here),
                ('?all_tenants=1&changes-since=%s' % long_ago, here),
                ('?all_tenants=1&deleted=1', []),
                ('?all_tenants=1&name=moved', here),
                ('?all_tenants=1&host=%s' % host, here),
                ('?all_tenants=1&host=%s' % other, []),
                ('?all_tenants=1&node=%s' % host, here),
                ('?all_tenants=1&node=%s' % other, []),
            ):
                self.assertEqual(
                    wanted, self.listed(query, version), (version, query)
                )
            pages = self.pages(
                '/servers/detail?limit=1', version, 'servers', 'servers_links'
            )
            self.assertEqual([server['id']], [s['id'] for [s] in pages if s])
        # Newer microversions refuse what is not a filter.
        self.assertEqual(here, self.listed('?all_tenants=1&hidden=1', '2.1'))

    def pages(self, *args):
        return [page for page in super().pages(*args) if page]

    def test_one_record_of_a_server_is_shown(self):
        """XC-07: resized, confirmed, and reverted on the way back."""
        server = self.resized(name='moved')
        self.check(server, 'host2', 'host1')
        self.confirm(server)
        self.check(server, 'host2', 'host1')
        self.resize(server, host='host1')
        self.check(server, 'host1', 'host2')
        self.revert(server)
        self.check(server, 'host2', 'host1')


class TestUsage(ViewsTest):
    def test_server_is_used_once(self):
        """XC-07: in the report of usage, with and without pages."""
        moved, other = self.resized(name='moved'), self.create_server('other')
        wanted = sorted((moved['id'], other['id']))
        now = timeutils.utcnow()
        window = 'start=%s&end=%s' % tuple(
            (now + datetime.timedelta(hours=hours)).isoformat()
            for hours in (-1, 1)
        )
        paths = (
            '/os-simple-tenant-usage/%s?%s' % (moved['tenant_id'], window),
            '/os-simple-tenant-usage?detailed=1&%s' % window,
        )

        def check():
            for path in paths:
                for version in ('2.1', '2.39', '2.40', 'latest'):
                    self.assertEqual(wanted, self.used(path, version))
                for limit in (1, 2, 3):
                    self.assertEqual(
                        wanted,
                        self.used(path + '&limit=%d' % limit, '2.40'),
                    )

        self.age(moved, other)
        check()
        self.revert(moved)
        self.age(moved)
        check()

    def age(self, *servers):
        """Launch servers earlier: the report leaves the last second out."""
        early = timeutils.utcnow(with_timezone=True) - datetime.timedelta(
            minutes=5
        )
        for cell in self.HOSTS:
            with self.context_of(cell) as context:
                for instance in objects.InstanceList.get_by_host(
                    context, self.HOSTS[cell][0]
                ):
                    if instance.uuid in {server['id'] for server in servers}:
                        instance.launched_at = early
                        instance.save()

    def used(self, path, version):
        """Return the servers that a report counts, in all of its pages."""
        one = '/os-simple-tenant-usage?' not in path
        pages = self.pages(
            path,
            version,
            *(
                ('tenant_usage', 'tenant_usage_links')
                if one
                else ('tenant_usages', 'tenant_usages_links')
            ),
        )
        return sorted(
            usage['instance_id']
            for page in pages
            for tenant in ([page] if one else page)
            for usage in tenant.get('server_usages', ())
        )

    def test_audit_counts_a_server_once(self):
        """XC-07, XC-21: instance.exists, and the log of the audit."""
        server = self.resized()
        self.flags(instance_usage_audit=True)
        now = timeutils.utcnow()
        hour = datetime.timedelta(hours=1)
        self.useFixture(
            fixtures.MockPatchObject(
                utils,
                'last_completed_audit_period',
                lambda *args, **kwargs: (now - hour, now + hour),
            )
        )
        self.notifier.reset()
        for host, compute in self.computes.items():
            with self.context_of(self.cell_of(host)) as context:
                compute.manager._instance_usage_audit(context)
        for sent in (
            [
                notice['payload']['nova_object.data']
                for notice in self.notifier.versioned_notifications
                if notice['event_type'] == 'instance.exists'
            ],
            [
                {'uuid': notice.payload['instance_id'], **notice.payload}
                for notice in self.notifier.notifications
                if notice.event_type == 'compute.instance.exists'
            ],
        ):
            self.assertEqual(
                [(server['id'], 'host2')],
                [(payload['uuid'], payload['host']) for payload in sent],
            )
        # The API of the host reads the log of its default database only.
        with self.context_of('cell1') as context:
            log = objects.TaskLog.get(
                context,
                'instance_usage_audit',
                now - hour,
                now + hour,
                'host1',
            )
        self.assertEqual(0, log.task_items)


class TestHypervisors(ViewsTest):
    HOSTS = {'cell1': ('host1', 'host4'), 'cell2': ('host2',)}

    def servers_on(self):
        """Return how each microversion shows the servers of the hosts."""
        shown = [
            {
                node['hypervisor_hostname']: [
                    server['uuid'] for server in node.get('servers', ())
                ]
                for node in self.get(path + '?with_servers=1', version)[
                    'hypervisors'
                ]
            }
            for path in ('/os-hypervisors', '/os-hypervisors/detail')
            for version in ('2.53', '2.87', 'latest')
        ]
        shown.append(
            {
                host: [
                    server['uuid']
                    for node in self.get(
                        '/os-hypervisors/%s/servers' % host, '2.1'
                    )['hypervisors']
                    for server in node.get('servers', ())
                ]
                for host in self.computes
            }
        )
        for each in shown:
            self.assertEqual(shown[0], each)
        return shown[0]

    def figures(self):
        self._run_periodics()
        return {
            node['hypervisor_hostname']: (
                node['running_vms'],
                node['vcpus_used'],
                node['memory_mb_used'],
                node['local_gb_used'],
            )
            for node in self.get('/os-hypervisors/detail', '2.87')[
                'hypervisors'
            ]
        }

    def test_as_in_a_move_within_the_cell(self):
        """XC-07, XC-33: at every stage, of hosts and in Placement."""
        server = self.create_server()
        stages = {}
        for host in ('host4', 'host2'):
            self.resize(server, host=host)
            resized = self.stage()
            self.revert(server)
            stages[host] = (resized, self.stage())
        self.assertEqual(
            {'host1': [], 'host2': [server['id']], 'host4': []},
            stages['host2'][0][0],
        )
        names = {'host2': 'host4', 'host4': 'host2'}
        for within, across in zip(
            stages['host4'], stages['host2'], strict=True
        ):
            self.assertEqual(
                within,
                tuple(
                    {names.get(name, name): part[name] for name in part}
                    for part in across
                ),
            )
        self.resize(server, host='host2')
        self.confirm(server)
        servers, figures, usages = self.stage()
        self.assertEqual([server['id']], servers['host2'])
        for host, used in (('host1', 0), ('host2', 1)):
            self.assertEqual((used, used), figures[host][:2])
            self.assertEqual(used, usages[host]['VCPU'])

    def stage(self):
        usages = {
            host: self._get_provider_usages(
                self._get_provider_uuid_by_host(host)
            )
            for host in self.computes
        }
        return self.servers_on(), self.figures(), usages


class TestNotifications(ViewsTest):
    HOSTS = {'cell1': ('host1', 'host4'), 'cell2': ('host2',)}

    def sent(self, server):
        """Return what was sent since the last time, in both formats."""
        versioned = [
            (
                notice['event_type'],
                notice['publisher_id'],
                notice['payload']['nova_object.data']['host'],
            )
            for notice in self.notifier.versioned_notifications
            if notice['event_type'] != 'instance.update'
            and notice['payload']['nova_object.data'].get('uuid')
            == server['id']
        ]
        legacy = [
            notice.event_type
            for notice in self.notifier.notifications
            if notice.event_type != 'compute.instance.update'
            and notice.payload.get('instance_id') == server['id']
        ]
        self.notifier.reset()
        return versioned, legacy

    def test_as_in_a_resize_within_the_cell(self):
        """XC-21: the same ones, each of them once."""
        server = self.create_server()
        self.sent(server)
        found = {}
        for host in ('host4', 'host2'):
            found[host] = stages = []
            for decide in (self.revert, self.confirm):
                self.resize(server, host=host)
                stages.append(self.sent(server))
                decide(server)
                stages.append(self.sent(server))
            self.resize(server, host='host1')
            self.confirm(server)
            self.sent(server)
        for within, across in zip(found['host4'], found['host2'], strict=True):
            # A revert sends instance.exists second, after its own start.
            self.assertEqual(
                sorted(sent[0] for sent in within[0]),
                sorted(sent[0] for sent in across[0]),
            )
            self.assertEqual(sorted(within[1]), sorted(across[1]))
        # How a consumer can tell one from the other, see the documentation.
        for host, shown in (('host4', 'host4'), ('host2', 'host1')):
            for resized in found[host][::2]:
                self.assertIn(
                    (
                        'instance.resize_finish.start',
                        'nova-compute:%s' % host,
                        shown,
                    ),
                    resized[0],
                )
