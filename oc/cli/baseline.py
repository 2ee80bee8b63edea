"""Findings that are known and accepted: what `check --jsonl` or `--json` printed once, kept in a file."""

import os
from collections.abc import Iterable
from typing import Any

from oc.base.jsonl import lines, parse
from oc.errors import BadInput, NotFound

Row = dict[str, Any]


def unknown(rows: Iterable[Row], path: str) -> list[Row]:
    """Returns the findings that the baseline does not list; raises NotFound and BadInput for the baseline itself.

    A finding is known by file, line, code and entry: lines of a transcript never move, since it only grows.
    """
    known = {_name(row) for row in _read(path)}
    return [row for row in rows if _name(row) not in known]


def _name(row: Row) -> tuple[Any, ...]:
    return os.path.realpath(row["path"]), row["line"], row["code"], row.get("entryId")


def _read(path: str) -> list[Row]:
    if not os.path.exists(path):
        raise NotFound("no such baseline", path=path, hint="`oc session check --jsonl > FILE` makes one")
    found: list[Row] = []
    with open(path, "rb") as file:
        for line in lines(file):
            if not line.raw.strip():
                continue
            try:
                value = parse(line.raw)
            except ValueError:
                value = None
            rows = value.get("findings", [value]) if isinstance(value, dict) else [value]
            if not isinstance(rows, list) or not all(map(_is_finding, rows)):
                raise BadInput("not a finding of `oc session check`", path=path, line=line.number)
            found += rows
    return found


def _is_finding(row: Any) -> bool:
    types = {"path": str, "line": int, "code": str}
    return isinstance(row, dict) and all(isinstance(row.get(name), kind) for name, kind in types.items())
