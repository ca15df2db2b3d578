# SPDX-License-Identifier: Apache-2.0
"""Stands for ``placement.util`` in the handler of reshapes."""

import typing as ty

from oslo_serialization import jsonutils
from oslo_utils import uuidutils

from placement import util as host_util

from nova_xcell.placement import json_schema

#: By the schema's id, the schema, which so keeps that id, and its check.
_checks: dict[int, tuple[dict, json_schema.Check]] = {}


def extract_json(body: bytes, schema: dict) -> ty.Any:
    """Read the body of a request.

    :param body: the body
    :param schema: JSON schema of what is expected; one of the host's, which
        do not change
    :returns: its content
    :raises: webob.exc.HTTPBadRequest
    """
    try:
        data = jsonutils.loads(body)
    except ValueError:
        data = None
    if _check_of(schema)(data):
        return data
    return host_util.extract_json(body, schema)


def _check_of(schema: dict) -> json_schema.Check:
    if id(schema) not in _checks:
        try:
            check = json_schema.compile_schema(schema, uuidutils.is_uuid_like)
        except json_schema.Unknown:
            # A release this was not made for.
            check = _no
        _checks[id(schema)] = schema, check
    return _checks[id(schema)][1]


def _no(value: ty.Any) -> bool:
    return False
