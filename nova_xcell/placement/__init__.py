# SPDX-License-Identifier: Apache-2.0
"""POST /reshaper, faster (namespace ``nova_xcell.placement``).

Placement's own handler stays: version, policy, schema and the translation of
errors are its code. It does the work with functions that it looks up in other
modules, once for each consumer or row. The modules ``allocation``,
``data_util``, ``db_api``, ``reshaper`` and ``util`` here take the places of
those, and do the same for many at once.
"""
