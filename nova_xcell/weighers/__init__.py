# SPDX-License-Identifier: Apache-2.0
"""Scheduler weighers (namespace ``nova_xcell.weighers``)."""
