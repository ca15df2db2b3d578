# SPDX-License-Identifier: Apache-2.0
"""Fill Keystone with users, roles and end points; can be repeated.

Run by its path in the cloud's environment, with the address of the control
plane.
"""

import sys

import openstack

#: Those of layout.py; this file is run alone and imports nothing of ours.
PASSWORD = 'multicell'
USERS = ('nova', 'placement', 'glance', 'neutron', 'cinder')
END_POINTS = (
    ('nova', 'compute', ':8774/v2.1'),
    ('placement', 'placement', ':8778'),
    ('glance', 'image', ':9292'),
    ('neutron', 'network', ':9696'),
    ('cinder', 'volumev3', ':8776/v3/$(project_id)s'),
    ('cinder', 'block-storage', ':8776/v3/$(project_id)s'),
)


def fill(address: str) -> None:
    """Create what is missing.

    :param address: of the control plane
    """
    identity = openstack.connect(
        auth_url=f'http://{address}:5000/v3',
        username='admin',
        password=PASSWORD,
        project_name='admin',
        user_domain_name='Default',
        project_domain_name='Default',
        region_name='RegionOne',
    ).identity
    project = identity.find_project('service') or identity.create_project(
        name='service', domain_id='default'
    )
    roles = {role.name: role for role in identity.roles()}
    if 'service' not in roles:
        roles['service'] = identity.create_role(name='service')
    for name in USERS:
        user = identity.find_user(name) or identity.create_user(
            name=name,
            password=PASSWORD,
            domain_id='default',
            default_project_id=project.id,
        )
        for role in ('admin', 'service'):
            identity.assign_project_role_to_user(project, user, roles[role])
    known = {service.type for service in identity.services()}
    for name, kind, rest in END_POINTS:
        if kind in known:
            continue
        service = identity.create_service(name=name, type=kind)
        for interface in ('public', 'internal', 'admin'):
            identity.create_endpoint(
                service_id=service.id,
                interface=interface,
                url=f'http://{address}{rest}',
                region_id='RegionOne',
            )


if __name__ == '__main__':
    fill(sys.argv[1])
