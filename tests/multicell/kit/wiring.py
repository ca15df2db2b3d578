# SPDX-License-Identifier: Apache-2.0
"""How a server is connected, to be read when its guest does not answer."""

from __future__ import annotations

from tests.multicell.errors import MulticellError
from tests.multicell.kit.clients import Clients

#: How many characters of a port's id its device has in its name.
DEVICE = 11
#: Lines of the agent's log about a port.
LINES = 8


def describe(clients: Clients, server: str) -> str:
    """Tell how the ports of a server are wired, where it is.

    :param clients: of the cloud
    :param server: its uuid
    :returns: lines: what Neutron says, what the switch of the host has, and
        the last words of the agent
    """
    lines = []
    for port in clients.sdk.network.ports(device_id=server):
        host = port.binding_host_id
        device = f'tap{port.id[:DEVICE]}'
        lines.append(
            f'port {port.id} {port.mac_address} is {port.status} on {host}'
        )
        for command in (
            ('ovs-vsctl', '--columns=name,tag', 'find', 'Port',
             f'name={device}'),
            ('ovs-vsctl', '--columns=ofport,error,link_state,statistics',
             'find', 'Interface', f'name={device}'),
            ('sh', '-c', f'ovs-ofctl dump-flows br-int | grep -c '
             f'{port.mac_address}'),
        ):  # fmt: skip
            try:
                lines.append(clients.on_host(host, *command).strip())
            except MulticellError as error:
                lines.append(str(error))
        lines.extend(_log(clients, f'ovs-agent-{host}', port.id))
    return '\n'.join(lines)


def _log(clients: Clients, name: str, text: str) -> list[str]:
    """Return the last lines of a log that have a text."""
    log = clients.cloud.processes.log_file(name)
    with log.open(errors='replace') as file:
        found = [line.rstrip()[:300] for line in file if text in line]
    return found[-LINES:]
