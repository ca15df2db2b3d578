# SPDX-License-Identifier: Apache-2.0
"""Links to live migrations that the host forgets (B5)."""

from __future__ import annotations

import functools

from nova.api.openstack.compute import migrations
from nova.objects import fields

from nova_xcell.live import facts

# What the host has; looked up before the seam replaces it.
_host_method = migrations.MigrationsController._output


@functools.wraps(_host_method)
def output(self, req, migrations_obj, add_link=False, *args, **kwargs):
    """Describe migrations of all servers, with links to those in progress.

    See the host's method, which gives none to those in post-copy.

    :param req: the request
    :param migrations_obj: nova.objects.MigrationList
    :param add_link: whether the microversion has links
    :param args: see the host's method
    :param kwargs: see the host's method
    :returns: list of dicts
    """
    described = _host_method(
        self, req, migrations_obj, add_link, *args, **kwargs
    )
    if add_link:
        for migration in described:
            if (
                migration['migration_type']
                == fields.MigrationType.LIVE_MIGRATION
                and migration['status'] == facts.POST_COPY
                and 'links' not in migration
            ):
                migration['links'] = self._view_builder._get_links(
                    req,
                    migration['id'],
                    self._collection_name % migration['instance_uuid'],
                )
    return described
