"""What `oc flush` looks at and prints: the session, the gate with its numbers, the facts that were saved."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from oc.agent.choice import Choice, choose_model
from oc.agent.flush import Flushed, Flusher, context_tokens
from oc.agent.request import Session
from oc.base import files
from oc.base.clock import iso
from oc.base.tokens import ESTIMATE
from oc.cli.app import App
from oc.cli.sessions import find_session, named_or_default
from oc.cli.stream import Report, warn_skipped
from oc.cli.turn import setting_of
from oc.errors import NotFound, Usage
from oc.message.size import total_tokens
from oc.message.usage import prompt_tokens
from oc.session import store
from oc.session.entry import Entry
from oc.session.transcript import read
from oc.session.tree import leaf_path
from oc.window import flush as gate
from oc.window.budget import Window, compaction_trigger, reserve_tokens
from oc.window.budget import window as window_of

if TYPE_CHECKING:
    from oc.session.find import SessionRef


@dataclass(frozen=True, slots=True)
class Target:
    """The session with its branch, and what would flush it."""

    app: App
    flusher: Flusher
    window: Window
    branch: list[Entry]

    @property
    def name(self) -> str:
        ref = self.flusher.session.ref
        return ref.key or ref.path


def read_target(app: App, name: str | None, model: str | None, window: int | None) -> Target:
    """Reads the session that the argument means; a session in a stream has no notes to flush to."""
    if name == "-":
        raise Usage("a session is flushed, not a stream")
    ref = find_session(app, named_or_default(app, name))
    return target_of(app.for_agent(ref.agent), ref, model, window)


def target_of(app: App, ref: "SessionRef", model: str | None, window: int | None) -> Target:
    transcript = read(ref.path)
    warn_skipped(app, ref.path, transcript.skipped)
    choice: Choice = choose_model(model, ref.row, app.config)
    found = window_of(app.config, tokens=window, model=model, row=ref.row)
    session = Session(ref, app.config, app.places, choice)
    return Target(app, Flusher(session, found.tokens, setting_of(app)), found, leaf_path(transcript.entries))


def as_it_is(target: Target, model: str | None, window: int | None) -> Target:
    """Returns the session as it is under its lock: another process may have flushed it or rolled it over meanwhile."""
    ref = target.flusher.session.ref
    if ref.key is not None:
        row = store.look_up(store.load(target.app.places.store), ref.key).row
        if row is None or row.get("sessionId") != ref.session_id:
            raise NotFound("the session was started anew meanwhile", path=ref.path)
        ref = ref._replace(row=row)
    return target_of(target.app, ref, model, window)


def flush_first(app: App, ref: "SessionRef", model: str | None, report: Report) -> None:
    """Flushes a session of a key before it is compacted, unless this cycle has had its flush (design section 3).

    Raises Unavailable when the model fails: a compaction that was asked for can wait.
    """
    if ref.key is None:
        return
    store.refuse_database(app.places.store)
    with files.lock(ref.path, timeout_ms=app.lock_timeout_ms):
        target = as_it_is(target_of(app, ref, model, None), model, None)
        flusher, row = target.flusher, target.flusher.session.row
        closed = flusher.closed()
        if not flusher.rules.enabled or closed is not None or gate.is_flushed(row):
            reason = "flushed" if gate.is_flushed(row) else closed or "disabled"
            report.add("flush", "gate", rule=reason)
            return
        verdict = flusher.verdict(target.branch)
        done = flusher.run(target.branch, verdict.fields)
        tell(report, target, verdict._replace(reason="compaction"), done)
    if done is not None:
        app.out.detail(f"oc: flushed before the compaction: {done.result}: {done.path}")


def explanation(target: Target, verdict: gate.Verdict) -> dict[str, Any]:
    """Returns every number that the gate weighs, and what it says."""
    flusher, app = target.flusher, target.app
    rules, facts, row = flusher.rules, flusher.facts(target.branch), flusher.session.row
    pending = flusher.pending(target.branch)
    choice = flusher.session.choice
    return {
        "session": target.name,
        "due": verdict.due,
        "reason": verdict.reason,
        "tokens": verdict.tokens,
        "flushThreshold": verdict.threshold,
        "compactionTrigger": compaction_trigger(target.window.tokens, reserve_tokens(app.config)),
        "windowTokens": target.window.tokens,
        "windowOrigin": target.window.origin,
        "reserveTokensFloor": rules.reserve_floor,
        "softThresholdTokens": rules.soft_tokens,
        "reserveTokens": reserve_tokens(app.config),
        "storedTokens": row.get("totalTokens"),
        "storedTokensFresh": row.get("totalTokensFresh"),
        "reportedTokens": prompt_tokens(facts.usage),
        "contextTokens": facts.context_tokens,
        "transcriptBytes": facts.transcript_bytes,
        "forceFlushTranscriptBytes": rules.force_bytes,
        "compactionCount": row.get("compactionCount") or 0,
        "memoryFlushCompactionCount": row.get("memoryFlushCompactionCount"),
        "memoryFlushAt": _when(row.get("memoryFlushAt")),
        "unflushedMessages": len(pending),
        "unflushedTokens": total_tokens((entry["message"] for entry in pending), flusher.counter),
        "model": choice.model,
        "modelOrigin": choice.origin,
        "path": f"memory/{app.clock.date()}.md",
    }


def _when(millis: Any) -> str | None:
    return iso(int(millis)) if isinstance(millis, int | float) and not isinstance(millis, bool) else None


def warning_of(target: Target, verdict: gate.Verdict) -> str | None:
    """Returns what is wrong with thresholds that can never bring a flush before a compaction."""
    trigger = compaction_trigger(target.window.tokens, reserve_tokens(target.app.config))
    if verdict.threshold <= 0:
        return (
            f"the window of {target.window.tokens} tokens is too small for a flush: reserve and soft threshold fill it"
        )
    if verdict.threshold >= trigger:
        return (
            f"a flush is due at {verdict.threshold} tokens, a compaction at {trigger}: the flush never comes first "
            "by its threshold"
        )
    return None


def is_due(app: App, ref: "SessionRef") -> bool:
    """Says whether a session is due, by its row and the end of its transcript where these tell its size."""
    from oc.session.usage_tail import read_usage

    try:
        usage, size = read_usage(ref.path), os.path.getsize(ref.path)
    except (NotFound, OSError):
        usage, size = None, 0
    config = app.for_agent(ref.agent).config
    session = Session(ref, config, app.places_of(ref.agent), choose_model(None, ref.row, config))
    tokens = window_of(config, row=ref.row).tokens
    closed = Flusher(session, tokens, setting_of(app)).closed()
    facts, rules = gate.Facts(ref.row, usage, None, size), gate.rules_of(config)
    verdict = gate.judge(facts, tokens, rules, closed)
    if verdict.reason == "unknown-size" and size:
        branch = leaf_path(read(ref.path).entries)
        verdict = gate.judge(facts._replace(context_tokens=context_tokens(branch, ESTIMATE)), tokens, rules, closed)
    return verdict.due


def print_gate(target: Target, verdict: gate.Verdict, *, asked: bool) -> None:
    """Says whether a flush is due, to people on stderr; unless it was only `asked`, that nothing was written, too."""
    out = target.app.out
    told = {"session": target.name, "due": verdict.due, "reason": verdict.reason}
    if out.format in ("json", "jsonl"):
        out.document(told if asked else {"written": [], "result": "not-due", "path": None, **told})
    elif out.format == "tsv":
        out.rows("flush", [told], tuple(told))
    out.say(f"oc: {target.name}: {'due' if verdict.due else 'not due'}: {verdict.reason}")


def tell(report: Report, target: Target, verdict: gate.Verdict, done: Flushed | None) -> None:
    """Reports the gate and what was written where."""
    numbers = {"tokens_before": verdict.tokens, "threshold": verdict.threshold, "window_tokens": target.window.tokens}
    report.add("flush", "gate", rule=verdict.reason, due=verdict.due, **numbers)
    if done is not None:
        for line, fact in done.written.entries if done.written else ():
            report.add("flush", "note", path=done.path, line=line, text=fact)
        counts = {"messages": done.messages, "calls": done.calls, "model": target.flusher.session.choice.model}
        report.add("flush", "summary", path=done.path, rule=done.result, **counts)
