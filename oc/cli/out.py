"""The one renderer: streams, lists and documents to stdout, talk to stderr.

stdout is data. Text for people and `grep` is one line a row, tab-separated, aligned on a terminal.
"""

import errno
import os
import sys
from collections.abc import Iterable, Mapping, Sequence

from oc.base.jsonl import dump, dump_line
from oc.base.text import columns, neutral, one_line, without_lone_surrogates
from oc.base.typed import Any, BinaryIO

Row = Mapping[str, Any]
_SENT_BYTES = 1 << 17


class Out:
    """`format`: text, json, jsonl or tsv."""

    def __init__(self, format: str, *, color: str = "auto", quiet: bool = False, verbose: bool = False) -> None:  # noqa: A002
        self.format = format
        self.quiet = quiet
        self.verbose = verbose
        self._color = color

    @property
    def terminal(self) -> bool:
        return sys.stdout.isatty()

    @property
    def colored(self) -> bool:
        if self._color != "auto":
            return self._color == "always"
        return self.terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def write(self, data: bytes) -> None:
        sys.stdout.buffer.write(data)

    def copy(self, file: BinaryIO, offset: int, length: int) -> None:
        """Writes a part of a file; a large one does not pass through this process where the system can do without."""
        sent = self._sent(file, offset, length) if length >= _SENT_BYTES else 0
        file.seek(offset + sent)
        while sent < length and (data := file.read(min(length - sent, _SENT_BYTES))):
            self.write(data)
            sent += len(data)

    def _sent(self, file: BinaryIO, offset: int, length: int) -> int:
        """Returns how many bytes the system has copied: none to what it cannot copy to, a file opened for appending."""
        sent = 0
        try:
            target = sys.stdout.fileno()
            self.flush()
            while sent < length and (count := os.sendfile(target, file.fileno(), offset + sent, length - sent)):
                sent += count
        except (AttributeError, ValueError):  # no sendfile(), or no descriptor
            return sent
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
                raise
        return sent

    def flush(self) -> None:
        """Lets a reader that waits see what was written so far."""
        sys.stdout.flush()

    def line(self, text: str) -> None:
        """Writes one line of text for people; control characters of data cannot reach a terminal."""
        text = without_lone_surrogates(text)
        self.write((neutral(text) if self.terminal else text).encode() + b"\n")

    def document(self, value: Any) -> None:
        """Writes one JSON document: indented on a terminal, one line into a pipe."""
        if self.terminal and self.format == "json":
            import json

            self.line_block(json.dumps(value, ensure_ascii=False, indent=2))
            return
        self.write(dump(value) + b"\n")

    def line_block(self, text: str) -> None:
        for part in text.split("\n"):
            self.line(part)

    def rows(self, name: str, rows: Iterable[Row], fields: Sequence[str], extra: Row | None = None) -> int:
        """Writes a list in the chosen format and returns how many rows it had.

        json: one document `{name: [...]} + extra`; jsonl: whole rows; tsv and text: `fields`, with a header in tsv.
        """
        if self.format == "json":
            kept = list(rows)
            self.document({name: kept, **(extra or {})})
            return len(kept)
        if self.format == "jsonl":
            count = 0
            for count, row in enumerate(rows, 1):  # noqa: B007
                self.write(dump_line(row))
            return count
        table = [[_cell(row.get(field)) for field in fields] for row in rows]
        if self.format == "tsv":
            self.write(("\t".join(fields) + "\n").encode())
        self._table(table)
        return len(table)

    def _table(self, table: list[list[str]]) -> None:
        if self.format == "text" and self.terminal:
            widths = [max(map(columns, column)) for column in zip(*table, strict=True)] if table else []
            for cells in table:
                padded = [c + " " * (w - columns(c)) for c, w in zip(cells[:-1], widths, strict=False)]
                self.line("  ".join([*padded, cells[-1]]))
        elif table:
            self.write("".join(map(_joined, table)).encode())

    def say(self, text: str) -> None:
        """Talk: to stderr unless --quiet."""
        if not self.quiet:
            from oc.cli.run import say

            say(text)

    def warn(self, text: str) -> None:
        self.say(f"oc: warning: {text}")

    def detail(self, text: str) -> None:
        """Talk for --verbose."""
        if self.verbose:
            self.say(text)


def _joined(cells: Sequence[str]) -> str:
    """Returns the cells as a line of tab-separated values; most hold nothing that needs an escape."""
    line = "\t".join(cells)
    together = "".join(cells)
    if together.isascii() and together.isprintable() and "\\" not in together:
        return line + "\n"
    return "\t".join(map(one_line, map(without_lone_surrogates, cells))) + "\n"


def _cell(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.3f}"
    return dump(value).decode() if isinstance(value, dict | list) else str(value)


def camel(value: Any) -> Any:
    """Returns the value with snake_case keys of our own in camelCase, at every depth."""
    if isinstance(value, dict):
        return {_camel_name(k): camel(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [camel(v) for v in value]
    return value


def _camel_name(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)
