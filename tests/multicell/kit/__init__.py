# SPDX-License-Identifier: Apache-2.0
"""What scenarios are made of; runs in the cloud's environment."""
