# SPDX-License-Identifier: Apache-2.0
"""Request filters and the scheduler's manager (namespace
nova_xcell.scheduler)."""
