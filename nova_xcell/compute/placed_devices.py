# SPDX-License-Identifier: Apache-2.0
"""Which devices of a server come from which provider: pure, no host imports.

Placement says how much a server has of each provider, but not for which of
its requests. There may be several ways to share that out (XC-25).
"""

from __future__ import annotations

import collections.abc
import dataclasses
import typing as ty


@dataclasses.dataclass(frozen=True)
class Request:
    """Devices that a flavor asks for.

    :ivar name: what the request is known by
    :ivar count: number of devices
    :ivar resource_class: what each is in placement
    :ivar traits: traits that its provider must have
    """

    name: str
    count: int
    resource_class: str
    traits: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class Provider:
    """What a server has of a provider of PCI devices.

    :ivar uuid: the resource provider
    :ivar resources: amount by resource class
    :ivar traits: traits that it has
    """

    uuid: str
    resources: collections.abc.Mapping[str, int]
    traits: frozenset[str] = frozenset()

    def suits(self, request: Request) -> bool:
        """Tell whether devices of a request can come from here.

        :param request: the request
        """
        return (
            request.resource_class in self.resources
            and request.traits <= self.traits
        )


def ways(
    requests: collections.abc.Iterable[Request],
    providers: collections.abc.Iterable[Provider],
) -> ty.Iterator[dict[str, list[str]]]:
    """Share out what a server has of its providers among its requests.

    :param requests: the requests
    :param providers: the providers
    :returns: each way in which every request has its devices and nothing is
        left over: UUIDs of providers by request, one for each device
    """
    providers = tuple(providers)
    requests = sorted(
        requests,
        # With the pickiest first few attempts end in nothing.
        key=lambda request: sum(
            provider.suits(request) for provider in providers
        ),
    )
    left = {
        (provider.uuid, resource_class): amount
        for provider in providers
        for resource_class, amount in provider.resources.items()
    }
    if sum(request.count for request in requests) != sum(left.values()):
        return iter(())
    return _share_out(requests, providers, left)


def _share_out(
    requests: collections.abc.Sequence[Request],
    providers: tuple[Provider, ...],
    left: dict[tuple[str, str], int],
) -> ty.Iterator[dict[str, list[str]]]:
    if not requests:
        yield {}
        return
    request, *others = requests
    for chosen in _choices(request, request.count, providers, left):
        for uuid in chosen:
            left[uuid, request.resource_class] -= 1
        for way in _share_out(others, providers, left):
            yield {request.name: chosen, **way}
        for uuid in chosen:
            left[uuid, request.resource_class] += 1


def _choices(
    request: Request,
    count: int,
    providers: tuple[Provider, ...],
    left: dict[tuple[str, str], int],
) -> ty.Iterator[list[str]]:
    """Choose providers for some devices; those of one are all the same."""
    if not count:
        yield []
        return
    if not providers:
        return
    provider, *others = providers
    most = 0
    if provider.suits(request):
        most = min(count, left[provider.uuid, request.resource_class])
    for number in range(most, -1, -1):
        for rest in _choices(request, count - number, tuple(others), left):
            yield [provider.uuid] * number + rest
