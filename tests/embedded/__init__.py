# SPDX-License-Identifier: Apache-2.0
"""A whole Nova and Placement in one process, for tests and for the demo.

`cloud` builds it, `driver` is its hypervisor, `faults` breaks it,
`observe` photographs one server all over it and `invariants` says what in
such a photograph does not belong there.
"""
