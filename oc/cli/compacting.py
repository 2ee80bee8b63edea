"""What `oc compact` reads and writes: a session by key or id, a transcript file, or stdin to stdout."""

import io
import sys
from typing import Any, NamedTuple

from oc.agent.compact import Compaction, count_compaction
from oc.agent.refresh import queue_refresh
from oc.base import files
from oc.base.jsonl import dump, dump_line
from oc.cli.app import App
from oc.cli.sessions import find_session, named_or_default
from oc.cli.stream import Report, warn_skipped
from oc.cli.turn import setting_of
from oc.errors import BadInput, Busy
from oc.session.entry import VERSION, Entry
from oc.session.find import SessionRef
from oc.session.transcript import Transcript, append, need_writable, read, read_stream
from oc.session.tree import leaf_path

_ATTEMPTS = 3


class Target(NamedTuple):
    """What is compacted; `ref` None and `data` the bytes as they came: a transcript on stdin."""

    transcript: Transcript
    ref: SessionRef | None
    data: bytes

    @property
    def row(self) -> dict[str, Any] | None:
        return self.ref.row if self.ref else None

    @property
    def branch(self) -> list[Entry]:
        return leaf_path(self.transcript.entries)

    @property
    def name(self) -> str:
        return "stdin" if self.ref is None else self.ref.key or self.ref.path


def read_target(app: App, name: str | None, *, to_write: bool = False) -> tuple[App, Target]:
    """Reads what the SESSION argument means, `to_write` what can be appended to; the run becomes that of its agent."""
    if name == "-":
        app.need_stdin("a transcript")
        data = sys.stdin.buffer.read()
        target = Target(read_stream(io.BytesIO(data), "stdin"), None, data)
    else:
        ref = find_session(app, named_or_default(app, name))
        if to_write:
            need_writable(ref.path)
        target = Target(read(ref.path), ref, b"")
        app = app.for_agent(ref.agent)
    warn_skipped(app, target.transcript.path, target.transcript.skipped)
    return app, target


def write(app: App, target: Target, done: Compaction) -> Entry:
    """Writes the compaction to where it belongs and returns its entry."""
    if target.ref is None:
        return _emit(app, target, done.entry)
    entry = _append(app, target.transcript, target.ref.path, done.entry)
    store_path = app.places_of(target.ref.agent).store
    count_compaction(target.ref, store_path, done.tokens_after, app.clock.now_ms(), app.lock_timeout_ms)
    queue_refresh(target.ref, app.config, app.places_of(target.ref.agent), setting_of(app))
    return entry


def read_summary(path: str) -> str:
    """Returns the summary that stands in a file."""
    try:
        with files.open_input(path) as file:
            summary = file.read().decode("utf-8").strip()
    except UnicodeDecodeError:
        raise BadInput("not UTF-8 text", path=path) from None
    if not summary:
        raise BadInput("the summary is empty", path=path)
    return summary


def pass_on(app: App, target: Target) -> None:
    """Writes a transcript from stdin as it came."""
    if target.ref is None:
        app.out.write(target.data)


def _emit(app: App, target: Target, entry: Entry) -> Entry:
    transcript = target.transcript
    taken = {known["id"] for known in transcript.entries}
    fields = {name: value for name, value in entry.items() if name != "type"}
    written = {"type": entry["type"], "id": app.ids.entry(taken), "parentId": transcript.leaf_id, **fields}
    if transcript.version < VERSION:
        lines = [dump(transcript.header)]
        lines += [dump(e) if raw is None else raw for raw, e in zip(transcript.raws, transcript.entries, strict=True)]
        app.out.write(b"\n".join(lines) + b"\n")
    else:
        app.out.write(target.data if target.data.endswith(b"\n") else target.data + b"\n")
    app.out.write(dump_line(written))
    return written


def _append(app: App, transcript: Transcript, path: str, entry: Entry) -> Entry:
    """Appends the entry to the leaf it was made for.

    What another writer has appended to that leaf meanwhile is kept by the compaction as it stands; only when the
    session took another branch, or was compacted, is it refused.
    """
    leaf_id = transcript.leaf_id
    for _ in range(_ATTEMPTS):
        try:
            return append(
                path,
                [entry],
                ids=app.ids,
                after=leaf_id,
                lock_timeout_ms=app.lock_timeout_ms,
                warn=app.out.warn,
            )[0]
        except Busy as error:
            refusal = error
        newer = leaf_path(read(path).entries)
        known = [one["id"] for one in newer]
        if leaf_id not in known[:-1] or any(
            one.get("type") == "compaction" for one in newer[known.index(leaf_id) + 1 :]
        ):
            break
        leaf_id = known[-1]
    raise refusal


def document(target: Target, done: Compaction, entry: Entry | None) -> dict[str, Any]:
    """Returns what was done, or would be (`entry` None), for people and programs."""
    made = done.preparation
    return {
        "session": target.name,
        "path": target.transcript.path,
        "entryId": None if entry is None else entry["id"],
        "firstKeptEntryId": made.first_kept_entry_id,
        "isSplitTurn": made.is_split_turn,
        "summarisedMessages": len(made.messages) + len(made.prefix_messages),
        "keptMessages": made.kept_messages,
        "tokensBefore": made.tokens_before,
        "countedBefore": done.tokens_before,
        "tokensAfter": done.tokens_after,
        "summariser": done.entry["details"]["summariser"],
    }


def tell(report: Report, done: Compaction, method: str) -> None:
    """Reports which entries went into the summary, where the cut is, and the sizes."""
    made = done.preparation
    for rule, entries in (("history", made.summarised), ("splitTurn", made.prefix)):
        for entry in entries:
            role = (entry.get("message") or {}).get("role")
            report.add("compact", "summarise", entry_id=entry.get("id"), role=role, rule=rule)
    report.add("compact", "cut", entry_id=made.first_kept_entry_id, rule="keepRecentTokens")
    sizes = {"tokens_before": done.tokens_before, "tokens_after": done.tokens_after}
    report.add("compact", "summary", **sizes, count=method, summariser=done.entry["details"]["summariser"])
