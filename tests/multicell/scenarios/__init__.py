# SPDX-License-Identifier: Apache-2.0
"""The scenarios; see `registry` for what one is."""
