# SPDX-License-Identifier: Apache-2.0
"""A scheduler that has valid hosts in the middle of an upgrade (MF-04)."""

from __future__ import annotations

from oslo_log import log as logging
import oslo_messaging as messaging

from nova import exception as nova_exception
from nova.scheduler import utils

from nova_xcell.scheduler import migration_traits
from nova_xcell.scheduler import upgrade

LOG = logging.getLogger(__name__)

# As the host's: what is not there, while None would be something.
_SENTINEL = object()


class WishedTraits:
    """Goes before the host's manager of nova-scheduler."""

    def select_destinations(
        self,
        context,
        request_spec=None,
        filter_properties=None,
        spec_obj=_SENTINEL,
        instance_uuids=None,
        return_objects=False,
        return_alternates=False,
    ):
        """Select hosts for servers; see the host's method.

        Hosts that do what the server wishes go before all others. If none is
        left, others will do as long as there are computes that could do it
        and do not report it yet; a plain scheduler would take them too.

        :param context: auth context of the request
        :param request_spec: of old conductors, see the host's method
        :param filter_properties: likewise
        :param spec_obj: nova.objects.RequestSpec
        :param instance_uuids: see the host's method
        :param return_objects: see the host's method
        :param return_alternates: see the host's method
        :returns: see the host's method
        """

        def select(spec):
            return super(WishedTraits, self).select_destinations(
                context,
                request_spec=request_spec,
                filter_properties=filter_properties,
                **({} if spec is _SENTINEL else {'spec_obj': spec}),
                instance_uuids=instance_uuids,
                return_objects=return_objects,
                return_alternates=return_alternates,
            )

        if spec_obj is _SENTINEL or utils.request_is_rebuild(spec_obj):
            # A server that is rebuilt stays where it is.
            return select(spec_obj)
        traits = migration_traits.wished(context, spec_obj)
        # The filters change the request.
        original = spec_obj.obj_clone() if traits else spec_obj
        try:
            with migration_traits.required(traits):
                return select(spec_obj)
        except messaging.ExpectedException as exc:
            if not traits or not issubclass(
                exc.exc_info[0], nova_exception.NoValidHost
            ):
                raise
            if upgrade.is_over(context, traits):
                raise
        LOG.info(
            'No host that reports %s can take the server. Others will do, '
            'since not every compute reports it yet.',
            ' and '.join(sorted(traits)),
            instance_uuid=spec_obj.instance_uuid,
        )
        with migration_traits.required(migration_traits.NO_TRAITS):
            return select(original)
