# SPDX-License-Identifier: Apache-2.0
"""The operator's switch, for tests that run with the plug-ins."""

import os

#: What stands in nova.conf, spelled for the environment.
SWITCH = {
    'OS_DEFAULT__CONFIG_SOURCE': 'xcell',
    'OS_XCELL__DRIVER': 'nova_xcell',
}

#: Set in the environment to see what the tests say about a plain host: each
#: that covers something of ours has to fail there.
PLAIN = 'NOVA_XCELL_TEST_PLAIN_HOST'


def turn_on() -> None:
    """Set the switch; to be called before Nova reads its configuration."""
    if not os.environ.get(PLAIN):
        os.environ.update(SWITCH)
