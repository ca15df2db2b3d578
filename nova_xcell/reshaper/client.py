# SPDX-License-Identifier: Apache-2.0
"""Plan and apply reshapes through Placement's API."""

from __future__ import annotations

import typing as ty

from oslo_log import log as logging

from nova_xcell.reshaper import placement as placement_module
from nova_xcell.reshaper import plan as plan_module
from nova_xcell.reshaper import rules as rules_module
from nova_xcell.reshaper import tree as tree_module
from nova_xcell.reshaper import undo

LOG = logging.getLogger(__name__)

#: How often to plan again if something changes at the same time.
ATTEMPTS = 5

#: Keeps a record for an undo; called before anything is sent.
Keep = ty.Callable[[dict], None]


class Client:
    """Reshapes trees."""

    def __init__(self, placement: placement_module.Placement) -> None:
        """Use Placement.

        :param placement: to ask
        """
        self._placement = placement

    def plan(
        self, root: str, rules: ty.Iterable[rules_module.Rule]
    ) -> plan_module.Plan:
        """Plan a reshape; nothing is changed.

        :param root: UUID of the root of the tree
        :param rules: the rules
        :raises: :class:`~nova_xcell.reshaper.placement.PlacementError`
        """
        rules = tuple(rules)
        return self._settled(
            root,
            lambda tree: plan_module.concerned(tree, rules),
            lambda tree: plan_module.make(tree, rules),
        )

    def plan_undo(self, record: ty.Mapping) -> plan_module.Plan:
        """Plan the way back; nothing is changed.

        :param record: what was kept before the reshape
        :raises: :class:`~nova_xcell.reshaper.placement.PlacementError`
        """
        return self._settled(
            record['root'],
            lambda tree: undo.concerned(record, tree),
            lambda tree: undo.make(record, tree),
        )

    def apply(
        self, root: str, rules: ty.Iterable[rules_module.Rule], keep: Keep
    ) -> plan_module.Plan:
        """Reshape a tree, or do nothing if its plan has problems.

        :param root: UUID of the root of the tree
        :param rules: the rules
        :param keep: keeps what is needed for an undo
        :returns: the plan that was applied, or that has problems
        :raises: :class:`~nova_xcell.reshaper.placement.PlacementError`;
            nothing is changed then, unless the answer got lost
        """
        created: dict[str, dict] = {}
        try:
            return self._apply(
                lambda: self.plan(root, rules),
                lambda plan: self._prepare(plan, created, keep),
            )
        except Exception:
            # If only the answer got lost, they have inventories and stay.
            self._remove(created.values())
            raise

    def undo(self, record: ty.Mapping) -> plan_module.Plan:
        """Undo a reshape, or do nothing if that has problems.

        :param record: what was kept before the reshape
        :returns: the plan that was applied, or that has problems
        :raises: :class:`~nova_xcell.reshaper.placement.PlacementError`
        """
        plan = self._apply(lambda: self.plan_undo(record), lambda plan: {})
        if not plan.problems:
            created = {new['uuid'] for new in record['new']}
            self._take_traits(record, created)
            self._remove(record['new'])
        return plan

    def _settled(self, root, concerned, make) -> plan_module.Plan:
        """Read and plan until nothing changes in between."""
        for _ in range(ATTEMPTS):
            tree = placement_module.read_tree(self._placement, root)
            placement_module.read_allocations(
                self._placement, tree, concerned(tree)
            )
            plan = make(tree)
            known = plan.traits.keys() & tree.providers.keys()
            if plan.missing or known:
                placement_module.read_traits(self._placement, tree, known)
                placement_module.read_consumers(
                    self._placement, tree, plan.missing
                )
                plan = make(tree)
            if not any(
                problem.kind == tree_module.GENERATION
                for problem in plan.problems
            ):
                break
        return plan

    def _apply(self, make, prepare) -> plan_module.Plan:
        for attempt in range(1, ATTEMPTS + 1):
            plan = make()
            if plan.problems or plan.is_empty:
                return plan
            try:
                generations = prepare(plan)
                self._placement.post('/reshaper', plan.payload(generations))
                return plan
            except placement_module.Conflict as exc:
                if attempt == ATTEMPTS:
                    raise
                LOG.info('Node %s has changed, planning again: %s',
                         plan.tree.name, exc)  # fmt: skip

    def _prepare(self, plan, created, keep) -> dict[str, int]:
        """Create what the request needs to be there already."""
        record = undo.record(plan)
        keep(record)
        for name in sorted(
            {
                name
                for change in record['inventories'].values()
                for name in change['classes']
                if name.startswith('CUSTOM_')
            }
        ):
            self._placement.put('/resource_classes/' + name)
        generations = {}
        for new in plan.new:
            body = {
                'uuid': new.uuid,
                'name': new.name,
                'parent_provider_uuid': new.parent,
            }
            answer = self._placement.post('/resource_providers', body)
            created[new.uuid] = {
                'uuid': new.uuid,
                'name': new.name,
                'parent': new.parent,
            }
            generations[new.uuid] = answer['generation']
        for key, traits in plan.traits.items():
            provider = plan.tree.providers.get(key)
            generation = generations.get(key)
            if generation is None:
                generation = provider.generation
            generations[key] = self._set_traits(
                key,
                generation,
                traits | (provider.traits if provider else set()),
            )
        return generations

    def _set_traits(self, key, generation, traits) -> int:
        for name in sorted(traits):
            if name.startswith('CUSTOM_'):
                self._placement.put('/traits/' + name)
        return self._placement.put(
            '/resource_providers/%s/traits' % key,
            {
                'resource_provider_generation': generation,
                'traits': sorted(traits),
            },
        )['resource_provider_generation']

    def _take_traits(self, record, created) -> None:
        for key, traits in record['traits'].items():
            if key in created:
                continue
            url = '/resource_providers/%s/traits' % key
            now = self._placement.get(url)
            left = set(now['traits']) - set(traits)
            if left != set(now['traits']):
                self._set_traits(
                    key, now['resource_provider_generation'], left
                )

    def _remove(self, created: ty.Iterable[ty.Mapping]) -> None:
        """Delete children that the reshape has created, if nobody has them."""
        for new in reversed(list(created)):
            url = '/resource_providers/%s' % new['uuid']
            try:
                inventories = self._placement.get(url + '/inventories')
                if not inventories['inventories']:
                    self._placement.delete(url)
            except placement_module.PlacementError as exc:
                LOG.info('Provider %s is left: %s', new['name'], exc)
