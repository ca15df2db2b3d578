# SPDX-License-Identifier: Apache-2.0
"""Usage of a server that has a record in two cells counts once (XC-07).

The usage report of the API and the audit of nova-compute, which sends
`instance.exists`, ask for the servers of a period in one way, and the host
does not leave hidden records out there.
"""

from __future__ import annotations

from nova import exception
from nova.objects import instance

from nova_xcell.views import hidden

# What the host has; looked up before the seam replaces it.
_host_method = instance.InstanceList.get_active_by_window_joined


def get_active_by_window_joined(
    context,
    begin,
    end=None,
    project_id=None,
    host=None,
    expected_attrs=None,
    use_slave=False,
    limit=None,
    marker=None,
) -> instance.InstanceList:
    """Return the servers of a cell that were active in a period.

    See the host's method.

    :param context: auth context targeted at the cell
    :param begin: start of the period
    :param end: its end
    :param project_id: only servers of this project
    :param host: only servers on this host
    :param expected_attrs: what to load with them
    :param use_slave: ask a replica of the database
    :param limit: how many to return at most
    :param marker: uuid of the server before the first
    :raises: nova.exception.MarkerNotFound; also if the marker was listed from
        its record in another cell, and the caller goes on to that one
    """
    if marker and hidden.servers(context, [marker]):
        raise exception.MarkerNotFound(marker=marker)
    found: list = []
    while True:
        page = _host_method(
            context,
            begin,
            end,
            project_id,
            host,
            expected_attrs,
            use_slave=use_slave,
            limit=limit,
            marker=marker,
        )
        found += (server for server in page if not server.hidden)
        if not limit or len(page) < limit:
            break
        if len(found) >= limit:
            del found[limit:]
            break
        marker = page[-1].uuid
    page.objects = found
    return page


#: What stands in the class: callers ask the class, not an object of it.
REPLACEMENT = staticmethod(get_active_by_window_joined)
