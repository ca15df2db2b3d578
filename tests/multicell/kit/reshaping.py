# SPDX-License-Identifier: Apache-2.0
"""A host with a custom resource class, and rules for it."""

from __future__ import annotations

import json
import pathlib
import shutil

from tests.multicell.errors import MulticellError
from tests.multicell.kit import manage
from tests.multicell.kit.clients import Clients
from tests.multicell.kit.faults import Faults

OLD, NEW = 'CUSTOM_MULTICELL_OLD', 'CUSTOM_MULTICELL_NEW'

_RULES = f"""
version: 1
rules:
- rename: {{resource_class: {OLD}, to: {NEW}}}
- move:
    resource_class: {NEW}
    to: {{count: 2, name: '{{node}}_part{{index}}'}}
"""

#: What a consumer has, by name of the provider.
Held = dict[str, dict[str, int]]


class Reshaping:
    """What an operator has for a reshape of one host.

    :param clients: of the cloud
    :param faults: of the cloud
    :param host: name of the host
    """

    def __init__(self, clients: Clients, faults: Faults, host: str) -> None:
        self._clients = clients
        self._faults = faults
        self.host = host
        layout = clients.layout
        self._folder = layout.run / 'reshape'
        shutil.rmtree(self._folder, ignore_errors=True)
        self._providers.mkdir(parents=True)
        self.rules.write_text(_RULES)

    @property
    def _providers(self) -> pathlib.Path:
        return self._folder / 'providers'

    @property
    def rules(self) -> pathlib.Path:
        """The file of rules."""
        return self._folder / 'rules.yaml'

    @property
    def undo_file(self) -> pathlib.Path:
        """What the command keeps."""
        return self._folder / 'undo.json'

    def live_undo_file(self) -> pathlib.Path:
        """Return what nova-compute has kept.

        :raises: MulticellError if that is not one file
        """
        found = list((self._folder / 'undo').glob('*.json'))
        if len(found) != 1:
            raise MulticellError(f'{len(found)} undo files of nova-compute')
        return found[0]

    def describe(self, total: int) -> None:
        """Say in a provider config file what the host has of the old class.

        :param total: 0 takes the file away
        """
        path = self._providers / 'multicell.yaml'
        path.unlink(missing_ok=True)
        if total:
            # JSON is YAML too.
            path.write_text(
                json.dumps(
                    {
                        'meta': {'schema_version': '1.0'},
                        'providers': [
                            {
                                'identification': {'uuid': '$COMPUTE_NODE'},
                                'inventories': {
                                    'additional': [{OLD: {'total': total}}]
                                },
                            }
                        ],
                    }
                )
            )

    def restart(self, with_rules: bool = False) -> None:
        """Start the host's nova-compute anew.

        :param with_rules: whether its configuration names the rules
        """
        settings = self.environment
        if with_rules:
            settings['OS_XCELL__RESHAPE_RULES'] = str(self.rules)
            settings['OS_XCELL__RESHAPE_UNDO_DIR'] = str(self._folder / 'undo')
        self._faults.restart(self.service, **settings)

    @property
    def service(self) -> str:
        """Name of the host's nova-compute in the table of services."""
        return f'nova-compute-{self.host}'

    @property
    def environment(self) -> dict[str, str]:
        """What that needs in its environment to read what `describe` says."""
        return {'OS_COMPUTE__PROVIDER_CONFIG_LOCATION': str(self._providers)}

    def forget(self) -> None:
        """Start the host's nova-compute as in all other scenarios."""
        self.describe(0)
        self._faults.restart(self.service)

    def command(self, *words: object) -> str:
        """Run the command that needs the database only.

        :param words: its arguments
        :returns: what it printed
        :raises: MulticellError if it fails
        """
        return manage.run(
            self._clients,
            'placement',
            'migrate_compute_inventory',
            '--placement-config-file',
            self._clients.layout.etc / 'placement' / 'placement.conf',
            *words,
        )

    def held(self, consumer: str) -> Held:
        """Return what a consumer has, as Placement's database says.

        :param consumer: its uuid
        """
        rows = self._clients.sql(
            'placement',
            'select p.name as provider, c.name as class, a.used as used '
            'from allocations a '
            'join resource_providers p on p.id = a.resource_provider_id '
            'join resource_classes c on c.id = a.resource_class_id '
            'where a.consumer_id = %s',
            consumer,
        )
        held: Held = {}
        for row in rows:
            held.setdefault(row['provider'], {})[row['class']] = row['used']
        return held

    def totals(self) -> dict[str, dict[str, int]]:
        """Return the custom classes of the host's tree, by provider."""
        rows = self._clients.sql(
            'placement',
            'select p.name as provider, c.name as class, i.total as total '
            'from inventories i '
            'join resource_providers p on p.id = i.resource_provider_id '
            'join resource_classes c on c.id = i.resource_class_id '
            'where c.name in (%s, %s)',
            OLD,
            NEW,
        )
        totals: dict[str, dict[str, int]] = {}
        for row in rows:
            totals.setdefault(row['provider'], {})[row['class']] = row['total']
        return totals
