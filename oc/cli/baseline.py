"""Findings that are known and accepted: what `check` or `audit` printed once with --jsonl or --json, kept in a file."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from oc.base import files
from oc.base.jsonl import lines, parse
from oc.errors import BadInput, NotFound

Row = dict[str, Any]
_FINDING = {"path": str, "line": int, "code": str}


def unknown(rows: Iterable[Row], path: str) -> list[Row]:
    """Returns the findings that the baseline does not list; raises NotFound and BadInput for the baseline itself.

    A finding is known by file, line, code and entry: lines of a transcript never move, since it only grows.
    """
    known = {_name(row) for row in rows_of(path, "findings", _FINDING, "oc session check")}
    return [row for row in rows if _name(row) not in known]


def _name(row: Row) -> tuple[Any, ...]:
    return os.path.realpath(row["path"]), row["line"], row["code"], row.get("entryId")


def rows_of(path: str, name: str, types: Mapping[str, type], command: str) -> list[Row]:
    """Returns the rows that a command printed into a file: a line each, or in one document under `name`.

    Each has fields of these types; raises NotFound without the file, and BadInput with the line of what is no row.
    """
    if not os.path.exists(path):
        raise NotFound("no such baseline", path=path, hint=f"`{command} --jsonl > FILE` makes one")
    found: list[Row] = []
    with files.open_input(path) as file:
        for line in lines(file):
            if not line.raw.strip():
                continue
            try:
                value = parse(line.raw)
            except ValueError:
                value = None
            rows = value.get(name, [value]) if isinstance(value, dict) else [value]
            if not isinstance(rows, list) or not all(_is_row(row, types) for row in rows):
                raise BadInput(f"not a row of `{command}`", path=path, line=line.number)
            found += rows
    return found


def _is_row(row: Any, types: Mapping[str, type]) -> bool:
    return isinstance(row, dict) and all(isinstance(row.get(name), kind) for name, kind in types.items())
