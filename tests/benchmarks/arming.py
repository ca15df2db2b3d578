# SPDX-License-Identifier: Apache-2.0
"""What the plug-ins add to the start of a service: time and memory.

``python -m tests.benchmarks.arming [ROUNDS]`` starts each service as far as
its manager's module is imported, plain and with the switch in turn.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

#: Service -> the modules its command imports before and after parsing.
SERVICES = {
    'nova-conductor': ('nova.cmd.conductor', 'nova.conductor.manager'),
    'nova-scheduler': ('nova.cmd.scheduler', 'nova.scheduler.manager'),
    'nova-compute': ('nova.cmd.compute', None),
    'nova-api': ('nova.wsgi.osapi_compute', None),
}

START = '''
import importlib, json, resource, sys, time
before, after, config = sys.argv[1:]
begin = time.process_time()
if before == 'nova.wsgi.osapi_compute':
    # The module is the application, and starts it; this is what it imports.
    import nova.api.openstack.wsgi_app
    import nova.api.openstack.compute
else:
    importlib.import_module(before)
from nova import config as nova_config, objects
nova_config.parse_args(['nova', '--config-file', config],
                       configure_db=False, init_rpc=False)
objects.register_all()
from nova import service
if before == 'nova.cmd.compute':
    from oslo_utils import importutils
    import nova.virt.libvirt
    importutils.import_class(service.SERVICE_MANAGERS['nova-compute'])
elif after != 'None':
    importlib.import_module(after)
    import nova.scheduler.weights
    nova.scheduler.weights.all_weighers()
print(json.dumps({
    'seconds': time.process_time() - begin,
    'megabytes': resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
'''

CONFIGS = {
    'plain': '[DEFAULT]\n',
    'armed': '[DEFAULT]\nconfig_source = xcell\n'
    '[xcell]\ndriver = nova_xcell\n',
}


def start(modules: tuple, config: pathlib.Path) -> dict[str, float]:
    """Start a service once.

    :param modules: what it imports
    :param config: its configuration
    :returns: processor seconds, which other work on the machine changes
        little, and peak megabytes
    """
    environ = {
        key: value for key, value in os.environ.items() if key[:3] != 'OS_'
    }
    environ.update(
        PYTHONWARNINGS='ignore', OS_NOVA_DISABLE_EVENTLET_PATCHING='true'
    )
    output = subprocess.run(
        [sys.executable, '-c', START, *map(str, modules), str(config)],
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(output.stdout)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    print('%-16s %10s %10s %8s' % ('service', 'plain', 'armed', 'added'))
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for name, text in CONFIGS.items():
            paths[name] = pathlib.Path(folder) / name
            paths[name].write_text(text)
        for service, modules in SERVICES.items():
            results = {name: [] for name in CONFIGS}
            for _round in range(rounds):
                for name, path in paths.items():
                    results[name].append(start(modules, path))
            for unit in ('seconds', 'megabytes'):
                # Other work on the machine only ever adds, so the least is
                # the nearest to what it takes.
                plain, armed = (
                    min(run[unit] for run in results[name]) for name in CONFIGS
                )
                print(
                    '%-16s %10.3f %10.3f %8.3f %s'
                    % (service, plain, armed, armed - plain, unit)
                )


if __name__ == '__main__':
    main()
