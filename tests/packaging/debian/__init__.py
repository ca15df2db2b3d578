# SPDX-License-Identifier: Apache-2.0
"""The Debian package, made with Debian's own tools, installed and removed.

The source has no ``debian/``; it is written from what ``setup.cfg`` and
``requirements.txt`` say. Run by ``python -m tests.packaging.debian``. Standard
library only.
"""
