# SPDX-License-Identifier: Apache-2.0
"""What is listed and counted while a server has a record in two cells."""
