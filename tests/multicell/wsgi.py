# SPDX-License-Identifier: Apache-2.0
"""Serve one WSGI application: MODULE ADDRESS PORT [ARGUMENT...].

Run by its path in the cloud's environment. The arguments are those that the
application finds in ``sys.argv``; several parse it when they are imported.
"""

import importlib
import os
import sys

from gunicorn.app.base import BaseApplication
from sqlalchemy import orm

THREADS = 8

# Nova before 34 would patch the threads that serve it.
os.environ['OS_NOVA_DISABLE_EVENTLET_PATCHING'] = 'true'


class Application(BaseApplication):
    """gunicorn with one process and native threads."""

    def __init__(self, module: str, address: str, port: str) -> None:
        self.module = module
        self.bind = f'{address}:{port}'
        super().__init__()

    def load_config(self) -> None:
        options = {
            'bind': self.bind,
            'workers': 1,
            'worker_class': 'gthread',
            'threads': THREADS,
            'timeout': 300,
            'graceful_timeout': 5,
            'keepalive': 30,
            'worker_tmp_dir': '/dev/shm',
            'accesslog': '-',
            # Request, status, bytes of the body, seconds.
            'access_log_format': '%(t)s "%(r)s" %(s)s %(B)s %(L)s',
        }
        for option, value in options.items():
            self.cfg.set(option, value)

    def load(self):
        application = importlib.import_module(self.module).application
        # Otherwise the first requests do it, and one that runs beside it can
        # find a model of Neutron half made; then it answers 500 for good.
        orm.configure_mappers()
        return application


if __name__ == '__main__':
    _script, module, address, port, *rest = sys.argv
    sys.argv = [module, *rest]
    Application(module, address, port).run()
