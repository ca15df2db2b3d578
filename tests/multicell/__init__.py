# SPDX-License-Identifier: Apache-2.0
"""A real OpenStack with two cells on one machine, and tests on it.

``python -m tests.multicell --help``. What runs in the command itself uses the
standard library only; what talks to the cloud (``kit``, ``scenarios``,
``identity``) runs in the cloud's virtual environment and name space.
"""
