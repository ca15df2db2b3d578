# SPDX-License-Identifier: Apache-2.0
"""Requests to Placement, as few as its API allows (RP-01)."""

from __future__ import annotations

from concurrent import futures
import typing as ty
from urllib import parse

from keystoneauth1 import exceptions as ks_exceptions

from nova_xcell import exception
from nova_xcell.reshaper import tree as tree_module

#: The first with POST /reshaper. From 1.38 on the type of each consumer would
#: have to be sent, also where Placement does not know it.
MICROVERSION = '1.30'

#: Requests at the same time.
WORKERS = 8

_CONCURRENT = 'placement.concurrent_update'


class PlacementError(exception.XcellError):
    """Placement has not done what it was asked for."""

    msg_fmt = '%(method)s %(url)s: Placement answered %(status)s: %(detail)s'


class Conflict(PlacementError):
    """Something has changed since it was read; plan again."""


class Placement:
    """Asks Placement.

    :ivar requests: how many requests were sent
    """

    def __init__(self, adapter: ty.Any, workers: int = WORKERS) -> None:
        """Use an adapter.

        :param adapter: of keystoneauth1 or openstacksdk
        :param workers: requests at the same time
        """
        self._adapter = adapter
        self._workers = workers
        self.requests = 0

    def get(self, url: str) -> dict:
        """GET something.

        :param url: without the endpoint
        :raises: :class:`PlacementError`
        """
        return self._send('GET', url)

    def get_all(self, urls: ty.Iterable[str]) -> list[dict]:
        """GET several things at the same time.

        :param urls: without the endpoint
        :returns: the answers, in the same order
        :raises: :class:`PlacementError`
        """
        urls = list(urls)
        if len(urls) < 2:
            return [self.get(url) for url in urls]
        with futures.ThreadPoolExecutor(self._workers) as pool:
            answers = [pool.submit(self._ask, 'GET', url) for url in urls]
            self.requests += len(urls)
            return [answer.result() for answer in answers]

    def put(self, url: str, body: ty.Any = None) -> dict:
        """PUT something.

        :param url: without the endpoint
        :param body: for JSON
        :raises: :class:`PlacementError`
        """
        return self._send('PUT', url, body)

    def post(self, url: str, body: ty.Any) -> dict:
        """POST something.

        :param url: without the endpoint
        :param body: for JSON
        :raises: :class:`PlacementError`
        """
        return self._send('POST', url, body)

    def delete(self, url: str) -> None:
        """DELETE something; that it is not there is as good.

        :param url: without the endpoint
        :raises: :class:`PlacementError`
        """
        self._send('DELETE', url, missing=True)

    def _send(self, *args: ty.Any, **kwargs: ty.Any) -> dict:
        self.requests += 1
        return self._ask(*args, **kwargs)

    def _ask(self, method, url, body=None, missing=False) -> dict:
        try:
            response = self._adapter.request(
                url,
                method,
                raise_exc=False,
                microversion=MICROVERSION,
                headers={'accept': 'application/json'},
                **({} if body is None else {'json': body}),
            )
        except ks_exceptions.ClientException as exc:
            raise PlacementError(
                method=method,
                url=url,
                status='nothing',
                detail=exception.one_line(exc),
            )
        status = response.status_code
        if status < 300 or (missing and status == 404):
            return response.json() if response.content else {}
        code, detail = _explained(response)
        kind = Conflict if code == _CONCURRENT else PlacementError
        raise kind(method=method, url=url, status=status, detail=detail)


def _explained(response) -> tuple[str | None, str]:
    try:
        (error, *_) = response.json()['errors']
        return error.get('code'), ' '.join(error['detail'].split())
    except (ValueError, KeyError, TypeError):
        return None, ' '.join((response.text or '').split())[:500]


def nodes(placement: Placement, names: ty.Iterable[str]) -> dict[str, str]:
    """Return roots of trees, as name by UUID.

    :param placement: to ask
    :param names: names or UUIDs of nodes; all there are if empty
    :raises: :class:`UnknownNode`
    """
    names = list(names)
    found: dict[str, str] = {}
    if not names:
        _add_roots(found, placement.get('/resource_providers'))
    for name in names:
        for key in ('name', 'uuid'):
            if key == 'uuid' and not _is_uuid(name):
                raise UnknownNode(name=name)
            query = parse.urlencode({key: name})
            if _add_roots(
                found, placement.get('/resource_providers?' + query)
            ):
                break
        else:
            raise UnknownNode(name=name)
    return found


class UnknownNode(exception.XcellError):
    msg_fmt = 'Placement has no root provider %(name)s.'


def _is_uuid(text: str) -> bool:
    # Placement answers 400 to a UUID that is none.
    return len(text) == 36 and not set(text.lower()) - set('0123456789abcdef-')


def _add_roots(found: dict[str, str], answer: dict) -> bool:
    roots = {
        each['uuid']: each['name']
        for each in answer['resource_providers']
        if each['root_provider_uuid'] == each['uuid']
    }
    found.update(roots)
    return bool(roots)


def read_tree(placement: Placement, root: str) -> tree_module.Tree:
    """Return a tree without traits, allocations and consumers.

    :param placement: to ask
    :param root: UUID
    :raises: :class:`PlacementError`
    """
    answer, aggregates = placement.get_all(
        (
            '/resource_providers?in_tree=' + root,
            '/resource_providers/%s/aggregates' % root,
        )
    )
    tree = tree_module.Tree(
        root, _providers(placement, answer['resource_providers'])
    )
    if aggregates['aggregates']:
        query = parse.urlencode(
            {
                'member_of': 'in:' + ','.join(aggregates['aggregates']),
                'required': 'MISC_SHARES_VIA_AGGREGATE',
            }
        )
        answer = placement.get('/resource_providers?' + query)
        tree.sharing = _providers(
            placement,
            [
                each
                for each in answer['resource_providers']
                if each['uuid'] not in tree.providers
            ],
        )
    return tree


def _providers(placement, found) -> dict[str, tree_module.Provider]:
    answers = placement.get_all(
        '/resource_providers/%s/inventories' % each['uuid'] for each in found
    )
    return {
        each['uuid']: tree_module.Provider(
            each['uuid'],
            each['name'],
            answer['resource_provider_generation'],
            each['parent_provider_uuid'],
            answer['inventories'],
        )
        for each, answer in zip(found, answers, strict=True)
    }


def _of_each(
    placement: Placement, url: str, keys: list[str]
) -> ty.Iterator[tuple[str, dict]]:
    """Return keys with the answers to one request for each."""
    answers = placement.get_all(url % key for key in keys)
    return zip(keys, answers, strict=True)


def read_allocations(
    placement: Placement, tree: tree_module.Tree, keys: ty.Iterable[str]
) -> None:
    """Read who has something of providers, one request each.

    :param placement: to ask
    :param tree: to complete
    :param keys: UUIDs of the providers
    :raises: :class:`PlacementError`
    """
    for key, answer in _of_each(
        placement, '/resource_providers/%s/allocations', sorted(keys)
    ):
        provider = tree.providers[key]
        provider.allocations = {
            consumer: each['resources']
            for consumer, each in answer['allocations'].items()
        }
        provider.allocations_generation = answer[
            'resource_provider_generation'
        ]


def read_traits(
    placement: Placement, tree: tree_module.Tree, keys: ty.Iterable[str]
) -> None:
    """Read the traits of providers, one request each.

    :param placement: to ask
    :param tree: to complete
    :param keys: UUIDs of the providers
    :raises: :class:`PlacementError`
    """
    for key, answer in _of_each(
        placement, '/resource_providers/%s/traits', sorted(keys)
    ):
        tree.providers[key].traits = frozenset(answer['traits'])


def read_consumers(
    placement: Placement, tree: tree_module.Tree, keys: ty.Iterable[str]
) -> None:
    """Read all that consumers have, one request each.

    :param placement: to ask
    :param tree: to complete; a consumer that is gone is left out
    :param keys: UUIDs of the consumers
    :raises: :class:`PlacementError`
    """
    for key, answer in _of_each(placement, '/allocations/%s', list(keys)):
        if answer['allocations']:
            tree.consumers[key] = tree_module.Consumer(
                key,
                answer['consumer_generation'],
                answer['project_id'],
                answer['user_id'],
                {
                    provider: each['resources']
                    for provider, each in answer['allocations'].items()
                },
            )
