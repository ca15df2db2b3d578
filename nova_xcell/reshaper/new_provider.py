# SPDX-License-Identifier: Apache-2.0
"""Children that a reshape creates: no host imports."""

from __future__ import annotations

import dataclasses
import uuid

from nova_xcell.reshaper import tree as tree_module


@dataclasses.dataclass(frozen=True)
class NewProvider:
    """A child that has to be created.

    :ivar uuid: follows from the parent and the name, so that whoever tries
        again creates the same
    :ivar name: its name
    :ivar parent: UUID of its parent
    """

    uuid: str
    name: str
    parent: str


def make_uuid(parent: str, name: str) -> str:
    """Return the UUID of a child.

    :param parent: UUID of its parent
    :param name: its name
    """
    return str(uuid.uuid5(uuid.UUID(parent), name))


def was_left(tree: tree_module.Tree, key: str, parent: str, name: str) -> bool:
    """Say whether a run that died has created a child, and not filled it.

    :param tree: the tree
    :param key: UUID of the child
    :param parent: UUID of the parent it should have
    :param name: its name
    """
    provider = tree.providers.get(key)
    return (
        provider is not None
        and not provider.inventories
        and key == make_uuid(parent, name)
    )
