# SPDX-License-Identifier: Apache-2.0
"""``nova-xcell-status``: may this host be run with the plug-ins?

Nothing is armed and no service is asked: the installed host is compared with
the table of seams, and the files of the operator are read.
"""

import functools
import sys
import textwrap

from oslo_config import cfg
from oslo_policy import policy
from oslo_upgradecheck import upgradecheck
import pbr.version

from nova_xcell import conf as xcell_conf
from nova_xcell import exception
from nova_xcell import features
from nova_xcell import policies
from nova_xcell import releases
from nova_xcell import seams
from nova_xcell.cmd import exits
from nova_xcell.cmd import messages

PROGRAM = 'nova-xcell-status'
#: Exit code if there is no result, that of the host's own command.
BROKEN_OFF = 255

_SUCCESS = upgradecheck.Code.SUCCESS
_WARNING = upgradecheck.Code.WARNING
_FAILURE = upgradecheck.Code.FAILURE


def _failure_on_error(check):
    """Turn an error of ours into a failed check with its message."""

    @functools.wraps(check)
    def wrapped(self):
        try:
            return check(self)
        except exception.XcellError as exc:
            return upgradecheck.Result(_FAILURE, str(exc))

    return wrapped


class Checks(upgradecheck.UpgradeCommands):
    """Checks of ``nova-xcell-status upgrade check``.

    :param conf: the host's configuration; parsed by the time a check runs
    """

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        super().__init__()
        self.conf = conf

    def _get_details(self, upgrade_check_result):
        """Return details for the table; oslo.upgradecheck joins the lines.

        :param upgrade_check_result: of one check
        """
        details = upgrade_check_result.details
        return details and '\n'.join(
            textwrap.fill(line, 60, subsequent_indent='  ')
            for line in details.splitlines()
        )

    @_failure_on_error
    def _check_host(self) -> upgradecheck.Result:
        found = ['nova %d' % releases.installed('nova')]
        placement = self._placement()
        if placement is None:
            found.append('placement is not installed here')
        else:
            found.append('placement %d' % placement)
        return upgradecheck.Result(_SUCCESS, ', '.join(found))

    def _placement(self) -> int | None:
        try:
            return releases.installed('placement')
        except exception.HostNotInstalled:
            return None

    @_failure_on_error
    def _check_options(self) -> upgradecheck.Result:
        xcell_conf.validate(self.conf)
        if not any(map(self._names_our_driver, self.conf.config_source)):
            return upgradecheck.Result(
                _WARNING,
                'no config_source with driver = nova_xcell in the '
                'configuration: services started with it stay plain.',
            )
        return upgradecheck.Result(_SUCCESS)

    def _names_our_driver(self, group: str) -> bool:
        try:
            # oslo.config registers the option while it opens the source.
            return self.conf[group].driver == 'nova_xcell'
        except (cfg.ConfigFileValueError, cfg.ConfigSourceValueError):
            # A driver that does not exist; oslo.config goes on without.
            return False

    @_failure_on_error
    def _check_seams(self) -> upgradecheck.Result:
        table = seams.for_features(
            features.FEATURES, releases.installed('nova')
        )
        placement = self._placement()
        if placement is not None:
            table += seams.for_features(
                features.FEATURES, placement, 'placement'
            )
        problems = seams.check_all(table)
        if problems:
            return upgradecheck.Result(_FAILURE, '\n'.join(problems.values()))
        return upgradecheck.Result(
            _SUCCESS, '%d seams as expected' % len(table)
        )

    @_failure_on_error
    def _check_features(self) -> upgradecheck.Result:
        hosts = {'nova': releases.installed('nova')}
        placement = self._placement()
        if placement is not None:
            hosts['placement'] = placement
        wanted = features.select(self.conf.xcell.features)
        for project, release in hosts.items():
            features.check_release(
                features.with_part_in(wanted, project), release, project
            )
        lines = []
        for name in features.FEATURES:
            services = sorted(
                {
                    service
                    for seam in seams.SEAMS
                    if seam.feature == name
                    and (
                        seam.project not in hosts
                        or seam.is_in(seam.project, hosts[seam.project])
                    )
                    for service in seam.services
                }
            )
            lines.append(
                '%s: %s'
                % (name, ', '.join(services) if name in wanted else 'off')
            )
        return upgradecheck.Result(_SUCCESS, '\n'.join(lines))

    @_failure_on_error
    def _check_policy(self) -> upgradecheck.Result:
        releases.installed('nova')
        from nova import policies as nova_policies

        enforcer = policy.Enforcer(self.conf)
        enforcer.suppress_default_change_warnings = True
        enforcer.suppress_deprecation_warnings = True
        enforcer.register_defaults(nova_policies.list_rules())
        names = [rule.name for rule in policies.list_rules()]
        enforcer.register_defaults(
            rule
            for rule in policies.list_rules()
            if rule.name not in enforcer.registered_rules
        )
        try:
            enforcer.load_rules()
            enforcer.check_rules(raise_on_violation=True)
        except Exception as exc:
            return upgradecheck.Result(
                _FAILURE, 'the policy file is not valid: %s' % exc
            )
        return upgradecheck.Result(
            _SUCCESS,
            '\n'.join(
                '%s: %s' % (name, enforcer.rules[name]) for name in names
            ),
        )

    _upgrade_checks = (
        ('Host release', _check_host),
        ('Options', _check_options),
        ('Seams', _check_seams),
        ('Features', _check_features),
        ('Policy', _check_policy),
    )


class _Configuration(cfg.ConfigOpts):
    """Not cfg.CONF: parsing that for project nova would arm this process."""

    def __call__(self, *args, **kwargs):
        """Read it, and say in the help what this is."""
        return super().__call__(
            *args,
            **{
                'prog': PROGRAM,
                'version': pbr.version.VersionInfo(
                    'nova-xcell'
                ).version_string(),
                'description': 'Tells whether the installed Nova can be run '
                'with nova-xcell. Nothing is changed and no service is asked.',
                'epilog': 'Example: %s --config-file /etc/nova/nova.conf '
                'upgrade check. Exit codes: 0 all is well, 1 a warning, 2 a '
                'failure or a command line that is not understood, 255 the '
                'command itself failed.' % PROGRAM,
                **kwargs,
            },
        )


def _check(argv: list[str]) -> int:
    conf = _Configuration()
    xcell_conf.register_opts(conf)
    try:
        return upgradecheck.main(conf, 'nova', Checks(conf), argv)
    except (cfg.Error, exception.XcellError, OSError) as exc:
        if isinstance(exc, BrokenPipeError):
            raise
        print('%s: %s' % (PROGRAM, messages.explain(exc)), file=sys.stderr)
        return BROKEN_OFF


def main(argv: list[str] | None = None) -> int:
    """Run ``nova-xcell-status``; the exit code is that of the worst check.

    :param argv: words; those of the process if None
    :returns: the exit code
    """
    return exits.program(
        lambda: _check(sys.argv[1:] if argv is None else argv)
    )


if __name__ == '__main__':
    sys.exit(main())
