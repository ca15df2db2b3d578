# SPDX-License-Identifier: Apache-2.0
"""Rebuild of servers on volumes that can fail without losing anything."""
