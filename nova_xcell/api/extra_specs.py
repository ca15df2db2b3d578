# SPDX-License-Identifier: Apache-2.0
"""Extra specs of flavors for live migrations (MF-02).

nova-api loads this wherever the package is installed, through its own
namespace ``nova.api.extra_spec_validators``. While the feature is off nothing
matches, and the host answers as without it.
"""

from __future__ import annotations

from nova import exception
from nova.api.validation.extra_specs import base

from nova_xcell import features
from nova_xcell import loader
from nova_xcell.virt import wishes

_NOTHING = '(?!)'

# With a colon in the pattern of a name the host takes the whole namespace for
# known, and refuses every other key in it. "compute" is a free one, which
# operators may use for keys of their own, so the colon is spelled otherwise.
_COLON = {'name': 'colon', 'pattern': r'\x3a'}
_PREFIX = wishes.EXTRA_SPEC.replace(':', '{colon}')

_MEANING = {
    wishes.AUTO_CONVERGE: 'slow the guest down until it can be moved',
    wishes.POST_COPY: (
        'let the guest run on the destination before all of its memory is '
        'there'
    ),
}


class WishValidator(base.ExtraSpecValidator):
    """A validator that is there while the feature is armed."""

    @property
    def name_regex(self) -> str:
        """Pattern of the keys it is for; matches nothing if it is off."""
        if features.LIVE_MIGRATION_FLAGS.name not in loader.armed():
            return _NOTHING
        return self._name_regex

    @name_regex.setter
    def name_regex(self, value: str) -> None:
        self._name_regex = value

    def validate(self, name, value):
        """Check an extra spec as it is checked when it is used.

        :param name: its key
        :param value: its value
        :raises: nova.exception.ValidationError naming both
        """
        try:
            wishes.validated({name: value}, {})
        except wishes.BadWish as exc:
            raise exception.ValidationError('Validation failed; %s' % exc)


class UnknownWishValidator(WishValidator):
    """Refuses keys that begin as ours and are none."""

    def validate(self, name, value):
        """Refuse an extra spec.

        :param name: its key
        :param value: its value
        :raises: nova.exception.ValidationError naming the keys there are
        """
        raise exception.ValidationError(
            "Validation failed; extra spec '%s' does not appear to be a valid "
            'extra spec. Those that begin with %s are: %s.'
            % (
                name,
                wishes.EXTRA_SPEC,
                ', '.join(wishes.EXTRA_SPEC + known for known in _MEANING),
            )
        )


# Made when the module is imported: the host goes on without a module that
# cannot be imported, but not after an error in register().
_VALIDATORS = [
    WishValidator(
        name=_PREFIX + feature,
        description=(
            'Whether live migrations of the server may %s. Not set leaves it '
            'to the configuration of the host.' % meaning
        ),
        value={'type': bool},
        parameters=[_COLON],
    )
    for feature, meaning in _MEANING.items()
] + [
    # The host asks them in this order.
    UnknownWishValidator(
        name=_PREFIX + '{key}',
        description='Not an extra spec.',
        value={'type': str},
        parameters=[_COLON, {'name': 'key', 'pattern': '.*'}],
    )
]


def register() -> list[base.ExtraSpecValidator]:
    """Return the validators, for the host."""
    return _VALIDATORS
