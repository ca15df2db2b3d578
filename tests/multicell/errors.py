# SPDX-License-Identifier: Apache-2.0
"""The one error that ends a command."""


class MulticellError(Exception):
    """Something is missing or did not happen; the message is one line."""
