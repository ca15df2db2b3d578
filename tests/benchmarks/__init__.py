# SPDX-License-Identifier: Apache-2.0
"""Measurements, host and ours in turn in one run; nothing is asserted."""
