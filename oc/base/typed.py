"""The names of `typing` that modules on the way of a filter need, at no cost when they run.

Importing typing takes 2.5 ms of a filter's 60, and each class made from its NamedTuple 0.1 ms. Type checkers see the
real names; at run time they stand for nothing, but for NamedTuple, which behaves as typing's as far as `oc` uses it.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO, NamedTuple, NoReturn, Self
else:
    from _collections import _tuplegetter  # of which namedtuple() makes its attributes

    Any = BinaryIO = NoReturn = Self = object

    class NamedTuple(tuple):
        """A tuple with named fields, which are the annotations of the class."""

        __slots__ = ()
        _fields: tuple[str, ...] = ()

        def __init_subclass__(cls) -> None:
            cls._fields = cls.__match_args__ = tuple(cls.__annotations__)
            cls._field_defaults = {name: cls.__dict__[name] for name in cls._fields if name in cls.__dict__}
            for index, name in enumerate(cls._fields):
                setattr(cls, name, _tuplegetter(index, None))

        def __new__(cls, *given: Any, **named: Any) -> Self:
            if named or len(given) != len(cls._fields):
                given = cls._complete(given, named)
            return tuple.__new__(cls, given)

        @classmethod
        def _complete(cls, given: tuple[Any, ...], named: dict[str, Any]) -> list[Any]:
            """Returns the values of all fields; raises TypeError as a function with these parameters would."""
            values = {**cls._field_defaults, **dict(zip(cls._fields, given, strict=False)), **named}
            twice = set(cls._fields[: len(given)]) & set(named)
            if len(given) > len(cls._fields) or twice or set(values) != set(cls._fields):
                raise TypeError(f"{cls.__name__} has the fields {', '.join(cls._fields)}")
            return [values[name] for name in cls._fields]

        def _replace(self, **changes: Any) -> Self:
            return type(self)(**{**self._asdict(), **changes})

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            shown = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({shown})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)


__all__ = ["TYPE_CHECKING", "Any", "BinaryIO", "NamedTuple", "NoReturn", "Self"]
