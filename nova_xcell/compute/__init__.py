# SPDX-License-Identifier: Apache-2.0
"""The compute service (namespace ``nova_xcell.compute``)."""

#: What the host's SERVICE_MANAGERS names: a path, so that only nova-compute
#: imports the manager.
MANAGER = 'nova_xcell.compute.service_manager.ComputeManager'
