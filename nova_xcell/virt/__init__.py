# SPDX-License-Identifier: Apache-2.0
"""Virt drivers (namespace nova_xcell.virt)."""
