# SPDX-License-Identifier: Apache-2.0
"""Plug-ins that finish what five Nova specs promised.

The package is loaded into an unmodified Nova or Placement by oslo.config
(see :mod:`nova_xcell.source`); importing it changes nothing.
"""
