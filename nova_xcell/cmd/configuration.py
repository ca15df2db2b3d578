# SPDX-License-Identifier: Apache-2.0
"""The configuration of the host, read for a command."""

from __future__ import annotations

import logging
import sys

from oslo_config import cfg
from oslo_log import log as oslo_logging

from nova_xcell import exception
from nova_xcell import releases


class InvalidConnection(exception.XcellError):
    msg_fmt = (
        '%(option)s is not the URL of a database; characters such as @, / and '
        ': in the password have to be written as %%40, %%2F and %%3A'
    )


def read(program: str, options: list[str], level: int) -> None:
    """Read it as the host's own commands do.

    :param program: name of the command
    :param options: what the host's commands know of the command line
    :param level: what is shown of the log on standard error
    :raises: :class:`~nova_xcell.exception.HostNotInstalled`,
        :class:`~nova_xcell.exception.UnsupportedHost`,
        :class:`InvalidConnection`, errors of oslo.config
    """
    releases.installed('nova')
    # Nothing of the host above: it may not be there.
    from nova import config
    from nova import objects
    import nova.conf

    from nova_xcell import conf as xcell_conf

    config.parse_args([program, *options])
    conf = nova.conf.CONF
    xcell_conf.register_opts(conf)
    for group in ('api_database', 'database'):
        check_connection(conf, group)
    if not (conf.log_file or conf.log_dir):
        # oslo.log would take standard output, which is for the result.
        conf.set_override('use_stderr', True)
    oslo_logging.setup(conf, 'nova')
    for handler in logging.getLogger().handlers:
        if getattr(handler, 'stream', None) is sys.stderr:
            handler.setLevel(level)
    objects.register_all()


def check_connection(conf: cfg.ConfigOpts, group: str) -> None:
    """Check where a database is said to be.

    What SQLAlchemy says of a URL that it cannot read may have a part of the
    password, and what is behind an "@" in the password it takes for the host.

    :param conf: of the host
    :param group: with an option ``connection``
    :raises: :class:`InvalidConnection`
    """
    from sqlalchemy import engine

    url = conf[group].connection
    if not url:
        return
    try:
        parts = engine.make_url(url)
        is_sound = '@' not in '%s/%s' % (parts.host, parts.database)
    except Exception:
        is_sound = False
    if not is_sound:
        raise InvalidConnection(option='[%s] connection' % group)
