# SPDX-License-Identifier: Apache-2.0
"""The switch: oslo.config opens this driver, and the plug-ins are armed.

A host parses its configuration more than once, the first time before it has
decided about monkey patching. This module therefore imports oslo.config and
the standard library only; everything else is imported when a service parses
its real configuration.
"""

import typing as ty

from oslo_config import cfg
from oslo_config import sources


class XcellSource(sources.ConfigurationSource):
    """A source of values for host options the plug-ins depend on.

    None of the plug-ins needs one so far, so every lookup goes on to the
    option's default.
    """

    def get(
        self,
        group_name: str | None,
        option_name: str,
        opt: cfg.Opt,
    ) -> tuple[ty.Any, cfg.LocationInfo | None]:
        return sources._NoValue, None


class XcellSourceDriver(sources.ConfigurationSourceDriver):
    """The driver ``nova_xcell`` of oslo.config's ``config_source``."""

    def list_options_for_discovery(self) -> list[cfg.Opt]:
        # The options stand in [xcell] whatever the group of the source is
        # called; nova_xcell.conf lists them for the generator.
        return []

    def open_source_from_opt_group(
        self,
        conf: cfg.ConfigOpts,
        group_name: str,
    ) -> XcellSource:
        """Arm the plug-ins if a service of a known host is starting.

        :param conf: the configuration that is being parsed
        :param group_name: the group that names this driver
        :returns: the source
        :raises: SystemExit with one line if the plug-ins cannot be armed.
            oslo.config goes on without a source whose driver raises
            Exception, and a service that was told to load the plug-ins must
            not run without them.
        """
        project = _host_project(conf)
        if project is not None:
            try:
                from nova_xcell import loader

                loader.arm(conf, project)
            except Exception as exc:
                from nova_xcell import exception

                raise SystemExit(
                    'nova-xcell: %s' % exception.one_line(exc)
                ) from exc
        return XcellSource()


def _host_project(conf: cfg.ConfigOpts) -> str | None:
    """Return the host project this is the real configuration of, if any."""
    project = getattr(conf, 'project', None)
    if project == 'nova' and conf is cfg.CONF:
        return project
    if project == 'placement':
        # Placement makes an own ConfigOpts for each of its applications.
        return project
    return None
