# SPDX-License-Identifier: Apache-2.0
"""What the plug-ins rely on in the host, checked on every host release.

These tests import and start pieces of the installed host, but no service and
no database. Where a process has to be armed it is one of its own.
"""
