# SPDX-License-Identifier: Apache-2.0
"""Live migrations that can be followed from their request to their end."""
