# SPDX-License-Identifier: Apache-2.0
"""nova-api and what servers wish of their live migrations."""

from __future__ import annotations

from oslo_utils import uuidutils

from nova import exception as nova_exception
from nova import objects
from nova.compute import api
from nova.compute import task_states
from nova.i18n import _

from nova_xcell.virt import server_wishes
from nova_xcell.virt import wishes


class WishesRefused(nova_exception.FlavorImageConflict):
    """Flavor and image cannot be used together, or one is wrong.

    The host's controllers answer its base class with 400 and the message, for
    create, resize and rebuild, in every supported release.
    """

    msg_fmt = '%(reason)s'


class AbortRefused(nova_exception.InvalidMigrationState):
    """A migration that may switch to post-copy; 400 like its base class."""

    msg_fmt = _(
        'Live migration %(migration_id)s of server %(instance_uuid)s cannot '
        'be aborted while it is running: the server asks for post-copy, and '
        'a migration that has switched to post-copy cannot go back.'
    )


class MigrationWishes:
    """Goes before the host's compute API."""

    def _checks_for_create_and_rebuild(
        self,
        context,
        image_id,
        image,
        flavor,
        metadata,
        files_to_inject,
        root_bdm,
        min_comp_ver,
        validate_numa=True,
    ):
        """Check a request, which may have no image at all (MF-06).

        See the host's method for the parameters.

        :raises: :class:`WishesRefused`
        """
        _check(image, flavor)
        super()._checks_for_create_and_rebuild(
            context,
            image_id,
            image,
            flavor,
            metadata,
            files_to_inject,
            root_bdm,
            min_comp_ver,
            validate_numa=validate_numa,
        )

    @classmethod
    def _validate_flavor_image_numa_pci(
        cls, image, flavor, validate_numa=True, validate_pci=False
    ):
        """Check a flavor with an image; resize comes here always (MF-06).

        See the host's method for the parameters.

        :raises: :class:`WishesRefused`
        """
        _check(image, flavor)
        super()._validate_flavor_image_numa_pci(
            image,
            flavor,
            validate_numa=validate_numa,
            validate_pci=validate_pci,
        )

    # The host's own checks come first, as they did.
    @api.check_instance_lock
    @api.check_instance_state(task_state=[task_states.MIGRATING])
    def live_migrate_abort(
        self, context, instance, migration_id, support_abort_in_queue=False
    ):
        """Abort a live migration that can be aborted (MF-08).

        :param context: auth context of the request
        :param instance: the server
        :param migration_id: id or uuid of the migration
        :param support_abort_in_queue: see the host's method
        :raises: :class:`AbortRefused` if it is running and may be in
            post-copy any moment
        :raises: nova.exception.InvalidMigrationState if it is in post-copy,
            or over
        :raises: nova.exception.MigrationNotFoundForInstance
        """
        migration = _migration(context, instance, migration_id)
        if (
            migration.status == 'running'
            and server_wishes.of_instance(instance).post_copy
        ):
            raise AbortRefused(
                migration_id=migration_id,
                instance_uuid=instance.uuid,
                state=migration.status,
                method='abort live migration',
            )
        super().live_migrate_abort(
            context,
            instance,
            migration.id,
            support_abort_in_queue=support_abort_in_queue,
        )


def _check(image, flavor: objects.Flavor) -> None:
    """Check the wishes of a flavor and an image.

    :param image: dict with the image, possibly empty
    :param flavor: the flavor
    :raises: :class:`WishesRefused`
    """
    try:
        wishes.validated(
            flavor.extra_specs, (image or {}).get('properties', {})
        )
    except wishes.BadWish as exc:
        raise WishesRefused(reason=exc) from exc


def _migration(
    context, instance: objects.Instance, migration_id: str | int
) -> objects.Migration:
    if not uuidutils.is_uuid_like(migration_id):
        return objects.Migration.get_by_id_and_instance(
            context, migration_id, instance.uuid
        )
    # The host would look for it among the numbers, where some databases find
    # another migration.
    try:
        migration = objects.Migration.get_by_uuid(context, migration_id)
    except nova_exception.MigrationNotFound:
        migration = None
    if migration is None or migration.instance_uuid != instance.uuid:
        raise nova_exception.MigrationNotFoundForInstance(
            migration_id=migration_id, instance_id=instance.uuid
        )
    return migration
