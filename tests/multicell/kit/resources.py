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
KERNEL, RAMDISK = 'guest-kernel', 'guest-initrd'


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
        self._kinds = contextlib.ExitStack()

    def prepare(self) -> None:
        """Create what all scenarios share, once a cloud."""
        if not self.sdk.image.find_image(IMAGE):
            self._images()
        for name, memory in FLAVORS.items():
            if not self.sdk.compute.find_flavor(name):
                self._create_flavor(name, memory)
        if not self.sdk.network.find_network(NETWORK):
            self._network()

    def _images(self) -> None:
        self._upload(KERNEL, 'vmlinuz', 'aki')
        self._upload(RAMDISK, 'initrd.gz', 'ari')
        self._upload_root(IMAGE)

    def _upload_root(self, name: str, **properties: str):
        find = self.sdk.image.find_image
        return self._upload(
            name,
            'root.qcow2',
            'qcow2',
            kernel_id=find(KERNEL).id,
            ramdisk_id=find(RAMDISK).id,
            # On a busy machine the emulated timer fails the kernel's check.
            os_command_line='console=ttyS0 quiet no_timer_check',
            **properties,
        )

    def _upload(self, name: str, file: str, kind: str, **properties: str):
        return self.sdk.image.create_image(
            name=name,
            filename=str(self.clients.layout.images / file),
            disk_format=kind,
            container_format='bare' if kind == 'qcow2' else kind,
            validate_checksum=False,
            **properties,
        )

    def _create_flavor(self, name: str, memory: int):
        return self.sdk.compute.create_flavor(
            name=name, ram=memory, vcpus=1, disk=1
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

    def flavor(self, extra_specs: dict[str, str]) -> str:
        """Create a small flavor.

        :param extra_specs: what it says besides
        :returns: its name
        """
        name = f'flavor{next(self._numbers)}'
        flavor = self._create_flavor(name, FLAVORS['small'])
        self._kinds.callback(self.sdk.compute.delete_flavor, flavor)
        self.sdk.compute.create_flavor_extra_specs(flavor, extra_specs)
        return name

    def image(self, properties: dict[str, str]) -> str:
        """Create another image of the guest.

        :param properties: what it says besides
        :returns: its name
        """
        name = f'image{next(self._numbers)}'
        image = self._upload_root(name, **properties)
        self._kinds.callback(self.sdk.image.delete_image, image)
        return name

    def server(
        self,
        host: str,
        volume_backed: bool = False,
        flavor: str = 'small',
        image: str = IMAGE,
    ) -> Server:
        """Create a server and wait until its guest answers.

        :param host: where it is to be
        :param volume_backed: whether its root disk is a volume
        :param flavor: its flavor's name
        :param image: its image's name
        :returns: the server
        """
        image_id = self.sdk.image.find_image(image).id
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
                    'uuid': self.volume(image_id),
                    'source_type': 'volume',
                    'destination_type': 'volume',
                }
            ]
        else:
            request['imageRef'] = image_id
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
        volume = self.sdk.block_storage.create_volume(size=1, image_id=image)
        self._volumes.callback(self._delete_volume, volume.id)
        self.wait_for_volume(volume.id)
        return volume.id

    def wait_for_volume(self, volume: str) -> None:
        """Wait until no server uses a volume.

        :param volume: its uuid
        """
        wait_until(
            lambda: (
                self.sdk.block_storage.get_volume(volume).status == 'available'
            ),
            f'volume {volume} is free',
        )

    def _delete_volume(self, volume: str) -> None:
        self.wait_for_volume(volume)
        self.sdk.block_storage.delete_volume(volume)

    def release(self) -> None:
        """Delete what was created."""
        with self._kinds, self._volumes, self._servers:
            pass
