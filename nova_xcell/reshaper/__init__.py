# SPDX-License-Identifier: Apache-2.0
"""Reshaped provider trees (namespace nova_xcell.reshaper)."""
