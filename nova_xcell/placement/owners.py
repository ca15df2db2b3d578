# SPDX-License-Identifier: Apache-2.0
"""Projects and users of consumers."""

from collections.abc import Callable
from collections.abc import Iterable
import typing as ty

from oslo_db import exception as db_exc
import sqlalchemy as sa

from placement import context as host_context
from placement import db_api
from placement.handlers import util as host_util
from placement.objects import project as project_obj
from placement.objects import user as user_obj

from nova_xcell.placement import statements


def projects(
    context: host_context.RequestContext, names: Iterable[str]
) -> dict[str, project_obj.Project]:
    """Return projects, and create those that Placement does not know.

    :param context: the context of the request
    :param names: ids in Keystone
    :returns: projects by these ids
    """
    return _get_or_create(
        context,
        names,
        project_obj.PROJECT_TBL,
        project_obj.Project,
        host_util._get_or_create_project,
    )


def users(
    context: host_context.RequestContext, names: Iterable[str]
) -> dict[str, user_obj.User]:
    """Return users, and create those that Placement does not know.

    :param context: the context of the request
    :param names: ids in Keystone
    :returns: users by these ids
    """
    return _get_or_create(
        context,
        names,
        user_obj.USER_TBL,
        user_obj.User,
        host_util._get_or_create_user,
    )


def _get_or_create(
    context: host_context.RequestContext,
    names: Iterable[str],
    table: sa.Table,
    cls: type,
    one: Callable[[host_context.RequestContext, str], ty.Any],
) -> dict[str, ty.Any]:
    wanted = list(dict.fromkeys(names))
    ids = _read(context, table, wanted)
    missing = [name for name in wanted if name not in ids]
    if missing:
        try:
            _create(context, table, missing)
        except db_exc.DBDuplicateEntry:
            # Another request was faster, or the database takes two spellings
            # for one. The host's function knows both.
            pass
        else:
            ids.update(_read(context, table, missing))
    return {
        name: cls(context, id=ids[name], external_id=name)
        if name in ids
        else one(context, name)
        for name in wanted
    }


@db_api.placement_context_manager.reader
def _read(
    ctx: host_context.RequestContext, table: sa.Table, names: list[str]
) -> dict[str, int]:
    rows = statements.select_in(
        ctx.session,
        sa.select(table.c.external_id, table.c.id),
        table.c.external_id,
        names,
    )
    return {row.external_id: row.id for row in rows}


@db_api.placement_context_manager.writer
def _create(
    ctx: host_context.RequestContext, table: sa.Table, names: list[str]
) -> None:
    statements.insert(
        ctx.session, table, [{'external_id': name} for name in names]
    )
