# SPDX-License-Identifier: Apache-2.0
"""Placement's application on a database of its own, plain and with ours."""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import json
import typing as ty

from oslo_config import cfg
from oslo_db.sqlalchemy import enginefacade
from oslo_policy import opts as policy_opts
import sqlalchemy as sa
import webob

from placement import conf as host_conf
from placement import db_api
from placement import deploy
from placement.db.sqlalchemy import migration
from placement.db.sqlalchemy import models
from placement.objects import resource_class
from placement.objects import trait

from nova_xcell import loader

FEATURE = 'reshape-handler'

#: What shows ids of other rows, by table: column -> table and column that
#: identify such a row without its id.
_REFERENCES = {
    'allocations': {
        'resource_provider_id': ('resource_providers', 'uuid'),
        'resource_class_id': ('resource_classes', 'name'),
    },
    'inventories': {
        'resource_provider_id': ('resource_providers', 'uuid'),
        'resource_class_id': ('resource_classes', 'name'),
    },
    'consumers': {
        'project_id': ('projects', 'external_id'),
        'user_id': ('users', 'external_id'),
        'consumer_type_id': ('consumer_types', 'name'),
    },
}


class Database:
    """A database with Placement's schema.

    :param url: of an empty database
    """

    def __init__(self, url: str) -> None:
        self._manager = enginefacade.transaction_context()
        self._manager.configure(connection=url, sqlite_synchronous=False)
        self.engine: sa.Engine = self._manager.writer.get_engine()
        migration.create_schema(self.engine)

    @contextlib.contextmanager
    def used(self) -> Iterator[None]:
        """Let Placement use it."""
        reset = db_api.placement_context_manager.patch_factory(self._manager)
        try:
            yield
        finally:
            reset()

    def fill(self, tables: dict[str, list[dict]]) -> None:
        """Replace what is stored, except traits and standard classes.

        :param tables: rows by name of a table
        """
        keep = ('traits', 'resource_classes')
        metadata = models.BASE.metadata
        with self.engine.begin() as connection:
            # Providers name each other.
            connection.execute(
                metadata.tables['resource_providers']
                .update()
                .values(parent_provider_id=None, root_provider_id=None)
            )
            for table in reversed(metadata.sorted_tables):
                if table.name not in keep:
                    connection.execute(table.delete())
            classes = metadata.tables['resource_classes']
            connection.execute(
                classes.delete().where(classes.c.name.like('CUSTOM%'))
            )
            for table in metadata.sorted_tables:
                if tables.get(table.name):
                    connection.execute(table.insert(), tables[table.name])
                if 'id' in table.c and self.engine.name == 'postgresql':
                    # It does not see that ids were given.
                    connection.execute(
                        sa.text(
                            "SELECT setval(pg_get_serial_sequence('%s', "
                            "'id'), (SELECT COALESCE(MAX(id), 1) FROM %s))"
                            % (table.name, table.name)
                        )
                    )

    def ids(self, name: str) -> dict[str, int]:
        """Return ids of resource classes or other named rows.

        :param name: of the table
        """
        table = models.BASE.metadata.tables[name]
        with self.engine.connect() as connection:
            return {
                row.name: row.id for row in connection.execute(table.select())
            }

    def rows(self) -> dict[str, list[dict]]:
        """Return everything that is stored, in the order it was stored in.

        Ids are replaced by what they stand for, times by whether there is
        one.
        """
        tables = models.BASE.metadata.tables
        with self.engine.connect() as connection:
            raw = {
                name: [
                    dict(row._mapping)
                    for row in connection.execute(
                        table.select().order_by(*table.primary_key)
                    )
                ]
                for name, table in tables.items()
                if name != 'traits'
            }
        by_id = {
            name: {row['id']: row for row in rows}
            for name, rows in raw.items()
            if 'id' in tables[name].c
        }
        return {
            name: [_readable(name, row, by_id) for row in rows]
            for name, rows in raw.items()
        }


def _readable(name: str, row: dict, by_id: dict) -> dict:
    references = _REFERENCES.get(name, {})
    result = {}
    for key, value in row.items():
        if key in ('created_at', 'updated_at'):
            value = value is not None
        elif key in references and value is not None:
            table, column = references[key]
            value = by_id[table][value][column]
        if key != 'id' or name == 'resource_providers':
            result[key] = value
    return result


class Application:
    """Placement's application.

    :param databases: those it will be used with; their traits and resource
        classes are written
    :param is_plain: without the plug-ins
    """

    def __init__(self, databases: list[Database], is_plain: bool) -> None:
        self.is_plain = is_plain
        self.conf = cfg.ConfigOpts()
        host_conf.register_opts(self.conf)
        # Required, but the databases are used without it.
        self.conf.set_override('connection', 'none', 'placement_database')
        policy_opts.set_defaults(self.conf)
        # The name of the project is what the plug-ins arm for.
        self.conf(
            [],
            project='placement' if not is_plain else None,
            default_config_files=[],
        )
        self.conf.set_override('auth_strategy', 'noauth2', 'api')
        for database in databases:
            with database.used():
                trait._TRAITS_SYNCED = False
                resource_class._RESOURCE_CLASSES_SYNCED = False
                self.app = deploy.loadapp(self.conf)

    @property
    def has_ours(self) -> bool:
        """Whether POST /reshaper is ours right now."""
        return FEATURE in loader.armed()

    @contextlib.contextmanager
    def armed(self) -> Iterator[None]:
        """Let the process be what this application has asked for."""
        loader.disarm('placement')
        if not self.is_plain and self.conf.config_source:
            loader.arm(self.conf, 'placement')
        try:
            yield
        finally:
            loader.disarm('placement')

    def request(
        self,
        method: str,
        path: str,
        version: str,
        body: ty.Any = None,
        roles: str = 'admin,service',
    ) -> webob.Response:
        """Send a request through all of its middleware.

        :param method: of HTTP
        :param path: of the URL
        :param version: microversion
        :param body: bytes, or what becomes JSON
        :param roles: of who sends it
        """
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        request = webob.Request.blank(
            path,
            method=method,
            body=body or b'',
            headers={
                'X-Auth-Token': 'admin',
                'X-Roles': roles,
                'OpenStack-API-Version': 'placement %s' % version,
            },
        )
        if body is not None:
            request.content_type = 'application/json'
        return request.get_response(self.app)


@contextlib.contextmanager
def statements(engine: sa.Engine) -> Iterator[list[str]]:
    """Collect the statements that an engine executes.

    :param engine: of SQLAlchemy
    """
    seen: list[str] = []

    def listen(conn, cursor, text, *rest):
        seen.append(text)

    sa.event.listen(engine, 'before_cursor_execute', listen)
    try:
        yield seen
    finally:
        sa.event.remove(engine, 'before_cursor_execute', listen)
