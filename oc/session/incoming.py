"""What an import brings: a header, entries as lines, and a reason for everything that is not as it was. Pure.

Nothing is invented and no content is dropped without a note; the lines pass `check` without errors.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import NamedTuple

from oc.base.jsonl import dump, parse
from oc.errors import BadInput
from oc.session.check import check
from oc.session.entry import VERSION, Entry, Finding, derived_id
from oc.session.transcript import Transcript, read_stream, scan


class Note(NamedTuple):
    """`action` is dropped or changed; `line` the 1-based line of the source, None for what concerns all of it."""

    line: int | None
    action: str
    reason: str


@dataclass(slots=True)
class Incoming:
    """A session on its way in; `roles` counts what must be read back, by role or else by type of entry."""

    source: str
    format: str
    session_id: str
    header: Entry
    header_raw: bytes | None = None
    entries: list[Entry] = field(default_factory=list)
    raws: list[bytes | None] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    roles: Counter[str] = field(default_factory=Counter)

    def data(self) -> bytes:
        """Returns the file; a line that was not changed has the bytes of the source."""
        first = dump(self.header) if self.header_raw is None else self.header_raw
        lines = (dump(entry) if raw is None else raw for entry, raw in zip(self.entries, self.raws, strict=True))
        return b"\n".join((first, *lines, b""))


def kind_of(entry: Entry) -> str:
    """Returns what an entry is counted as: the role of its message, else its type."""
    message = entry.get("message")
    role = message.get("role") if entry.get("type") == "message" and isinstance(message, dict) else None
    return role if isinstance(role, str) else str(entry.get("type"))


def read_back(data: bytes, incoming: Incoming) -> None:
    """Raises BadInput unless the file, read anew, holds what was to be written and has no error."""
    skipped: list[Finding] = []
    errors = [f for f in check(scan(BytesIO(data), skipped), skipped) if f.severity == "error"]
    if errors:
        first = errors[0]
        text = f"what would be written has {len(errors)} error(s), the first in line {first.line}: {first.message}"
        raise BadInput(text, path=incoming.source)
    found = Counter(map(kind_of, read_stream(BytesIO(data), incoming.source).entries))
    if found != incoming.roles:
        wrong = sorted(kind for kind in found | incoming.roles if found[kind] != incoming.roles[kind])
        counts = ", ".join(f"{kind} {incoming.roles[kind]} written, {found[kind]} read back" for kind in wrong)
        raise BadInput(f"not all of it can be read back: {counts}", path=incoming.source)


def from_transcript(transcript: Transcript, format_name: str) -> Incoming:
    """Returns a transcript of Pi or OpenClaw, of any version, as version 3."""
    made = Incoming(transcript.path, format_name, str(transcript.header["id"]), transcript.header)
    made.notes += [Note(finding.line, "dropped", finding.message) for finding in transcript.skipped]
    raws = list(transcript.raws)
    if transcript.version == VERSION:
        made.header_raw = transcript.header_raw
    else:
        made.header = {**transcript.header, "version": VERSION}
        made.notes.append(Note(1, "changed", f"version {transcript.version:g} written as version {VERSION}"))
    if transcript.version > VERSION:
        for index, (raw, entry) in enumerate(zip(transcript.raws, transcript.entries, strict=True)):
            if not _says(raw, entry):
                raws[index] = None
                text = "it names no parent in the source; now a child of the entry before"
                made.notes.append(Note(transcript.numbers[index], "changed", text))
    _fit(made, zip(transcript.numbers, transcript.entries, raws, strict=True))
    return made


def _says(raw: bytes | None, entry: Entry) -> bool:
    """Says whether a line names the parent that its entry was read with."""
    return raw is not None and parse(raw.strip()).get("parentId", "") == entry["parentId"]


def _fit(made: Incoming, entries: Iterable[tuple[int, Entry, bytes | None]]) -> None:
    """Adds the entries that can be read back, with the ids and parents that they can be read back with."""
    kept: list[tuple[int, Entry, bytes | None]] = []
    taken: dict[str, Entry] = {}
    instead: dict[str, str | None] = {}  # entries that are dropped: where their children hang
    for number, entry, raw in entries:
        reason = _no_entry(entry)
        if reason is None and entry["id"] in taken:
            same = dump(entry) == dump(taken[entry["id"]])
            reason = f"a second copy of the entry {entry['id']}" if same else None
            if not same:
                new_id = derived_id(dump(entry), None, taken)
                made.notes.append(Note(number, "changed", f"the id {entry['id']} was taken; now {new_id}"))
                entry, raw = {**entry, "id": new_id}, None  # noqa: PLW2901
        if reason is not None:
            made.notes.append(Note(number, "dropped", reason))
            if entry["id"] not in taken:
                instead[entry["id"]] = entry.get("parentId")
            continue
        taken[entry["id"]] = entry
        kept.append((number, entry, raw))
    for number, entry, raw in kept:
        parent = _parent(entry, taken, instead)
        if parent != entry.get("parentId"):
            where = "a root" if parent is None else f"a child of {parent}"
            made.notes.append(Note(number, "changed", f"its parent is not in the source; now {where}"))
            entry, raw = {**entry, "parentId": parent}, None  # noqa: PLW2901
        made.entries.append(entry)
        made.raws.append(raw)
    _break_cycles(made, [number for number, _, _ in kept])
    made.roles = Counter(map(kind_of, made.entries))


def _no_entry(entry: Entry) -> str | None:
    if not isinstance(entry.get("type"), str):
        return "the entry has no type"
    if entry["type"] == "message" and not isinstance(entry.get("message"), dict):
        return "the entry holds no message"
    return None


def _parent(entry: Entry, taken: dict[str, Entry], instead: dict[str, str | None]) -> str | None:
    parent = entry.get("parentId")
    passed: set[str] = set()
    while isinstance(parent, str) and parent not in taken:
        if parent not in instead or parent in passed:
            return None
        passed.add(parent)
        parent = instead[parent]
    return parent if isinstance(parent, str) else None


def _break_cycles(made: Incoming, numbers: Sequence[int]) -> None:
    """Makes the first entry of each ring of parents a root."""
    place = {entry["id"]: index for index, entry in enumerate(made.entries)}
    done: set[str] = set()
    for start in place:
        passed: dict[str, None] = {}
        entry_id: str | None = start
        while entry_id is not None and entry_id not in done and entry_id not in passed:
            passed[entry_id] = None
            entry_id = made.entries[place[entry_id]]["parentId"]
        if entry_id is not None and entry_id in passed:
            ring = list(passed)[list(passed).index(entry_id) :]
            first = min(map(place.__getitem__, ring))
            made.notes.append(Note(numbers[first], "changed", "it was its own ancestor; now a root"))
            made.entries[first] = {**made.entries[first], "parentId": None}
            made.raws[first] = None
        done.update(passed)
