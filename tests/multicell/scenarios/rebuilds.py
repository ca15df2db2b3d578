# SPDX-License-Identifier: Apache-2.0
"""Servers on volumes get a new image, or keep what they had."""

from __future__ import annotations

from tests.multicell.kit.servers import Server
from tests.multicell.scenarios.registry import Context
from tests.multicell.scenarios.registry import expect
from tests.multicell.scenarios.registry import scenario
from tests.multicell.waiting import wait_until

#: The compute, about to ask Cinder.
ASK = 'nova.volume.cinder:API.reimage_volume'
#: Cinder, about to write.
WRITE = 'cinder.volume.manager:VolumeManager.reimage'
#: Cinder, with the image on the volume, about to tell.
TELL = 'cinder.compute.nova:API.reimage_volume'


@scenario()
def rebuild_volume(context: Context) -> None:
    """The root volume gets the new image; the data volume stays."""
    server, root = _server(context)
    data, identity = server.sums()['vdb'], server.identity
    image = new_image(context)
    _rebuild(server, image)
    server.wait_for('ACTIVE')
    _expect_new(context, server, root, image, data)
    expect(server.identity, identity, 'identity')


@scenario(needs_plugins=True)
def rebuild_refused_by_cinder(context: Context) -> None:
    """The image is gone when Cinder looks for it: nothing has happened."""
    server, root = _server(context)
    sums, identity = server.sums(), server.identity
    allocations = _allocations(context, server)
    image = new_image(context)
    with context.faults.held_at('nova-compute-host1a', ASK) as point:
        _rebuild(server, image)
        point.wait()
        context.clients.sdk.image.delete_image(image)
        point.release()
        server.wait_for('ACTIVE')
    expect(server.sums(), sums, 'data')
    expect(server.identity, identity, 'identity')
    expect(_allocations(context, server), allocations, 'allocations')
    expect(_status(context, root), 'in-use', 'root volume')
    expect(bool(server.failures()), True, 'a reason')
    server.settle()
    image = new_image(context)
    _rebuild(server, image)
    server.wait_for('ACTIVE')
    _expect_new(context, server, root, image, sums['vdb'])


@scenario(needs_plugins=True)
def rebuild_fails_in_cinder(context: Context) -> None:
    """Cinder dies while it writes; its volume is mended, the user goes on."""
    server, root = _server(context)
    data = server.sums()['vdb']
    allocations = _allocations(context, server)
    image = new_image(context)
    with context.faults.killed_at('cinder-volume', WRITE) as point:
        _rebuild(server, image)
        point.wait()
    # Cinder finds out when it starts again, or the time is up.
    server.wait_for('ERROR')
    expect(_allocations(context, server), allocations, 'allocations')
    context.clients.sdk.block_storage.post(
        f'/volumes/{root}/action',
        json={'os-reset_status': {'status': 'reserved'}},
    )
    _rebuild(server, image)
    server.wait_for('ACTIVE')
    _expect_new(context, server, root, image, data)


@scenario(needs_plugins=True)
def rebuild_without_event(context: Context) -> None:
    """Cinder dies before it tells that the image is there."""
    server, root = _server(context)
    data = server.sums()['vdb']
    image = new_image(context)
    with context.faults.killed_at('cinder-volume', TELL) as point:
        _rebuild(server, image)
        point.wait()
    server.wait_for('ACTIVE')
    _expect_new(context, server, root, image, data)


def _server(context: Context) -> tuple[Server, str]:
    """Create a server on a volume, with data on another; return both."""
    server = context.resources.server('host1a', volume_backed=True)
    (root,) = server.volumes
    server.attach(context.resources.volume())
    server.fill('vdb')
    return server, root


def new_image(context: Context) -> str:
    """Make one more image like that of all servers."""
    name = context.resources.image({})
    return context.clients.sdk.image.find_image(name).id


def _rebuild(server: Server, image: str) -> None:
    server.act('rebuild', {'imageRef': image})


def _expect_new(
    context: Context, server: Server, root: str, image: str, data: str
) -> None:
    """Check a server that has the new image, its data and nothing else."""
    expect(server.ticks()[-1].boot, 1, 'boots of the guest')
    expect(server.sums()['vdb'], data, 'data volume')
    volume = context.clients.sdk.block_storage.get_volume(root)
    expect(volume.volume_image_metadata['image_id'], image, 'image')
    for uuid in server.volumes:
        wait_until(
            lambda uuid=uuid: _status(context, uuid) == 'in-use',
            f'volume {uuid} is in use',
        )
    server.settle()


def _status(context: Context, volume: str) -> str:
    return context.clients.sdk.block_storage.get_volume(volume).status


def _allocations(context: Context, server: Server) -> dict:
    return context.clients.placement(f'/allocations/{server.uuid}')[
        'allocations'
    ]
