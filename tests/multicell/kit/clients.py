# SPDX-License-Identifier: Apache-2.0
"""The cloud's REST APIs, its databases and its hosts."""

from __future__ import annotations

import functools
import typing as ty

import openstack
import pymysql
import requests

from tests.multicell import layout as lay
from tests.multicell.cloud import Cloud
from tests.multicell.layout import Layout

#: Of the compute API; the newest that Nova 34 has is as good.
COMPUTE_MICROVERSION = '2.95'
PLACEMENT_MICROVERSION = '1.39'


class Clients:
    """All ways to look into the cloud, as its administrator."""

    def __init__(self) -> None:
        self.layout = Layout.from_environment()
        self.cloud = Cloud(self.layout)
        self.sdk = openstack.connect(
            auth_url=lay.url('keystone', '/v3'),
            username='admin',
            password=lay.PASSWORD,
            project_name='admin',
            user_domain_name='Default',
            project_domain_name='Default',
            region_name='RegionOne',
            compute_default_microversion=COMPUTE_MICROVERSION,
        )

    def sql(self, database: str, statement: str, *values) -> list[dict]:
        """Ask a database directly.

        :param database: its name
        :param statement: SQL with ``%s`` for each value
        :param values: the values
        :returns: rows
        """
        connection = pymysql.connect(
            unix_socket=str(self.layout.database_socket),
            user='root',
            database=database,
            cursorclass=pymysql.cursors.DictCursor,
        )
        with connection, connection.cursor() as cursor:
            cursor.execute(statement, values)
            return list(cursor.fetchall())

    def compute(self, method: str, path: str, body: ty.Any = None) -> dict:
        """Call the compute API.

        :param method: HTTP method
        :param path: below the end point
        :param body: JSON
        :returns: the answer, empty if it has no body
        :raises: openstack.exceptions.HttpException
        """
        answer = self.ask_compute(method, path, body)
        return answer.json() if answer.content else {}

    def ask_compute(
        self,
        method: str,
        path: str,
        body: ty.Any = None,
        microversion: str = COMPUTE_MICROVERSION,
    ) -> requests.Response:
        """Call the compute API, for more than the body of the answer.

        :param method: HTTP method
        :param path: below the end point
        :param body: JSON
        :param microversion: number, or ``latest``
        :returns: the answer with its headers
        :raises: openstack.exceptions.HttpException
        """
        answer = self.sdk.compute.request(
            path, method, json=body, microversion=microversion
        )
        openstack.exceptions.raise_from_response(answer)
        return answer

    def placement(self, path: str) -> dict:
        """Read from Placement.

        :param path: below the end point
        :returns: the answer
        """
        answer = self.sdk.placement.get(
            path,
            microversion=PLACEMENT_MICROVERSION,
            headers={'Accept': 'application/json'},
        )
        openstack.exceptions.raise_from_response(answer)
        return answer.json()

    @functools.cached_property
    def providers(self) -> dict[str, str]:
        """Uuid -> name of the resource providers, one a host."""
        found = self.placement('/resource_providers')['resource_providers']
        return {provider['uuid']: provider['name'] for provider in found}

    def on_host(self, host: str, *command: str) -> str:
        """Run a command on a compute host.

        :param host: its name
        :param command: program and arguments
        :returns: its output
        """
        return self.cloud.hosts[host].run(*command)
