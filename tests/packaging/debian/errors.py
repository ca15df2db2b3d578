# SPDX-License-Identifier: Apache-2.0
"""What ends the command; each message is one line."""


class PackageError(Exception):
    """The package cannot be made, or is not as it should be."""


class Unavailable(PackageError):
    """This machine cannot do it, whatever the package is like."""
