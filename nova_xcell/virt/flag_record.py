# SPDX-License-Identifier: Apache-2.0
"""How what a migration used is kept for later: pure, no host imports.

A migration record has no place for it. It is the details of events under the
instance action of the live migration, which a plain host shows like its own:
to those who may see the details of events.
"""

from __future__ import annotations

import json
import typing as ty

from nova_xcell.virt import migration_flags

#: Event that says which flags a migration started with.
FLAGS_EVENT = 'xcell_live_migration_flags'
#: Event that says how a migration was forced to its end.
FORCED_EVENT = 'xcell_live_migration_forced'

#: Ways to force a migration to its end.
PAUSED = 'paused'
SWITCHED = 'post-copy'
NOTHING = 'nothing'


#: Key of the migration's uuid.
_MIGRATION = 'xcell_migration'


def spelled(migration: str, **values: ty.Any) -> str:
    """Spell the details of an event about a migration.

    :param migration: uuid of the migration record
    :param values: what there is to say
    """
    return json.dumps({_MIGRATION: migration, **values})


def of_flags(migration: str, flags: migration_flags.Flags) -> str:
    """Spell the details of :data:`FLAGS_EVENT`.

    :param migration: uuid of the migration record
    :param flags: what the migration uses
    """
    record: dict[str, ty.Any] = {}
    for name, choice in flags.items():
        record[name] = choice.used
        record[name + '_reason'] = choice.reason
    return spelled(migration, **record)


def of_forced(migration: str, way: str, reason: str) -> str:
    """Spell the details of :data:`FORCED_EVENT`.

    :param migration: uuid of the migration record
    :param way: :data:`PAUSED`, :data:`SWITCHED` or :data:`NOTHING`
    :param reason: why that way, for the operator
    """
    return spelled(migration, forced=way, forced_reason=reason)


def read(
    migration: str,
    events: ty.Iterable[tuple[str, str | None]],
    names: ty.Collection[str] = (FLAGS_EVENT, FORCED_EVENT),
) -> dict[str, ty.Any]:
    """Collect what is known of one migration.

    What cannot be read is left out: others may write events, too.

    :param migration: uuid of the migration record
    :param events: names and details of events, oldest first
    :param names: of the events to read
    :returns: all that they say; of the flags, for each of auto_converge,
        post_copy and parallel a boolean and its ``_reason``, and ``forced``
        and ``forced_reason`` if it was forced; empty if the host had no
        plug-in
    """
    found: dict[str, ty.Any] = {}
    for name, details in events:
        if name not in names:
            continue
        try:
            record = json.loads(details or '')
        except ValueError:
            continue
        if (
            isinstance(record, dict)
            and record.pop(_MIGRATION, None) == migration
        ):
            found.update(record)
    return found
