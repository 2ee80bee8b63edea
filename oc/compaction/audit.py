"""What a compaction lost: values and statements of what it summarised that stand nowhere any more. Pure.

They are looked for in the summary, in the entries that the compaction kept, and in the notes of the memory. A value
(a path, an address, a ticket) must stand there as it is, letter case apart. A statement (a decision, an open question,
an error) may be worded anew: it counts as kept where one line has at least KEPT_SHARE of its words.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from oc.base.text import CJK, pattern
from oc.compaction import facts as said
from oc.compaction.cut import Entry
from oc.compaction.facts import facts, marks, sentences, short
from oc.compaction.identifiers import identifiers
from oc.compaction.prepare import kept_since
from oc.message.derived import bash_text, from_entry
from oc.message.shapes import Message, call_arguments, calls, text

KEPT_SHARE = 0.6
# An error names itself at the top; what follows is as long as a log can be.
MAX_ERROR_CHARS = 2000
VALUES = ("urls", "emails", "paths", "hosts", "hashes", "tickets", "names", "versions", "dates", "numbers")
STATEMENTS = ("decisions", "questions", "errors")
KINDS = (*VALUES, *STATEMENTS)
_STATEMENTS = {said.DECISION: "decisions", said.QUESTION: "questions", said.ERROR: "errors", said.BLOCKED: "errors"}


class Item(NamedTuple):
    """Something worth keeping; `kind` is one of KINDS, `entry_ids` those of the entries that say it, oldest first."""

    kind: str
    value: str
    entry_ids: tuple[str, ...]


class Audit(NamedTuple):
    """`found` is all that was worth keeping, `lost` the part of it that stands nowhere; both by kind, then by time.

    `compaction_id` is None for an entry that is not written yet.
    """

    compaction_id: str | None
    first_kept_entry_id: str | None
    summarised_entries: int
    found: tuple[Item, ...]
    lost: tuple[Item, ...]


def retention(found: int, lost: int) -> float:
    """Returns the share that was kept; of nothing, all was."""
    return 1.0 if not found else (found - lost) / found


def audit(path: Sequence[Entry], notes: Iterable[str], *, tools: bool = False) -> Audit:
    """Returns what a compaction lost; it is the last entry of the path from the root, `notes` are texts.

    What it summarised begins where the compaction before it began to keep, and that one's summary belongs to it.
    With `tools` values are looked for in calls and in the output of tools that did not fail, too.
    """
    compaction = path[-1]
    before = len(path) - 1
    previous = next((i for i in range(before - 1, -1, -1) if path[i].get("type") == "compaction"), -1)
    start = kept_since(path, previous)
    kept_id = compaction.get("firstKeptEntryId")
    first_kept = next((i for i in range(before) if path[i].get("id") == kept_id), before)
    old = [path[previous]] if previous >= 0 else []
    summarised = [*old, *(e for e in path[start:first_kept] if e.get("type") != "compaction")]
    kept = [entry for entry in path[first_kept:before] if entry.get("type") != "compaction"]
    found = _found(_messages(summarised), _messages(kept), tools=tools)
    near = _Shelf([str(compaction.get("summary") or ""), *(one for entry in kept for one in _strings(entry))])
    lost = [item for item in found if not near.holds(item)]
    if lost:
        far = _Shelf(notes)
        lost = [item for item in lost if not far.holds(item)]
    return Audit(
        compaction_id=_ident(compaction.get("id")),
        first_kept_entry_id=_ident(kept_id),
        summarised_entries=len(summarised) - len(old),
        found=tuple(found),
        lost=tuple(lost),
    )


def _ident(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _messages(entries: Iterable[Entry]) -> list[tuple[str, Message]]:
    made = ((str(entry.get("id")), from_entry(entry)) for entry in entries)
    return [(ident, message) for ident, message in made if message is not None]


def _found(
    summarised: Sequence[tuple[str, Message]], kept: Sequence[tuple[str, Message]], *, tools: bool
) -> list[Item]:
    """Returns what is worth keeping; the kept messages say which questions are answered and which errors healed."""
    items: dict[tuple[str, str], dict[str, None]] = {}
    for kind, value, ident in [*_values(summarised, tools=tools), *_statements(summarised, kept)]:
        items.setdefault((kind, value), {})[ident] = None
    made = [Item(kind, value, tuple(idents)) for (kind, value), idents in items.items()]
    return sorted(made, key=lambda item: KINDS.index(item.kind))


def _values(messages: Iterable[tuple[str, Message]], *, tools: bool) -> Iterator[tuple[str, str, str]]:
    for ident, message in messages:
        for kind, value in identifiers(_told(message, tools=tools)):
            yield _kind_of(kind, value), value, ident


def _told(message: Message, *, tools: bool) -> str:
    """Returns what a message says; of tools only their errors, unless all of theirs is asked for."""
    role = message.get("role")
    if role in ("compactionSummary", "branchSummary"):
        return str(message.get("summary") or "")
    if role == "bashExecution":
        return bash_text(message) if tools else str(message.get("command") or "")
    if role == "toolResult":
        failed = bool(message.get("isError"))
        return text(message) if tools else text(message)[:MAX_ERROR_CHARS] if failed else ""
    called = [one for call in calls(message) for one in _strings(call_arguments(call))] if tools else []
    return "\n".join([text(message), *called])


def _kind_of(kind: str, value: str) -> str:
    """Returns the kind as an audit names it: people ask for tickets and hashes, which are found as one."""
    if kind == "amounts":
        return "numbers"
    if kind != "ids":
        return kind
    if value.startswith("#") or pattern(r"[A-Z][A-Z0-9]*-\d+$").match(value):
        return "tickets"
    return "hashes" if pattern(r"[0-9a-f-]+$").match(value) else "names"


def _statements(
    summarised: Sequence[tuple[str, Message]], kept: Sequence[tuple[str, Message]]
) -> Iterator[tuple[str, str, str]]:
    for ident, message in summarised:
        if message.get("role") == "compactionSummary":
            for sentence in sentences(str(message.get("summary") or "")):
                if said.DECISION in marks(sentence):
                    yield "decisions", short(sentence), ident
    for fact in facts([message for _, message in [*summarised, *kept]]):
        kind = _STATEMENTS.get(fact.kind)
        if kind is None or fact.order >= len(summarised):
            continue
        ident, message = summarised[fact.order]
        # What stands in the way is an error when a tool said so, and a remark when the model did.
        if fact.kind != said.BLOCKED or message.get("role") in ("toolResult", "bashExecution"):
            yield kind, fact.text, ident


def _strings(value: Any) -> Iterator[str]:
    """Yields every text in an entry; the data of images is none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            if name != "data":
                yield from _strings(one)


class _Shelf:
    """Texts in which values and statements are looked for."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._text = "\n".join(texts).casefold()
        self._lines: dict[str, list[int]] | None = None

    def holds(self, item: Item) -> bool:
        value = item.value.rstrip("…").casefold()
        return _stands(value, self._text) or (item.kind in STATEMENTS and self._tells(value))

    def _tells(self, statement: str) -> bool:
        """Says whether one line has most of the words of a statement."""
        if self._lines is None:
            self._lines = {}
            for number, line in enumerate(self._text.split("\n")):
                for word in _words(line):
                    self._lines.setdefault(word, []).append(number)
        words = _words(statement)
        hits: dict[int, int] = {}
        for word in words:
            for number in self._lines.get(word, ()):
                hits[number] = hits.get(number, 0) + 1
        return bool(words) and max(hits.values(), default=0) >= KEPT_SHARE * len(words)


def _stands(value: str, whole: str) -> bool:
    """Says whether a value stands in a text, not as a piece of a longer word or number."""
    at = whole.find(value)
    while at >= 0:
        end = at + len(value)
        if not (_joins(whole[at - 1 : at], value[:1]) or _joins(value[-1:], whole[end : end + 1])):
            return True
        at = whole.find(value, at + 1)
    return False


def _joins(left: str, right: str) -> bool:
    return left.isascii() and right.isascii() and left.isalnum() and right.isalnum()


def _words(line: str) -> set[str]:
    """Returns the words of three letters and more, the numbers, and the pairs of neighbours in wide text."""
    words = {word for word in pattern(r"(?a)\w+").findall(line) if len(word) > 2 or word.isdigit()}
    for run in pattern(f"[{CJK}]+").findall(line):
        words.update(run[i : i + 2] for i in range(max(1, len(run) - 1)))
    return words
