# SPDX-License-Identifier: Apache-2.0
"""What scenarios need: image, flavors, network; servers and volumes."""

from __future__ import annotations

import contextlib
import itertools

from tests.multicell import config
from tests.multicell import layout as lay
from tests.multicell.kit.clients import Clients
from tests.multicell.kit.servers import Server
from tests.multicell.waiting import wait_until

#: Name -> MiB of memory.
FLAVORS = {'small': 128, 'large': 192}
IMAGE, NETWORK = 'guest', 'guests'


class Resources:
    """Creates things; those of a scenario are deleted at its end.

    :param clients: of the cloud
    """

    def __init__(self, clients: Clients) -> None:
        self.clients = clients
        self.sdk = clients.sdk
        self._numbers = itertools.count(1)
        # Volumes may be older or newer than the servers that use them.
        self._servers = contextlib.ExitStack()
        self._volumes = contextlib.ExitStack()

    def prepare(self) -> None:
        """Create what all scenarios share, once a cloud."""
        if not self.sdk.image.find_image(IMAGE):
            self._images()
        for name, memory in FLAVORS.items():
            if not self.sdk.compute.find_flavor(name):
                self.sdk.compute.create_flavor(
                    name=name, ram=memory, vcpus=1, disk=1
                )
        if not self.sdk.network.find_network(NETWORK):
            self._network()

    def _images(self) -> None:
        folder = self.clients.layout.images

        def upload(name: str, file: str, kind: str, **properties):
            container = 'bare' if kind == 'qcow2' else kind
            return self.sdk.image.create_image(
                name=name,
                filename=str(folder / file),
                disk_format=kind,
                container_format=container,
                validate_checksum=False,
                **properties,
            )

        kernel = upload('guest-kernel', 'vmlinuz', 'aki')
        ramdisk = upload('guest-initrd', 'initrd.gz', 'ari')
        upload(
            IMAGE,
            'root.qcow2',
            'qcow2',
            kernel_id=kernel.id,
            ramdisk_id=ramdisk.id,
            # On a busy machine the emulated timer fails the kernel's check.
            os_command_line='console=ttyS0 quiet no_timer_check',
        )

    def _network(self) -> None:
        network = self.sdk.network.create_network(
            name=NETWORK,
            provider_network_type='flat',
            provider_physical_network=config.PHYSICAL_NETWORK,
        )
        self.sdk.network.create_subnet(
            name=NETWORK,
            network_id=network.id,
            cidr=lay.GUEST_CIDR,
            ip_version=4,
            enable_dhcp=False,
        )
        (group,) = self.sdk.network.security_groups(
            project_id=self.sdk.current_project_id, name='default'
        )
        for protocol in ('icmp', 'tcp'):
            self.sdk.network.create_security_group_rule(
                security_group_id=group.id,
                direction='ingress',
                ethertype='IPv4',
                protocol=protocol,
            )

    def flavor(self, **extra_specs: str) -> str:
        """Create a flavor that is like the small one.

        :param extra_specs: its extra specs
        :returns: its name
        """
        name = f'flavor{next(self._numbers)}'
        flavor = self.sdk.compute.create_flavor(
            name=name, ram=FLAVORS['small'], vcpus=1, disk=1
        )
        self._volumes.callback(self.sdk.compute.delete_flavor, flavor)
        self.sdk.compute.create_flavor_extra_specs(flavor, extra_specs)
        return name

    def server(
        self, host: str, volume_backed: bool = False, flavor: str = 'small'
    ) -> Server:
        """Create a server and wait until its guest answers.

        :param host: where it is to be
        :param volume_backed: whether its root disk is a volume
        :param flavor: name of its flavor
        :returns: the server
        """
        image = self.sdk.image.find_image(IMAGE)
        request = {
            'name': f'server{next(self._numbers)}',
            'flavorRef': self.sdk.compute.find_flavor(flavor).id,
            'host': host,
            'config_drive': True,
            'tags': ['multicell'],
            'metadata': {'made-by': 'multicell'},
            'networks': [{'uuid': self.sdk.network.find_network(NETWORK).id}],
        }
        if volume_backed:
            request['block_device_mapping_v2'] = [
                {
                    'boot_index': 0,
                    'uuid': self.volume(image.id),
                    'source_type': 'volume',
                    'destination_type': 'volume',
                }
            ]
        else:
            request['imageRef'] = image.id
        made = self.clients.compute('POST', '/servers', {'server': request})
        server = Server(self.clients, made['server']['id'])
        self._servers.callback(self._delete_server, server)
        server.wait_for('ACTIVE')
        server.ticks()
        return server

    def _delete_server(self, server: Server) -> None:
        if not server.is_gone():
            server.delete()

    def volume(self, image: str | None = None) -> str:
        """Create a volume.

        :param image: uuid of what it is made of; None for an empty one
        :returns: its uuid
        """
        storage = self.sdk.block_storage
        volume = storage.create_volume(size=1, image_id=image)
        self._volumes.callback(self._delete_volume, volume.id)
        wait_until(
            lambda: storage.get_volume(volume.id).status == 'available',
            'the volume is made',
        )
        return volume.id

    def _delete_volume(self, volume: str) -> None:
        storage = self.sdk.block_storage
        wait_until(
            lambda: storage.get_volume(volume).status == 'available',
            'the volume is free',
        )
        storage.delete_volume(volume)

    def release(self) -> None:
        """Delete what was created."""
        with self._volumes, self._servers:
            pass
