# SPDX-License-Identifier: Apache-2.0
"""What is built from the source, and from what a distribution unpacks."""
