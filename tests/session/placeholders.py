"""Compares with values of the sessions-* tables, where `$id1`, `$uuid1`, `$ts`, ... stand for what differs by run."""

import re
from typing import Any

_NAMES = re.compile(r"\$(?:id\d+|uuid\d+|ts|ms|now|fts|dir|tmp|cwd)")
_ONE_VALUE = re.compile(r"\$(?:id|uuid)\d+|\$dir|\$tmp|\$cwd")


def matches(expected: Any, actual: Any, bound: dict[str, Any] | None = None, where: str = "") -> bool:
    """Asserts equality; equal names must stand for equal values, different ids for different ones."""
    bound = {} if bound is None else bound
    if isinstance(expected, str) and _NAMES.fullmatch(expected):
        if _ONE_VALUE.fullmatch(expected):
            assert bound.setdefault(expected, actual) == actual, f"{where}: {expected}"
            ids = [v for k, v in bound.items() if k.startswith("$id")]
            assert len(ids) == len(set(ids)), f"{where}: one id for two entries"
        else:
            assert actual is not None, where
        return True
    if isinstance(expected, dict):
        assert isinstance(actual, dict), where
        assert list(expected) == list(actual), f"{where}: keys"
        return all(matches(expected[k], actual[k], bound, f"{where}.{k}") for k in expected)
    if isinstance(expected, list):
        assert isinstance(actual, list), where
        assert len(expected) == len(actual), f"{where}: length"
        return all(matches(e, a, bound, f"{where}[{i}]") for i, (e, a) in enumerate(zip(expected, actual, strict=True)))
    assert expected == actual, where
    return True
