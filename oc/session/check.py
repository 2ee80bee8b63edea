"""What is wrong in a transcript, line by line; nothing is changed. Pure, and in one pass over the lines.

What is kept of a line is its id, its parent and the calls that still wait for results, so that a transcript of any
size can be checked.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from oc.base.clock import parse_iso
from oc.base.text import SURROGATE, pattern
from oc.message.shapes import calls, result_id
from oc.session.entry import VERSION, Entry, Finding, is_header, migrate, version_of

ENTRY_TYPES = frozenset(
    {
        "branch_summary",
        "compaction",
        "custom",
        "custom_message",
        "label",
        "message",
        "model_change",
        "session_info",
        "thinking_level_change",
    }
)
Line = tuple[int, bytes, Entry]
# The assistant entry whose calls wait, and the calls without a result so far.
Waiting = tuple[int, str, frozenset[str]]
_NOTHING: Waiting = (0, "", frozenset())


def check(lines: Iterable[Line], skipped: list[Finding]) -> list[Finding]:
    """Returns all findings by line; `skipped` fills up with lines that are no entries while `lines` is read."""
    found = list(_Checked().run(_as_version_3(iter(lines))))
    return sorted([*skipped, *found], key=lambda finding: (finding.line, finding.code))


def _as_version_3(lines: Iterator[Line]) -> Iterator[Line]:
    """Yields the lines with the entries of an older file as they are read; such files are held whole."""
    first = next(lines, None)
    if first is None:
        return
    yield first
    if not is_header(first[2]) or version_of(first[2]) >= VERSION:
        yield from lines
        return
    whole = [(position, line) for position, line in enumerate(lines, 1) if line[2].get("type") != "session"]
    raws = [raw for _, (_, raw, _) in whole]
    migrated = migrate(first[2], [entry for _, (_, _, entry) in whole], raws, [position for position, _ in whole])
    for (_, (number, raw, _)), entry in zip(whole, migrated.entries, strict=True):
        yield number, raw, entry


class _Checked:
    """The state of one pass."""

    def __init__(self) -> None:
        self.version = float(VERSION)
        self.parents: dict[str, str | None] = {}
        self.lines: dict[str, int] = {}
        self.later: list[tuple[int, str | None, str]] = []  # parents not seen before their children
        self.waiting: dict[str, Waiting] = {}
        self.results: set[str] = set()  # ids of entries that hold a tool result
        self.seen_calls: set[str] = set()
        self.previous: str | None = None

    def run(self, lines: Iterable[Line]) -> Iterator[Finding]:
        first = True
        for number, raw, value in lines:
            if first:
                first = False
                yield from self._header(number, value)
                if is_header(value):
                    continue
            elif value.get("type") == "session":
                yield Finding(number, "second-header", "warning", "another session header; readers pass it over")
                continue
            yield from self._entry(number, raw, value)
        if first:
            yield Finding(1, "no-header", "error", "no session header")
        yield from self._missing_parents()
        yield from self._cycles()

    def _header(self, number: int, value: Entry) -> Iterator[Finding]:
        if not is_header(value):
            yield Finding(number, "no-header", "error", "the first entry is not a session header")
            return
        self.version = version_of(value)
        if self.version < VERSION:
            text = f"version {self.version:g}: rewritten as version {VERSION} when something is appended"
            yield Finding(number, "old-version", "note", text)
        elif self.version > VERSION:
            text = f"version {self.version:g} is newer than {VERSION}; read as version {VERSION}"
            yield Finding(number, "new-version", "note", text)

    def _entry(self, number: int, raw: bytes, entry: Entry) -> Iterator[Finding]:
        kind = entry.get("type")
        if not isinstance(kind, str):
            yield Finding(number, "no-type", "error", "the entry has no type")
        elif kind not in ENTRY_TYPES:
            yield Finding(number, "unknown-type", "note", f"unknown entry type {kind!r}", _id(entry))
        if parse_iso(entry.get("timestamp")) is None:
            yield Finding(number, "bad-timestamp", "warning", "the entry's timestamp is no date", _id(entry))
        # A backslash d is rare: only then is the slow look for lone surrogates worth its time.
        if (b"\\ud" in raw or b"\\uD" in raw) and pattern(SURROGATE).search(_strings(entry)):
            yield Finding(number, "lone-surrogate", "warning", "half of a surrogate pair stands alone", _id(entry))
        if kind == "message" and not isinstance(entry.get("message"), dict):
            yield Finding(number, "no-message", "error", "the entry holds no message", _id(entry))
        yield from self._place(number, entry)
        yield from self._pairs(number, entry)

    def _place(self, number: int, entry: Entry) -> Iterator[Finding]:
        """Checks id and parent, and notes the entry's place in the tree."""
        entry_id = _id(entry)
        parent = entry.get("parentId")
        if entry_id is None:
            yield Finding(number, "no-id", "error", "the entry has no id")
        elif entry_id in self.lines:
            text = f"the id {entry_id} stands on line {self.lines[entry_id]} already"
            yield Finding(number, "duplicate-id", "error", text, entry_id)
        if "parentId" not in entry:
            yield Finding(number, "no-parent", "warning", "no parentId; read as a child of the entry before", entry_id)
            parent = self.previous
        elif parent is not None and not isinstance(parent, str):
            yield Finding(number, "bad-parent", "error", "the parentId is neither a string nor null", entry_id)
            parent = None
        elif parent is not None and parent not in self.lines and parent != entry_id:
            self.later.append((number, entry_id, parent))
            if self.version > VERSION:
                parent = self.previous
        if entry_id is not None:
            self.lines[entry_id] = number
            self.parents[entry_id] = parent
            self.previous = entry_id

    def _pairs(self, number: int, entry: Entry) -> Iterator[Finding]:
        """Follows calls and results along the branch; a call that waits at a leaf is no fault."""
        entry_id = _id(entry)
        parent = self.parents.get(entry_id) if entry_id is not None else None
        waiting = self.waiting.get(parent, _NOTHING) if parent is not None else _NOTHING
        message = entry.get("message")
        role = message.get("role") if isinstance(message, dict) and entry.get("type") == "message" else None
        if isinstance(message, dict) and role == "toolResult":
            yield from self._result(number, message, waiting, entry_id)
            waiting = (waiting[0], waiting[1], waiting[2] - {result_id(message) or ""})
            if entry_id is not None:
                self.results.add(entry_id)
        elif isinstance(message, dict) and role in ("user", "assistant"):
            if waiting[2]:
                text = f"{len(waiting[2])} tool call(s) without a result before the next message"
                yield Finding(waiting[0], "call-without-result", "warning", text, waiting[1])
            waiting = self._calls(number, entry_id, message)
        elif entry.get("type") == "compaction":
            yield from self._kept(number, entry, parent)
        if entry_id is not None and waiting[2]:
            self.waiting[entry_id] = waiting

    def _calls(self, number: int, entry_id: str | None, message: dict[str, Any]) -> Waiting:
        if message.get("stopReason") in ("error", "aborted"):
            return _NOTHING
        made = frozenset(call["id"] for call in calls(message) if isinstance(call.get("id"), str))
        self.seen_calls |= made
        return (number, entry_id or "", made) if made else _NOTHING

    def _result(
        self, number: int, message: dict[str, Any], waiting: Waiting, entry_id: str | None
    ) -> Iterator[Finding]:
        answered = result_id(message)
        if answered in waiting[2]:
            return
        if answered in self.seen_calls:
            text = "the tool result does not stand behind its call, or is a second one"
            yield Finding(number, "misplaced-result", "warning", text, entry_id)
        else:
            yield Finding(number, "orphan-result", "warning", "a tool result without a call", entry_id)

    def _kept(self, number: int, entry: Entry, parent: str | None) -> Iterator[Finding]:
        """Checks that what a compaction keeps is on its own branch and does not begin between a call and its result."""
        kept = entry.get("firstKeptEntryId")
        if not isinstance(kept, str):
            yield Finding(number, "no-first-kept", "warning", "the compaction keeps nothing", _id(entry))
            return
        passed: set[str] = set()
        while parent is not None and parent != kept and parent not in passed:
            passed.add(parent)
            parent = self.parents.get(parent)
        if parent != kept:
            text = f"firstKeptEntryId {kept} is not on the compaction's branch, so nothing is kept"
            yield Finding(number, "kept-off-path", "warning", text, _id(entry))
        elif kept in self.results:
            text = f"firstKeptEntryId {kept} is a tool result: its call was cut off"
            yield Finding(number, "cut-in-pair", "warning", text, _id(entry))

    def _missing_parents(self) -> Iterator[Finding]:
        for number, entry_id, parent in self.later:
            if parent in self.lines:
                yield Finding(number, "late-parent", "warning", f"the parent {parent} stands on a later line", entry_id)
            else:
                ends = "read as a child of the entry before" if self.version > VERSION else "the branch ends here"
                text = f"the parent {parent} is not in the file; {ends}"
                yield Finding(number, "missing-parent", "error", text, entry_id)

    def _cycles(self) -> Iterator[Finding]:
        """Names one entry of each cycle: the one whose line comes first."""
        done: set[str] = set()
        for start in self.parents:
            passed: dict[str, None] = {}
            entry_id: str | None = start
            while entry_id is not None and entry_id not in done and entry_id not in passed:
                passed[entry_id] = None
                entry_id = self.parents.get(entry_id)
            if entry_id is not None and entry_id in passed:
                ring = list(passed)[list(passed).index(entry_id) :]
                first = min(ring, key=self.lines.__getitem__)
                text = (
                    f"{len(ring)} entries are each other's parents" if len(ring) > 1 else "the entry is its own parent"
                )
                yield Finding(self.lines[first], "cycle", "error", text, first)
            done.update(passed)


def _id(entry: Entry) -> str | None:
    entry_id = entry.get("id")
    return entry_id if isinstance(entry_id, str) else None


def _strings(value: Any) -> str:
    """Returns all strings of a value, joined; nesting may be deeper than functions can be called."""
    found: list[str] = []
    open_values = [value]
    while open_values:
        item = open_values.pop()
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, dict):
            open_values += [*item, *item.values()]
        elif isinstance(item, list):
            open_values += item
    return "\n".join(found)
