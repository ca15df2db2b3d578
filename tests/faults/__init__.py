# SPDX-License-Identifier: Apache-2.0
"""The whole fault matrix in one go, and the table of what it finds.

`tests.functional.test_fault_matrix` has a test with a cloud of its own for
each case. Here many cases share one: each has its own server, and only that
is judged.
"""
