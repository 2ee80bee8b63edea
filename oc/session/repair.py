"""A damaged transcript put right: what parses keeps its bytes, what cannot be read is left out.

Nothing is made up. The result passes a check without errors, and repairing it again changes nothing. What OpenClaw
2026.3.13 repairs (table: sessions-repair) is a part of it; that it writes the good lines anew is not followed, and
neither is its refusal of a file whose header is broken (design D1).
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO
from typing import Any, NamedTuple

from oc.base import files
from oc.base.jsonl import dump, parse
from oc.base.text import js_trim
from oc.errors import BadInput
from oc.session.entry import Entry, Finding, is_header, version_of
from oc.session.lines import Lines
from oc.session.recover import made_header
from oc.session.retree import Place, retree
from oc.session.rewrite import as_utf8, with_fields, without_half_pairs
from oc.session.salvage import records
from oc.session.transcript import need_writable, open_file


class Fix(NamedTuple):
    """One thing put right: `code` is the finding's, `action` is drop, split, replace, move, add, rename or hang."""

    line: int
    offset: int
    code: str
    action: str
    message: str
    entry_id: str | None = None


@dataclass
class _Piece:
    """A record, or a blank line (`entry` None), with what of its envelope decides about the tree."""

    number: int
    raw: bytes
    entry: Entry | None
    header: bool = False
    broken_header: bool = False


class Repaired(NamedTuple):
    """`data` is the whole file as it is to be; without fixes it is the file as it was."""

    data: bytes
    fixes: list[Fix]


def repair(data: bytes, name: str) -> Repaired:
    """Returns the transcript put right; raises BadInput where no line holds a record. `name` stands for the file."""
    lines = Lines(BytesIO(data))
    work = _Repair(lines)
    work.read(data)
    if not any(piece.entry for piece in work.pieces):
        raise BadInput("no line holds a record, there is nothing to repair", path=name)
    header = work.settle_header(name)
    if version_of(header) >= 2:
        work.settle_tree()
    if not work.fixes:
        return Repaired(data, [])
    fixes = sorted(work.fixes, key=lambda fix: (fix.line, fix.code))
    return Repaired(b"".join([piece.raw + b"\n" for piece in work.pieces]), fixes)


class _Repair:
    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.pieces: list[_Piece] = []
        self.fixes: list[Fix] = []
        self.gone: dict[str, Any] = {}
        self.lost_header: bytes | None = None
        self.passed = 0  # findings of `lines` that were seen to

    def fix(self, number: int, code: str, action: str, message: str, entry_id: str | None = None) -> None:
        self.fixes.append(Fix(number, self.lines.offset(number), code, action, message, entry_id))

    def read(self, data: bytes) -> None:
        """Takes the lines apart: records, blank lines, and what is left out."""
        done = 0
        for number, raw, value in self.lines:
            self._between(data, done, number - 1)
            self._take(number, *self._readable(number, raw, value))
            done = number
        self._between(data, done, len(self.lines.starts))

    def _between(self, data: bytes, after: int, last: int) -> None:
        """Takes the lines that are no records: blank ones stay, others may hold records."""
        skipped = {finding.line: finding for finding in self.lines.skipped[self.passed :]}
        self.passed = len(self.lines.skipped)
        starts = self.lines.starts
        for number in range(after + 1, last + 1):
            end = starts[number] if number < len(starts) else len(data)
            raw = data[starts[number - 1] : end].removesuffix(b"\n")
            if number in skipped:
                self._salvage(number, raw, skipped[number])
            else:
                self.pieces.append(_Piece(number, raw, None))

    def _readable(self, number: int, raw: bytes, value: Entry) -> tuple[bytes, Entry]:
        """Returns a line that orjson refuses as one that every reader takes; others as they are."""
        if number not in self.lines.odd:
            return raw, value
        entry_id = _id(value)
        try:
            raw.decode()
        except UnicodeDecodeError:
            raw = as_utf8(raw)
            self.fix(number, "bad-utf8", "replace", "bytes that are not UTF-8 become U+FFFD", entry_id)
        whole = without_half_pairs(raw)
        if whole != raw:
            self.fix(number, "lone-surrogate", "replace", "halves of surrogate pairs become U+FFFD", entry_id)
        return whole, _parsed(whole)

    def _salvage(self, number: int, raw: bytes, finding: Finding) -> None:
        whole = records(raw)
        if not whole:
            self.fix(number, finding.code, "drop", f"{finding.message}; it is dropped")
            if self.lost_header is None and not any(piece.entry for piece in self.pieces):
                self.lost_header = raw
            return
        kept = "one record is kept" if len(whole) == 1 else f"{len(whole)} records are kept, each on its line"
        self.fix(number, finding.code, "split", f"{finding.message}; {kept}")
        for part in whole:
            clean = without_half_pairs(as_utf8(part))
            self._take(number, clean, _parsed(clean))

    def _take(self, number: int, raw: bytes, value: Entry) -> None:
        nothing_yet = not any(piece.entry for piece in self.pieces)
        if value.get("type") == "session" or (nothing_yet and "cwd" in value and "parentId" not in value):
            self.pieces.append(_Piece(number, raw, value, is_header(value), not is_header(value)))
        else:
            self._take_entry(number, raw, value)

    def _take_entry(self, number: int, raw: bytes, value: Entry) -> None:
        reason = None
        if not isinstance(value.get("type"), str):
            reason = ("no-type", "the object is no entry; it is dropped")
        elif value["type"] == "message" and not isinstance(value.get("message"), dict):
            reason = ("no-message", "the entry holds no message; it is dropped")
        entry_id = _id(value)
        if reason is not None:
            self.fix(number, reason[0], "drop", reason[1], entry_id)
            if entry_id is not None:
                self.gone[entry_id] = value.get("parentId")
            return
        envelope: Entry = {key: value[key] for key in ("type", "id", "parentId", "timestamp") if key in value}
        self.pieces.append(_Piece(number, raw, envelope))

    def settle_header(self, name: str) -> Entry:
        """Puts a header before all entries, the file's own wherever it stands, and returns it."""
        filled = [piece for piece in self.pieces if piece.entry is not None]
        first = filled[0]
        if first.header:
            return first.entry or {}
        first.raw = _trimmed(first.raw)
        found = next((piece for piece in filled if piece.header), None)
        if found is not None:
            self.pieces.remove(found)
            self.fix(found.number, "no-header", "move", "the header goes before the first entry", _id(found.entry))
            if first.broken_header and first.entry and first.entry.get("type") != "session":
                self._take_again(first)
        else:
            found = self._header(filled, name)
        self.pieces.insert(0, found)
        return found.entry or {}

    def _take_again(self, piece: _Piece) -> None:
        """Takes what looked like a damaged header for an entry, as there is a whole header."""
        place = self.pieces.index(piece)
        rest = self.pieces[place + 1 :]
        del self.pieces[place:]
        self._take_entry(piece.number, piece.raw, piece.entry or {})
        self.pieces += rest

    def _header(self, filled: list[_Piece], name: str) -> _Piece:
        broken = next((piece for piece in filled if piece.broken_header), None)
        entries = [piece.entry for piece in filled if piece.entry is not None and not piece.broken_header]
        first = next(((piece.raw, piece.entry) for piece in filled if piece.entry), (b"", {}))
        value = made_header(broken.entry if broken else None, self.lost_header, name, first, entries)
        if broken is not None:
            self.pieces.remove(broken)
        number = filled[0].number
        self.fix(number, "no-header", "add", "a header is put before the first entry", value["id"])
        return _Piece(number, dump(value), value, header=True)

    def settle_tree(self) -> None:
        entries = [piece for piece in self.pieces if piece.entry is not None and not _is_session(piece)]
        places = [_place(piece) for piece in entries]
        fields: dict[int, Entry] = {}
        dropped: set[int] = set()
        for change in retree(places, self.gone):
            piece = entries[change.at]
            action = "drop" if change.drop else "rename" if "id" in change.fields else "hang"
            self.fix(piece.number, change.code, action, change.message, _id(piece.entry))
            fields.setdefault(change.at, {}).update(change.fields)
            if change.drop:
                dropped.add(id(piece))
        for index, new in fields.items():
            if new:
                entries[index].raw = with_fields(entries[index].raw, _parsed(entries[index].raw), new)
        if dropped:
            self.pieces = [piece for piece in self.pieces if id(piece) not in dropped]


def _is_session(piece: _Piece) -> bool:
    return piece.header or piece.broken_header


def _place(piece: _Piece) -> Place:
    envelope = piece.entry or {}
    return Place(piece.number, piece.raw, envelope.get("id"), envelope.get("parentId"), "parentId" in envelope)


def _id(entry: Entry | None) -> str | None:
    entry_id = entry.get("id") if entry else None
    return entry_id if isinstance(entry_id, str) else None


def _parsed(raw: bytes) -> Entry:
    """Returns the object of a line that is known to hold one."""
    value = parse(_trimmed(raw))
    return value if isinstance(value, dict) else {}


def _trimmed(raw: bytes) -> bytes:
    """Returns the line without what only the first line of a file may begin with: a byte order mark."""
    return raw if raw[:1] == b"{" else js_trim(raw.decode("utf-8", "replace")).encode()


class Mended(NamedTuple):
    """`backup` is the file that holds the bytes from before; None when nothing had to be done."""

    fixes: list[Fix]
    backup: str | None


def repair_file(path: str, *, now_ms: int, lock_timeout_ms: int = 10_000) -> Mended:
    """Puts a transcript right under its lock; the bytes from before stand beside it before it is replaced.

    A file that needs nothing is left alone, and so is one in which nothing can be read (BadInput).
    """
    need_writable(path)
    with files.lock(path, timeout_ms=lock_timeout_ms):
        with open_file(path) as file:
            data = file.read()
        repaired = repair(data, path)
        if not repaired.fixes:
            return Mended([], None)
        backup = files.free_name(f"{path}.bak-{os.getpid()}-{now_ms}")
        files.replace_keeping(path, repaired.data, data, backup)
    return Mended(repaired.fixes, backup)


def summary(fixes: Iterable[Fix]) -> str:
    """Returns how many things were done of each kind, for a line of talk."""
    counts: dict[str, int] = {}
    for fix in fixes:
        counts[fix.action] = counts.get(fix.action, 0) + 1
    return ", ".join(f"{action} {count}" for action, count in counts.items())
