"""When a session's facts are saved to a note, before a compaction folds their messages into a summary. Pure.

Behaviour follows openclaw 2026.3.13 (tables: context-flush-gate, -run, -usage-tail), with the size of the context,
where it is known, counted too: what a row or a provider told may be out of date.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from oc.base.clock import iso
from oc.base.size import byte_size
from oc.base.text import js_trim
from oc.base.tokens import Counter
from oc.config.load import Config
from oc.message.usage import Usage, number, prompt_tokens
from oc.window.budget import flush_threshold, flush_tokens

# So near to the threshold the transcript's own count is looked up even when the stored one is fresh.
NEAR_TOKENS = 8192
FORCE_BYTES = 2 * 1024 * 1024
_FLUSH = "agents.defaults.compaction.memoryFlush"
# Backends that keep the conversation to themselves: there is nothing here that a flush could read.
_OWN_HISTORY = ("claude-cli", "codex-cli", "google-gemini-cli")


class Rules(NamedTuple):
    """`force_bytes`: a transcript of that size is flushed whatever its tokens; 0 never."""

    enabled: bool
    soft_tokens: int
    force_bytes: int
    reserve_floor: int


class Facts(NamedTuple):
    """What the gate looks at; None is not known.

    `row` of the session, `usage` the newest one of its transcript, `said_tokens` of the message about to be sent,
    `context_tokens` as counted.
    """

    row: Mapping[str, Any] | None
    usage: Usage | None = None
    said_tokens: int | None = None
    transcript_bytes: int | None = None
    context_tokens: int | None = None


class Verdict(NamedTuple):
    """`reason` names the trigger when due, else the condition that is not met. `fields` are for the session's row."""

    due: bool
    reason: str
    tokens: int
    threshold: int
    fields: dict[str, Any]


def rules_of(config: Config) -> Rules:
    soft, reserve = flush_tokens(config)
    forced = byte_size(config.get(f"{_FLUSH}.forceFlushTranscriptBytes"))
    return Rules(bool(config.get(f"{_FLUSH}.enabled")), soft, FORCE_BYTES if forced is None else forced, reserve)


def said_tokens(text: str, counter: Counter) -> int | None:
    """Returns the tokens of a message to be sent, None for a blank one."""
    trimmed = js_trim(text)
    return counter.tokens([trimmed]) if trimmed else None


def closed_by(*, private_run: bool, provider: str, sandbox: Mapping[str, Any], is_main: bool) -> str | None:
    """Returns what forbids a flush whatever its size; `private_run`: a heartbeat or a cron run.

    `sandbox` is OpenClaw's setting: a session in a sandbox that may not write leaves the notes alone here too.
    """
    if private_run:
        return "run"
    mode = sandbox.get("mode")
    if (mode == "all" or (mode == "non-main" and not is_main)) and sandbox.get("workspaceAccess") != "rw":
        return "sandbox"
    return "cli-backend" if provider.strip().lower() in _OWN_HISTORY else None


def needs_usage(row: Mapping[str, Any], said: int | None, window_tokens: float, rules: Rules) -> bool:
    """Says whether the transcript's own count must be looked up: the row's is out of date, or near the threshold."""
    stored = _fresh(row)
    if stored is None:
        return True
    limit = window_tokens - rules.reserve_floor - rules.soft_tokens
    return said is not None and limit > 0 and stored + said >= limit - NEAR_TOKENS


def judge(facts: Facts, window_tokens: float, rules: Rules, closed: str | None = None) -> Verdict:
    """Says whether the session is to be flushed, and why; `closed` is what forbids it from outside."""
    limit = flush_threshold(window_tokens, rules.reserve_floor, rules.soft_tokens)
    if not rules.enabled or closed or facts.row is None:
        reason = "disabled" if not rules.enabled else closed or "no-row"
        return Verdict(False, reason, 0, limit, {})
    count, fields = _counted(facts, window_tokens, rules)
    tokens = total_tokens(facts.row, count)
    if is_flushed(facts.row):
        return Verdict(False, "flushed", tokens, limit, fields)
    if should_flush(facts.row, count, window_tokens, rules):
        return Verdict(True, "threshold", tokens, limit, fields)
    if rules.force_bytes and (facts.transcript_bytes or 0) >= rules.force_bytes:
        return Verdict(True, "transcript-bytes", tokens, limit, fields)
    reason = "no-threshold" if limit <= 0 else "unknown-size" if tokens <= 0 else "below"
    return Verdict(False, reason, tokens, limit, fields)


def _counted(facts: Facts, window_tokens: float, rules: Rules) -> tuple[float | None, dict[str, Any]]:
    """Returns the tokens that the next request has, and what of it the row should remember."""
    row = facts.row or {}
    usage = facts.usage if needs_usage(row, facts.said_tokens, window_tokens, rules) else None
    told = prompt_tokens(usage) or 0
    stored = _fresh(row)
    fields = {"totalTokens": told, "totalTokensFresh": True} if told > (stored or 0) else {}
    snapshot = max(stored or 0, told)
    output = number((usage or {}).get("output"))
    known = effective_tokens(snapshot, output, facts.said_tokens) if snapshot > 0 else None
    if facts.context_tokens is not None:
        known = max(known or 0, effective_tokens(facts.context_tokens, None, facts.said_tokens))
    return known, fields


def effective_tokens(base: float | None, output: float | None, said: float | None) -> float:
    """Returns the sum of the parts that are known and not negative."""
    return sum(max(0, part or 0) for part in (base, output, said))


def should_flush(row: Mapping[str, Any] | None, count: float | None, window_tokens: float, rules: Rules) -> bool:
    """Says whether the tokens have reached the threshold in a cycle without a flush."""
    limit = flush_threshold(window_tokens, rules.reserve_floor, rules.soft_tokens)
    tokens = total_tokens(row or {}, count)
    return row is not None and tokens > 0 and limit > 0 and tokens >= limit and not is_flushed(row)


def total_tokens(row: Mapping[str, Any], count: float | None) -> int:
    """Returns the count, or without one the row's, unless that says that it is out of date."""
    if count is not None and math.isfinite(count) and count > 0:
        return math.floor(count)
    stored = number(row.get("totalTokens"))
    return math.floor(stored) if stored and stored > 0 and row.get("totalTokensFresh") is not False else 0


def _fresh(row: Mapping[str, Any]) -> float | None:
    stored = number(row.get("totalTokens"))
    return stored if stored and stored > 0 and row.get("totalTokensFresh") is True else None


def is_flushed(row: Mapping[str, Any]) -> bool:
    """Says whether the present compaction cycle has had its flush."""
    count = number(row.get("memoryFlushCompactionCount"))
    return count is not None and count == (row.get("compactionCount") or 0)


def flushed_fields(row: Mapping[str, Any], entry_id: str | None, now_ms: int) -> dict[str, Any]:
    """Returns what the row remembers of a flush; the count is that from before the compaction it was made for.

    `memoryFlushEntryId` is ours: the last entry that was read.
    """
    count = number(row.get("compactionCount")) or 0
    return {"memoryFlushAt": now_ms, "memoryFlushCompactionCount": count, "memoryFlushEntryId": entry_id}


def unflushed(path: Sequence[dict[str, Any]], row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the entries of a branch that no flush has read, folded ones included.

    After the entry that the row names; where that is not on the branch, those written after the time of the flush.
    """
    read_to = row.get("memoryFlushEntryId")
    at = next((i for i in range(len(path) - 1, -1, -1) if path[i].get("id") == read_to), None) if read_to else None
    if at is not None:
        return list(path[at + 1 :])
    flushed_ms = number(row.get("memoryFlushAt"))
    if flushed_ms is None:
        return list(path)
    since = iso(math.floor(flushed_ms))
    return [entry for entry in path if str(entry.get("timestamp") or since) >= since]
