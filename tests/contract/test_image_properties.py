# SPDX-License-Identifier: Apache-2.0
"""Image properties of ours, and services that do not know them (MF-03)."""

import textwrap

from tests.contract import base

PREPARE = textwrap.dedent('''
    import json
    import nova.conf
    from nova import objects
    objects.register_all()
    from nova.objects import image_meta

    KEY = 'compute_live_migration_post_copy'
    RAW = {KEY: 'yes', 'hw_disk_bus': 'virtio'}

    def write():
        props = objects.ImageMetaProps.from_dict(RAW)
        return objects.ImageMeta(properties=props).obj_to_primitive()

    def read(primitive):
        meta = objects.ImageMeta.obj_from_primitive(primitive)
        props = meta.properties
        return [
            type(props) is image_meta.ImageMetaProps,
            props.get('hw_disk_bus'),
            KEY in props.fields and props.get(KEY),
            KEY in json.dumps(meta.obj_to_primitive()),
        ]

    def plain():
        loader.disarm()

    def ours():
        loader.arm(nova.conf.CONF, 'nova')
    ''')


class TestImageProperties(base.ProcessTest):
    def run_ours(self, code):
        return self.output_of(base.ENABLED, PREPARE + textwrap.dedent(code))

    def test_known_to_ours(self):
        self.assertEqual(
            "[False, 'virtio', True, True]",
            self.run_ours('print(read(write()))'),
        )

    def test_plain_reads_what_ours_wrote(self):
        """It does not know what it does not read, and passes nothing on."""
        self.assertEqual(
            "[True, 'virtio', False, False]",
            self.run_ours('''
                written = write()
                plain()
                print(read(written))'''),
        )

    def test_ours_reads_what_plain_wrote(self):
        self.assertEqual(
            "[False, 'virtio', None, False]",
            self.run_ours('''
                plain()
                written = write()
                ours()
                print(read(written))'''),
        )

    def test_same_version(self):
        """What a service says it knows is what it does know."""
        self.assertEqual(
            'True',
            self.run_ours('''
                print(objects.ImageMetaProps.VERSION
                      == image_meta.ImageMetaProps.VERSION)'''),
        )

    def test_older_version_for_an_older_service(self):
        """The host's own way, through our class."""
        self.assertEqual(
            "[True, 'virtio', False, False]",
            self.run_ours('''
                props = objects.ImageMetaProps.from_dict(RAW)
                old = props.obj_to_primitive(target_version='1.30')
                assert old['nova_object.version'] == '1.30'
                old['nova_object.version'] = props.VERSION
                plain()
                whole = write()
                whole['nova_object.data']['properties'] = old
                print(read(whole))'''),
        )

    def test_put_back(self):
        self.assertEqual(
            'True True False',
            self.run_ours('''
                classes = objects.base.NovaObjectRegistry.obj_classes()
                plain()
                print(objects.ImageMetaProps is image_meta.ImageMetaProps,
                      classes['ImageMetaProps'] == [image_meta.ImageMetaProps],
                      KEY in image_meta.ImageMetaProps.fields)'''),
        )

    def test_values(self):
        """As the host reads its own booleans."""
        self.assertEqual(
            '[True, True, False, False, False]',
            self.run_ours('''
                print([
                    getattr(objects.ImageMetaProps.from_dict({KEY: raw}), KEY)
                    for raw in ('true', '1', 'no', 'banana', '')])'''),
        )
