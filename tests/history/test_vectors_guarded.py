"""What is stored of what is appended (tables context-append-guard, sessions-guard)."""

import copy

import pytest

from oc.history.guarded import Rules, closed, guarded
from oc.history.provenance import provenance
from oc.message.pairs import MISSING_RESULT
from tests.forms import expand, same
from tests.support import NOW_MS, vectors


@vectors("context-append-guard", "appendGuard")
def test_append(case):
    given = expand(case.input)
    rules = Rules(given.get("allowSynthetic", True), source=given.get("provenance"))
    before = copy.deepcopy(given["append"])
    written, pending = [], {}
    for message in given["append"]:
        if message == "$clear":
            pending = {}
            continue
        stored = guarded([message], pending, rules, now_ms=NOW_MS)
        written += stored.messages
        pending = stored.pending
    assert same(case.expected, {"written": written, "pending": list(pending)})
    assert before == given["append"]


@vectors("sessions-guard", "dist/reply-Bm8VrLQh.js region src/agents/session-tool-result-guard.ts")
def test_guarded(case):
    options = dict(case.input["opts"])
    flush, blocked = options.pop("flushAtEnd", False), options.pop("blockRole", None)
    rules = Rules(
        options.pop("allowSyntheticToolResults", True),
        source=options.pop("provenance", None),
        on_write=lambda message: None if message["role"] == blocked else message,
    )
    assert options == {}
    stored = guarded(case.input["messages"], {}, rules, now_ms=NOW_MS)
    written = [*stored.messages]
    after = stored.pending
    if flush:
        end = closed(stored.pending, rules, now_ms=NOW_MS)
        written += end.messages
        after = end.pending
    shown = [_shown(message, case.input["messages"]) for message in written]
    assert case.expected == {
        "persisted": shown,
        "pendingBeforeFlush": list(stored.pending),
        "pendingAfter": list(after),
    }


def _shown(message, given):
    """Returns a result that was made up as the table writes it."""
    if message in given or message.get("content") != [{"type": "text", "text": MISSING_RESULT}]:
        return message
    assert NOW_MS == message["timestamp"]
    return {**message, "content": [{"type": "text", "text": "{{MISSING_TOOL_RESULT}}"}], "timestamp": "$now"}


@vectors("sessions-guard", "dist/reply-Bm8VrLQh.js region src/sessions/input-provenance.ts")
def test_provenance(case):
    assert case.expected == provenance(case.input["value"])


@pytest.mark.parametrize("table", ["context-append-guard", "sessions-guard"])
def test_every_function_of_the_tables_is_run(table):
    import json

    from tests.support import VECTORS

    known = ("appendGuard", "session-tool-result-guard.ts", "input-provenance.ts")
    rows = json.loads((VECTORS / f"{table}.json").read_text())
    assert [row["name"] for row in rows if not any(name in row["fn"] for name in known)] == []
