# SPDX-License-Identifier: Apache-2.0
"""Conductor tasks (namespace nova_xcell.tasks)."""
