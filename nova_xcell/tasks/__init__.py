# SPDX-License-Identifier: Apache-2.0
"""Conductor tasks (namespace ``nova_xcell.tasks``)."""

#: What the host's SERVICE_MANAGERS names: a path, so that only nova-conductor
#: imports the manager.
CONDUCTOR_MANAGER = 'nova_xcell.tasks.conductor_manager.ConductorManager'
