# SPDX-License-Identifier: Apache-2.0
"""How tests start the host: the operator's switch, and monkey patching."""

import os
import sys

#: What stands in nova.conf, spelled for the environment.
SWITCH = {
    'OS_DEFAULT__CONFIG_SOURCE': 'xcell',
    'OS_XCELL__DRIVER': 'nova_xcell',
}

#: Set in the environment to see what the tests say about a plain host: each
#: that covers something of ours has to fail there.
PLAIN = 'NOVA_XCELL_TEST_PLAIN_HOST'


def start() -> None:
    """Set the switch and import the host.

    To be called before anything of Nova is imported.
    """
    if os.environ.get(PLAIN):
        for name in SWITCH:
            os.environ.pop(name, None)
    else:
        os.environ.update(SWITCH)
    # Nova's fixtures look for the file beside the package; an installed Nova
    # has it in the environment's etc.
    os.environ.setdefault(
        'OS_WSGI__API_PASTE_CONFIG',
        os.path.join(sys.prefix, 'etc', 'nova', 'api-paste.ini'),
    )
    # This package decides on monkey patching before the host's other modules
    # are imported, but in Nova 32 it leaves that to a later module, too late.
    import nova.tests.functional  # noqa: F401

    disabled = os.environ.get('OS_NOVA_DISABLE_EVENTLET_PATCHING', '')
    if disabled.lower() not in ('1', 'true', 'yes'):
        from nova import monkey_patch

        # Nova 31 patches when the module is imported.
        patched = getattr(monkey_patch, 'is_patched', lambda: True)
        if not patched():
            monkey_patch.patch()
