import copy
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oc.history.policy import policy
from oc.history.sanitize import STAGES, Wash, limit, sanitize
from oc.message.shapes import texts
from tests.history.histories import HISTORY, MODELS, faults, pairing_faults
from tests.shapes import JSON
from tests.support import NOW_MS

NAMES = st.sampled_from(sorted(MODELS))


def wash(name):
    return Wash(policy(MODELS[name]), NOW_MS)


@given(HISTORY, NAMES)
def test_a_washed_history_keeps_the_rules_of_its_provider(history, name):
    assert list(faults(sanitize(history, wash(name)).messages, name)) == []


@given(HISTORY, NAMES)
def test_washing_twice_is_washing_once(history, name):
    once = sanitize(history, wash(name)).messages
    again = sanitize(once, wash(name))
    assert once == again.messages
    assert all(a is b for a, b in zip(once, again.messages, strict=True))
    assert not again.trail.changed


@pytest.mark.parametrize("stage", STAGES)
@settings(max_examples=max(20, settings.default.max_examples // 8))
@given(history=HISTORY, name=NAMES)
def test_each_stage_alone_is_idempotent(stage, history, name):
    once = sanitize(history, wash(name), only=[stage]).messages
    assert once == sanitize(once, wash(name), only=[stage]).messages


@given(HISTORY, NAMES)
def test_what_was_given_is_never_changed(history, name):
    before = copy.deepcopy(history)
    sanitize(history, wash(name))
    assert before == history


@given(HISTORY, NAMES)
def test_every_change_is_told(history, name):
    """A message that is not the very one given has a line in the report, and so has one that is gone."""
    washed = sanitize(history, wash(name))
    told = {row["index"] for row in washed.trail.rows()}
    kept = {washed.trail.origin(m).place for m in washed.messages if m is history[washed.trail.origin(m).place]}
    assert set(range(len(history))) - kept <= told


@given(HISTORY, NAMES)
def test_no_word_of_the_user_is_lost(history, name):
    said = Counter(t for m in history if m.get("role") == "user" for t in texts(m) if t)
    marked = Counter(t.partition("\n")[2] if t.startswith("[Inter-session") else t for t in said.elements())
    washed = sanitize(history, wash(name)).messages
    left = [t for m in washed if m.get("role") == "user" for t in texts(m)]
    for text in marked.elements():
        assert any(text in other for other in left)


@given(HISTORY, st.integers(0, 4), NAMES)
def test_a_limited_history_is_paired(history, turns, name):
    washed = sanitize(history, wash(name)).messages
    limited = limit(washed, turns, now_ms=NOW_MS).messages
    assert list(pairing_faults(limited)) == []
    users = [m for m in limited if m.get("role") == "user"]
    assert not turns or len(users) <= turns
    assert limited == limit(limited, turns, now_ms=NOW_MS).messages


KEYS = st.sampled_from(
    [
        "role",
        "content",
        "stopReason",
        "usage",
        "timestamp",
        "provenance",
        "toolCallId",
        "toolUseId",
        "toolName",
        "details",
    ]
)
BLOCK_KEYS = st.sampled_from(
    ["type", "id", "name", "arguments", "input", "text", "thinking", "thinkingSignature", "data", "mimeType", "cost"]
)
WORDS = st.sampled_from(
    [
        "user",
        "assistant",
        "toolResult",
        "toolCall",
        "toolUse",
        "thinking",
        "image",
        "text",
        "error",
        "inter_session",
        "x",
    ]
)
VALUES = WORDS | JSON | st.dictionaries(BLOCK_KEYS, WORDS | JSON, max_size=5)


@given(st.lists(st.dictionaries(KEYS, VALUES | st.lists(VALUES, max_size=3), max_size=6), max_size=6), NAMES)
def test_whatever_stands_in_a_file_is_washed_and_reported(history, name):
    washed = sanitize(history, wash(name))
    assert len(list(washed.trail.rows())) >= len([m for m in washed.messages if washed.trail.origin(m).made])
    assert sanitize(washed.messages, wash(name)).messages == washed.messages
