"""The silent turn that saves a session's facts to the note of the day before a compaction folds its messages.

The transcript is not written to. A model that fails, or that stops before its own end, leaves nothing behind; then
nothing is recorded either, and the next occasion tries again. What is due when is in oc/window/flush.py.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from oc.agent.answer import Model, Request
from oc.agent.model import open_model
from oc.agent.parts import split
from oc.agent.request import Session, request_tokens
from oc.agent.setting import Setting
from oc.agent.shape import EVENT
from oc.agent.tools.append import Notes
from oc.agent.tools.spec import call
from oc.agent.view import View, view_of
from oc.agent.wire import NORMAL_ENDS
from oc.base.tokens import ESTIMATE, Counter
from oc.errors import NotFound, OcError, Unavailable
from oc.memory.block import append_block
from oc.memory.paths import ENDING, FOLDER
from oc.memory.write import Written
from oc.message.derived import from_entry
from oc.message.shapes import Block, Message, text
from oc.message.size import context_size, total_tokens
from oc.message.usage import no_usage
from oc.session import store
from oc.session.context import context_entries
from oc.session.entry import Entry
from oc.session.usage_tail import read_usage
from oc.window import flush as gate
from oc.window.budget import reserve_tokens, run_limit
from oc.window.flush_prompt import DATE_MARK, Words, for_run, words_of

Tell = Callable[[dict[str, Any]], None]
MAX_CALLS = run_limit()


class Flushed(NamedTuple):
    """`written` None: nothing was worth keeping. `messages` were read, in `calls` calls of the model."""

    path: str
    written: Written | None
    messages: int
    calls: int

    @property
    def result(self) -> str:
        """`written`, `known` when all of it stood in the note already, or `nothing`."""
        return "nothing" if self.written is None else "written" if self.written.added else "known"


@dataclass(frozen=True, slots=True)
class Flusher:
    """Flushes one session; the caller holds the lock of its transcript. `deadline_s` is of time.monotonic()."""

    session: Session
    window_tokens: int
    setting: Setting
    counter: Counter = ESTIMATE
    deadline_s: float | None = None

    @property
    def rules(self) -> gate.Rules:
        return gate.rules_of(self.session.config)

    def closed(self, run_kind: str = "default") -> str | None:
        """Returns what forbids a flush that nobody asked for, None when nothing does."""
        session = self.session
        return gate.closed_by(
            private_run=run_kind != "default" or session.kind == "cron",
            provider=session.choice.model.partition("/")[0],
            sandbox=session.config.merged("agents.defaults.sandbox"),
            is_main=session.kind == "main",
        ) or (None if _is_writable(session.places.workspace) else "read-only")

    def facts(self, path: Sequence[Entry], said: str = "") -> gate.Facts:
        """Returns what the gate looks at, counted from the branch as well as told by the row."""
        ref = self.session.ref
        try:
            usage, size = read_usage(ref.path), os.path.getsize(ref.path)
        except (NotFound, OSError):
            usage, size = None, 0
        counted = context_tokens(path, self.counter)
        return gate.Facts(ref.row, usage, gate.said_tokens(said, self.counter), size, counted)

    def verdict(self, path: Sequence[Entry], said: str = "", run_kind: str = "default") -> gate.Verdict:
        """Says whether the branch is to be flushed before `said` is sent."""
        return gate.judge(self.facts(path, said), self.window_tokens, self.rules, self.closed(run_kind))

    def pending(self, path: Sequence[Entry]) -> list[Entry]:
        """Returns what was said and no flush has read yet, as entries that each hold a message.

        Neither summaries, whose messages are on the branch, nor what the session was told of its own rules.
        """
        found: list[Entry] = []
        talk = False
        for entry in gate.unflushed(path, self.session.row):
            message = from_entry(entry)
            if message is not None and entry.get("type") != "compaction" and entry.get("customType") != EVENT:
                found.append({"type": "message", "id": entry.get("id"), "message": message})
                talk = talk or (message.get("role") in ("user", "assistant") and bool(text(message).strip()))
        return found if talk else []

    def run(self, path: Sequence[Entry], fields: dict[str, Any] | None = None) -> Flushed | None:
        """Saves what the unread part of the branch holds and records it; None when there is nothing unread.

        `fields` go into the session's row with it. Raises Unavailable when the model fails or ends early; then no byte
        has changed.
        """
        pending = self.pending(path)
        if not pending:
            return None
        notes, calls = self.read(pending)
        written = self.write(notes, pending) if notes.text.strip() else None
        now_ms = self.setting.clock.now_ms()
        self._record({**(fields or {}), **gate.flushed_fields(self.session.row, path[-1].get("id"), now_ms)})
        return Flushed(notes.path, written, len(pending), calls)

    def read(self, pending: Sequence[Entry]) -> tuple[Notes, int]:
        """Returns what the model would note, and how often it was called; nothing is written yet."""
        date = self.setting.clock.date()
        notes = Notes(self.session.places.workspace, f"{FOLDER}/{date}{ENDING}", date)
        words = self._words(date)
        model = open_model(self.session.choice)
        calls = sum(self._ask(model, part, words, notes) for part in self.parts(pending, words, notes))
        return notes, calls

    def write(self, notes: Notes, pending: Sequence[Entry], *, dry_run: bool = False) -> Written:
        """Appends what was noted to the note of the day on which the flush began."""
        ref = self.session.ref
        return append_block(
            notes.workspace,
            notes.text.rstrip() + "\n",
            date=notes.date,
            origin={"session": ref.session_id, "key": ref.key, "entry": pending[-1]["id"], "by": "flush"},
            now_ms=self.setting.clock.now_ms(),
            dry_run=dry_run,
            lock_timeout_ms=self.setting.lock_timeout_ms,
        )

    def parts(self, pending: Sequence[Entry], words: Words, notes: Notes) -> list[list[Entry]]:
        """Returns the entries in as many parts as there must be for each to fit into a request."""
        fixed = request_tokens(
            Request(words.system, [{"role": "user", "content": words.prompt}], (notes.tool(),)), self.counter
        )
        return split(pending, self.budget_tokens() - fixed, self.counter)

    def budget_tokens(self) -> int:
        """Returns how large a request may be: what the reserve leaves of the window, never over the guard's share."""
        free = self.window_tokens - reserve_tokens(self.session.config)
        return min(self.window_tokens * 3 // 4, free if free > 0 else self.window_tokens // 2)

    def _words(self, date: str) -> Words:
        config, clock = self.session.config, self.setting.clock
        line = clock.time_line(twelve_hours=config.get("agents.defaults.timeFormat") == "12")
        words = words_of(config)
        return Words(for_run(words.prompt, date, line), words.system.replace(DATE_MARK, date))

    def _ask(self, model: Model, part: Sequence[Entry], words: Words, notes: Notes) -> int:
        """Lets the model read a part of the conversation and note what it wants; returns how often it was called."""
        tool = notes.tool()
        now_ms = self.setting.clock.now_ms()
        view = view_of(self.session, model.speaker, window_tokens=self.window_tokens, now_ms=now_ms)
        view = view._replace(turns=None)  # all of it, however few turns a chat is shown
        entries = [*part, _entry({"role": "user", "content": words.prompt, "timestamp": now_ms})]
        for count in range(1, MAX_CALLS + 1):
            blocks = self._answer(model, Request(words.system, _shown(view, entries), (tool,)))
            called = [block for block in blocks if block["type"] == "toolCall"]
            if not called:
                return count
            entries.append(_entry(_said(model, blocks, now_ms)))
            for block in called:
                known = tool if block["name"] == tool.name else None
                result = call(known, block["name"], block["arguments"])
                answer = {"role": "toolResult", "toolCallId": block["id"], "toolName": block["name"]}
                content = [{"type": "text", "text": result.text}]
                entries.append(_entry({**answer, "content": content, "isError": result.failed, "timestamp": now_ms}))
        raise Unavailable(f"{model.name}: a flush that needs more than {MAX_CALLS} calls of the model is given up")

    def _answer(self, model: Model, request: Request) -> list[Block]:
        ids = iter(range(1, 1_000_000))
        calls = sum(len(m["content"]) for m in request.messages if m.get("role") == "assistant")
        stream = model.stream(request, deadline_s=self.deadline_s, new_id=lambda: f"call_{calls}_{next(ids)}")
        for _ in stream:
            pass
        for warning in model.warnings:
            self.setting.warn(warning)
        model.warnings.clear()
        if stream.failure is not None:
            raise Unavailable(stream.failure.message, hint=stream.failure.hint)
        if stream.finish not in NORMAL_ENDS:
            ended = stream.finish or "no finish reason"
            raise Unavailable(f"{model.name}: the flush is not whole: it ended with {ended}")
        return stream.blocks()

    def _record(self, fields: dict[str, Any]) -> None:
        """Notes the flush in the session's row; it is no use of the session, so its age stays."""
        ref = self.session.ref
        if ref.key is None or ref.row is None:
            return

        def change(rows: store.Store) -> None:
            row = store.look_up(rows, str(ref.key)).row
            if row is not None and row.get("sessionId") == ref.session_id:
                now_ms = self.setting.clock.now_ms()
                store.put(rows, str(ref.key), store.merge(row, fields, now_ms=now_ms, keep_activity=True))

        store.update(self.session.places.store, change, lock_timeout_ms=self.setting.lock_timeout_ms)
        ref.row.update(fields)

    def before_turn(self, path: Sequence[Entry], said: str, tell: Tell, run_kind: str = "default") -> None:
        """Flushes when it is due, and tells of it; a failure is a warning, and the turn goes on."""
        verdict = self.verdict(path, said, run_kind)
        if verdict.due:
            self._try(path, verdict.reason, tell, verdict.fields)
            return
        gate_row = {"stage": "flush", "action": "gate", "rule": verdict.reason, "tokens_before": verdict.tokens}
        tell({"type": "view", "decisions": [{**gate_row, "threshold": verdict.threshold}]})

    def before_compaction(self, path: Sequence[Entry], tell: Tell) -> None:
        """Flushes when this cycle has had none, whatever the size (design D25); otherwise as `before_turn`."""
        row = self.session.ref.row
        if self.rules.enabled and row is not None and not gate.is_flushed(row) and self.closed() in (None, "run"):
            self._try(path, "compaction", tell, {})

    def _try(self, path: Sequence[Entry], reason: str, tell: Tell, fields: dict[str, Any]) -> None:
        if not self.pending(path):
            return
        tell({"type": "memory_flush_start", "reason": reason})
        end: dict[str, Any] = {"type": "memory_flush_end", "reason": reason}
        try:
            done = self.run(path, fields)
        except (OcError, OSError) as error:
            self.setting.warn(f"facts were not saved before the compaction: {error}")
            tell({**end, "result": "failed", "errorMessage": str(error)})
            return
        if done is not None:
            lines = [line for line, _ in done.written.entries] if done.written else []
            tell({**end, "result": done.result, "path": done.path, "lines": lines, "messages": done.messages})


def context_tokens(path: Sequence[Entry], counter: Counter) -> int:
    """Returns the size of a branch's context: a provider's count, if one was given since the newest compaction."""
    cut = next((i for i in range(len(path) - 1, -1, -1) if path[i].get("type") == "compaction"), -1)
    size = context_size([entry["message"] for entry in context_entries(path[cut + 1 :])], counter)
    if size.last_usage_index is not None and size.usage_tokens > 0:
        return size.tokens
    return total_tokens((entry["message"] for entry in context_entries(path)), counter)


def _entry(message: Message) -> Entry:
    return {"type": "message", "id": None, "message": message}


def _shown(view: View, entries: Sequence[Entry]) -> list[Message]:
    return view.of(entries).messages


def _said(model: Model, blocks: list[Block], now_ms: int) -> Message:
    speaker = model.speaker
    who = {"api": speaker.api, "provider": speaker.provider, "model": speaker.model}
    made = {"role": "assistant", "content": blocks, **who, "usage": no_usage()}
    return {**made, "stopReason": "toolUse", "timestamp": now_ms}


def _is_writable(folder: str) -> bool:
    """Says whether files can be made in the folder, or the folder itself where it is not there yet."""
    while not os.path.isdir(folder):
        parent = os.path.dirname(folder)
        if os.path.lexists(folder) or parent == folder:
            return False
        folder = parent
    return os.access(folder, os.W_OK)
