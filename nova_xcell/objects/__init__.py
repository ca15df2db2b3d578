# SPDX-License-Identifier: Apache-2.0
"""Objects of the host with more fields (namespace nova_xcell.objects)."""
