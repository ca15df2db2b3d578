# SPDX-License-Identifier: Apache-2.0
"""The demonstration: `python -m tests.demo`."""
