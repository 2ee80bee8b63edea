"""How every filter reads and writes: entries or messages as JSON lines, from files, sessions or stdin.

A filter emits the shape it read. What it did not change goes out with the bytes it came in with.
"""

import sys
from collections.abc import Iterable, Sequence
from itertools import chain

from oc.base.jsonl import dump, dump_line
from oc.base.typed import Any, BinaryIO, NamedTuple, Self
from oc.cli.app import App
from oc.cli.out import Out, camel
from oc.cli.sessions import path_of
from oc.errors import BadInput
from oc.message.derived import from_entry
from oc.message.shapes import Message
from oc.session.backward import read_ending
from oc.session.context import context_entries
from oc.session.entry import Entry, Finding
from oc.session.transcript import Transcript, assemble, open_file, read_stream, scan
from oc.session.tree import leaf_path


class Item:
    """One line of a stream: its value, and its bytes without LF as long as the value is what they say."""

    __slots__ = ("raw", "value")

    def __init__(self, raw: bytes | None, value: dict[str, Any]) -> None:
        self.raw = raw
        self.value = value

    @property
    def message(self) -> Message | None:
        """The message that the line puts into a context; None for an entry that puts none there."""
        return self.value if is_message(self.value) else from_entry(self.value)

    def with_message(self, message: Message) -> "Item":
        """Returns the item with another message; the very same message leaves the item as it is."""
        if is_message(self.value):
            return self if message is self.value else Item(None, message)
        if message is self.value.get("message"):
            return self
        envelope = {key: self.value.get(key) for key in ("id", "parentId", "timestamp")}
        entry = self.value if self.value.get("type") == "message" else {"type": "message", **envelope}
        return Item(None, {**entry, "message": message})


class Stream(NamedTuple):
    """`kind`: entries or messages; `header` only when every line of a transcript was asked for.

    `transcripts` are the transcripts among the sources, in order: whole, or of the leaf's path what its context needs.
    """

    kind: str
    header: Item | None
    items: list[Item]
    transcripts: tuple[Transcript, ...] = ()


def read_items(sources: Sequence[str], app: App, *, all_entries: bool = False) -> Stream:
    """Reads FILE|SESSION|- arguments, stdin when there are none; a transcript yields its context, or every line.

    Raises BadInput where entries and messages are mixed, or nothing on a line is JSON.
    """
    stream: Stream | None = None
    for source in sources or ("-",):
        part = _read_one(source, app, all_entries=all_entries)
        if stream is None or (not stream.items and stream.header is None):
            stream = part
        elif part.items and part.kind != stream.kind:
            raise BadInput(f"{part.kind} after {stream.kind}", path=source)
        else:
            joined = stream.items + part.items
            stream = stream._replace(items=joined, transcripts=stream.transcripts + part.transcripts)
    return stream or Stream("entries", None, [])


def _read_one(source: str, app: App, *, all_entries: bool) -> Stream:
    if source == "-":
        app.need_stdin("entries or messages")
        return _parse(sys.stdin.buffer, "stdin", app, all_entries=all_entries)
    path = path_of(app, source)
    with open_file(path) as file:
        ending = None if all_entries else read_ending(file, path)
        if ending is None:
            return _parse(file, path, app, all_entries=all_entries)
    warn_skipped(app, path, ending.transcript.skipped)
    return _of_transcript(ending.transcript, all_entries=False)


def _parse(file: BinaryIO, name: str, app: App, *, all_entries: bool) -> Stream:
    skipped: list[Finding] = []
    lines = scan(file, skipped)
    first = next(lines, None)
    if first is None:
        if skipped:
            raise BadInput("no line is a JSON object", path=name, line=skipped[0].line)
        return Stream("entries", None, [])
    if first[2].get("type") == "session":
        transcript = assemble(chain((first,), lines), skipped, name)
        warn_skipped(app, name, skipped)
        return _of_transcript(transcript, all_entries=all_entries)
    kind = "messages" if is_message(first[2]) else "entries"
    items = []
    for number, raw, value in chain((first,), lines):
        if is_message(value) is not (kind == "messages"):
            raise BadInput(f"no {'message' if kind == 'messages' else 'entry'} among {kind}", path=name, line=number)
        items.append(Item(raw, value))
    warn_skipped(app, name, skipped)
    return Stream(kind, None, items)


def _of_transcript(transcript: Transcript, *, all_entries: bool) -> Stream:
    if all_entries:
        header = Item(transcript.header_raw, transcript.header)
        items = list(map(Item, transcript.raws, transcript.entries))
        return Stream("entries", header, items, (transcript,))
    return Stream("entries", None, context_items(transcript, leaf_path(transcript.entries)), (transcript,))


def read_context(path: str) -> list[Entry]:
    """Returns the context of a transcript's leaf as entries that each hold a message; reads no more than that needs."""
    with open_file(path) as file:
        ending = read_ending(file, path)
        found = read_stream(file, path) if ending is None else ending.transcript
    return context_entries(leaf_path(found.entries))


def context_items(transcript: Transcript, path: Sequence[Entry]) -> list[Item]:
    """Returns the context of a path of the transcript, each message with the bytes of its line."""
    entries = context_entries(path)
    return list(map(Item, transcript.raws_of(entries), entries))


def is_message(value: dict[str, Any]) -> bool:
    """Says whether an object is a bare message; an entry holds its own in `message` and has a `type`."""
    return "role" in value and not isinstance(value.get("message"), dict)


def write_items(out: Out, stream: Stream, items: Iterable[Item]) -> None:
    """Writes the stream's header, if any, and the items, each on its line."""
    chosen = items if stream.header is None else chain((stream.header,), items)
    batch: list[bytes] = []
    size = 0
    for item in chosen:
        raw = item.raw if item.raw is not None else dump(item.value)
        batch.append(raw)
        size += len(raw)
        if size > 1 << 16:
            out.write(b"\n".join(batch) + b"\n")
            batch, size = [], 0
    if batch:
        out.write(b"\n".join(batch) + b"\n")


def warn_skipped(app: App, name: str, skipped: Sequence[Finding]) -> None:
    """Tells how many lines were passed over and which; never what they hold."""
    if skipped:
        numbers = ", ".join(str(finding.line) for finding in skipped[:10])
        more = ", ..." if len(skipped) > 10 else ""
        lines = "line is no entry" if len(skipped) == 1 else "lines are no entries"
        app.out.warn(f"{name}: {len(skipped)} {lines} and left out: {numbers}{more}")


class Report:
    """Writes `--report FILE`: a decision a line, camelCase; without a file it writes nothing.

    The file is opened at once, so that one that cannot be written fails before anything else is done.
    """

    def __init__(self, path: str | None) -> None:
        self._file: BinaryIO | None = None
        if path is not None:
            from oc.base.files import open_output

            self._file = open_output(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, stage: str, action: str, **facts: Any) -> None:
        """Adds a line; facts that are None are left out."""
        if self._file is not None:
            known = {name: value for name, value in facts.items() if value is not None}
            self._file.write(dump_line(camel({"stage": stage, "action": action, **known})))

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
