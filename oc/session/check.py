"""What is wrong in a transcript, line by line; nothing is changed. Pure, and in one pass over the lines.

What is kept of a line is its id, its parent and the calls that still wait for results, so that a transcript of any
size can be checked.
"""

from array import array
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from oc.base.clock import parse_iso
from oc.base.text import SURROGATE, pattern
from oc.message.pairs import UNFINISHED
from oc.message.shapes import call_arguments, calls, result_id
from oc.session.entry import VERSION, Entry, Finding, is_header, migrate, version_of
from oc.session.lines import Line, Lines
from oc.session.salvage import ENTRY_TYPES

# The line and id of the assistant entry whose calls wait, and the calls without a result so far.
Waiting = tuple[int, str, frozenset[str]]
_NOTHING: Waiting = (0, "", frozenset())
_ROOT = -1  # no parent
_LATER = -2  # a parent that no line so far has
# The time of day as every writer of transcripts puts it: seconds 60 and other forms go the slow way.
_TIME = r"T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z"


def check(lines: Iterable[Line], skipped: list[Finding], odd: Collection[int] | None = None) -> list[Finding]:
    """Returns all findings by line; `skipped` fills up with lines that are no entries while `lines` is read.

    Only the lines of `odd` are looked at for lone surrogates and bytes that are not UTF-8; without it every line is.
    """
    found = _Checked(odd).run(_as_version_3(iter(lines)))
    return sorted([*skipped, *found], key=lambda finding: (finding.line, finding.code))


def check_lines(lines: Lines) -> list[Finding]:
    """Returns all findings of a stream by line; `lines` knows afterwards at which byte each line starts."""
    return check(lines, lines.skipped, lines.odd)


def _as_version_3(lines: Iterator[Line]) -> Iterator[Line]:
    """Returns the lines with the entries of an older file as they are read; such files are held whole."""
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
    """The state of one pass. Entries are numbered by their ids; of two with one id the later one counts."""

    def __init__(self, odd: Collection[int] | None) -> None:
        self.odd = odd
        self.found: list[Finding] = []
        self.version = float(VERSION)
        self.index: dict[str, int] = {}
        self.ids: list[str] = []
        self.parents = array("q")
        self.lines = array("q")
        self.later: list[tuple[int, int, str]] = []  # line, entry, the parent that no line had by then
        self.waiting: dict[int, Waiting] = {}
        self.results: set[int] = set()  # entries that hold a tool result
        self.seen_calls: set[str] = set()
        self.previous = _ROOT
        self.days: set[str] = set()  # dates that are ones
        self.is_time = pattern(_TIME).fullmatch

    def run(self, lines: Iterator[Line]) -> list[Finding]:
        first = next(lines, None)
        if first is None:
            self.add(1, "no-header", "error", "no session header")
            return self.found
        number, raw, value = first
        self._header(number, value)
        if not is_header(value):
            self._entry(number, raw, value)
        for number, raw, value in lines:
            if value.get("type") == "session":
                self.add(number, "second-header", "warning", "another session header; readers pass it over")
            else:
                self._entry(number, raw, value)
        self._late_parents()
        self._cycles()
        return self.found

    def add(self, number: int, code: str, severity: str, message: str, entry_id: str | None = None) -> None:
        self.found.append(Finding(number, code, severity, message, entry_id))

    def _header(self, number: int, value: Entry) -> None:
        if not is_header(value):
            self.add(number, "no-header", "error", "the first entry is not a session header")
            return
        self.version = version_of(value)
        if self.version < VERSION:
            text = f"version {self.version:g}: rewritten as version {VERSION} when something is appended"
            self.add(number, "old-version", "note", text)
        elif self.version > VERSION:
            text = f"version {self.version:g} is newer than {VERSION}; read as version {VERSION}"
            self.add(number, "new-version", "note", text)

    def _entry(self, number: int, raw: bytes, entry: Entry) -> None:
        kind = entry.get("type")
        entry_id = entry.get("id")
        if type(entry_id) is not str:
            entry_id = None
            self.add(number, "no-id", "error", "the entry has no id")
        if type(kind) is not str or kind not in ENTRY_TYPES:
            self._type(number, kind, entry_id)
        when = entry.get("timestamp")
        # Most dates are today's.
        if type(when) is not str or when[:10] not in self.days or not self.is_time(when, 10):
            self._date(number, when, entry_id)
        if self.odd is None or number in self.odd:
            self._characters(number, raw, entry, entry_id)
        # A single byte is looked for ten times as fast as three.
        if b"\xe2" in raw and (b"\xe2\x80\xa8" in raw or b"\xe2\x80\xa9" in raw):
            text = "U+2028 or U+2029 stands in the line; some programs take it for the end of the line"
            self.add(number, "line-separator", "note", text, entry_id)
        place, parent = self._place(number, entry, entry_id)
        if kind == "message":
            message = entry.get("message")
            if type(message) is dict:
                self._message(number, message, entry_id, place, parent)
                return
            self.add(number, "no-message", "error", "the entry holds no message", entry_id)
        waiting = self.waiting.get(parent)
        if waiting is not None and place != _ROOT:
            self.waiting[place] = waiting
        if kind == "compaction":
            self._kept(number, entry, entry_id, parent)

    def _type(self, number: int, kind: Any, entry_id: str | None) -> None:
        if isinstance(kind, str):
            self.add(number, "unknown-type", "note", f"unknown entry type {kind!r}", entry_id)
        else:
            self.add(number, "no-type", "error", "the entry has no type", entry_id)

    def _date(self, number: int, when: Any, entry_id: str | None) -> None:
        if parse_iso(when) is None:
            self.add(number, "bad-timestamp", "warning", "the entry's timestamp is no date", entry_id)
        else:
            self.days.add(when[:10])

    def _characters(self, number: int, raw: bytes, entry: Entry, entry_id: str | None) -> None:
        if pattern(SURROGATE).search(_strings(entry)):
            text = "half of a surrogate pair stands alone"
            self.add(number, "lone-surrogate", "warning", text, entry_id)
        try:
            raw.decode()
        except UnicodeDecodeError:
            self.add(number, "bad-utf8", "warning", "a byte of the line is not UTF-8; read as U+FFFD", entry_id)

    def _place(self, number: int, entry: Entry, entry_id: str | None) -> tuple[int, int]:
        """Notes the entry's place in the tree; returns its own number and its parent's as it is known by now."""
        own = _ROOT
        index = self.index
        if entry_id is not None:
            count = len(self.ids)
            own = index.setdefault(entry_id, count)
            if own < count:
                text = f"the id {entry_id} stands on line {self.lines[own]} already"
                self.add(number, "duplicate-id", "error", text, entry_id)
                self.lines[own] = number
            else:
                self.ids.append(entry_id)
                self.lines.append(number)
                self.parents.append(_ROOT)
        name = entry.get("parentId")
        parent = index.get(name) if type(name) is str else None
        if parent is None:
            parent = self._parent(number, entry, entry_id, own)
        if own != _ROOT:
            self.parents[own] = parent
            self.previous = own
        return own, parent

    def _parent(self, number: int, entry: Entry, entry_id: str | None, own: int) -> int:
        """Returns what stands for a parent that no line so far has."""
        name = entry.get("parentId")
        if isinstance(name, str):
            self.later.append((number, own, name))
            return self.previous if self.version > VERSION else _LATER
        if "parentId" not in entry:
            text = "no parentId; read as a child of the entry before"
            self.add(number, "no-parent", "warning", text, entry_id)
            return self.previous
        if name is not None:
            self.add(number, "bad-parent", "error", "the parentId is neither a string nor null", entry_id)
        return _ROOT

    def _message(self, number: int, message: Entry, entry_id: str | None, place: int, parent: int) -> None:
        """Follows calls and results along the branch; a call that waits at a leaf is no fault."""
        waiting = self.waiting.get(parent, _NOTHING)
        role = message.get("role")
        if role == "toolResult":
            answered = result_id(message)
            if answered not in waiting[2]:
                self._unasked(number, answered, entry_id)
            elif len(waiting[2]) == 1:
                waiting = _NOTHING
            else:
                waiting = (waiting[0], waiting[1], waiting[2] - {answered})
            if place != _ROOT:
                self.results.add(place)
        elif role in ("user", "assistant"):
            if waiting[2]:
                text = f"{len(waiting[2])} tool call(s) without a result before the next message"
                self.add(waiting[0], "call-without-result", "warning", text, waiting[1] or None)
            waiting = self._calls(number, entry_id, message) if role == "assistant" else _NOTHING
        if place == _ROOT:
            return
        if waiting[2]:
            self.waiting[place] = waiting
        else:
            self.waiting.pop(place, None)

    def _calls(self, number: int, entry_id: str | None, message: Entry) -> Waiting:
        made = calls(message)
        if not made:
            return _NOTHING
        ids = []
        half = False
        for call in made:
            half = half or _is_half(call)
            if isinstance(call.get("id"), str):
                ids.append(call["id"])
        if half:
            broken_off = message.get("stopReason") in UNFINISHED
            severity, turn = ("note", "a turn that was broken off") if broken_off else ("warning", "the message")
            self.add(number, "half-call", severity, f"a tool call of {turn} is written only in part", entry_id)
        if message.get("stopReason") in UNFINISHED:
            return _NOTHING
        self.seen_calls.update(ids)
        return (number, entry_id or "", frozenset(ids))

    def _unasked(self, number: int, answered: str | None, entry_id: str | None) -> None:
        if answered in self.seen_calls:
            text = "the tool result does not stand behind its call, or is a second one"
            self.add(number, "misplaced-result", "warning", text, entry_id)
        else:
            self.add(number, "orphan-result", "warning", "a tool result without a call", entry_id)

    def _kept(self, number: int, entry: Entry, entry_id: str | None, parent: int) -> None:
        """Checks that what a compaction keeps is on its own branch and does not begin between a call and its result."""
        kept = entry.get("firstKeptEntryId")
        if not isinstance(kept, str):
            self.add(number, "no-first-kept", "warning", "the compaction keeps nothing", entry_id)
            return
        wanted = self.index.get(kept, _LATER)
        passed: set[int] = set()
        while parent >= 0 and parent != wanted and parent not in passed:
            passed.add(parent)
            parent = self.parents[parent]
        if parent != wanted or wanted == _LATER:
            text = f"firstKeptEntryId {kept} is not on the compaction's branch, so nothing is kept"
            self.add(number, "kept-off-path", "warning", text, entry_id)
        elif wanted in self.results:
            text = f"firstKeptEntryId {kept} is a tool result: its call was cut off"
            self.add(number, "cut-in-pair", "warning", text, entry_id)

    def _late_parents(self) -> None:
        for number, own, name in self.later:
            entry_id = None if own == _ROOT else self.ids[own]
            parent = self.index.get(name)
            if parent is not None:
                self.add(number, "late-parent", "warning", f"the parent {name} stands on a later line", entry_id)
                if own != _ROOT and self.parents[own] == _LATER:
                    self.parents[own] = parent
            else:
                ends = "read as a child of the entry before" if self.version > VERSION else "the branch ends here"
                self.add(number, "missing-parent", "error", f"the parent {name} is not in the file; {ends}", entry_id)

    def _cycles(self) -> None:
        """Names one entry of each cycle: the one whose line comes first."""
        parents = self.parents
        done = bytearray(len(parents))
        # A cycle has an entry that does not come after its parent.
        for start in [entry for entry, parent in enumerate(parents) if parent >= entry]:
            if done[start]:
                continue
            passed: dict[int, None] = {}
            at = start
            while at >= 0 and not done[at] and at not in passed:
                passed[at] = None
                at = parents[at]
            if at >= 0 and not done[at]:
                ring = list(passed)[list(passed).index(at) :]
                first = min(ring, key=self.lines.__getitem__)
                text = "the entry is its own parent" if len(ring) == 1 else "entries are each other's parents"
                count = "" if len(ring) == 1 else f"{len(ring)} "
                self.add(self.lines[first], "cycle", "error", count + text, self.ids[first])
            for entry in passed:
                done[entry] = 1


def _is_half(call: Entry) -> bool:
    """Says of a tool call whether the stream that it came in was cut off in it."""
    call_id, name = call.get("id"), call.get("name")
    if not call_id or not name or not isinstance(call_id, str) or not isinstance(name, str):
        return True
    return not isinstance(call_arguments(call), dict) or "partialJson" in call


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
