# SPDX-License-Identifier: Apache-2.0
"""Compute API and validators (namespace nova_xcell.api)."""
