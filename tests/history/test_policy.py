import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.history.ids import legal_id, rewrite_ids
from oc.history.limit import limit_turns, turns_for_key
from oc.history.markers import SNAPSHOT, TURN_ORDER, markers
from oc.history.policy import Model, policy, resolve


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((None, None, "anthropic/claude-opus-4-6"), Model("anthropic", "anthropic-messages", "claude-opus-4-6")),
        ((None, None, "claude-sonnet-4.5"), Model("anthropic", "anthropic-messages", "claude-sonnet-4.5")),
        ((None, None, "gemini/gemini-3-pro"), Model("google", "google-generative-ai", "gemini-3-pro")),
        ((None, None, "gemini-3-pro"), Model("google", "google-generative-ai", "gemini-3-pro")),
        ((None, None, "mistral/mistral-large"), Model("mistral", "mistral-conversations", "mistral-large")),
        ((None, None, "gpt-5.2"), Model("openai", "openai-responses", "gpt-5.2")),
        (
            ("openrouter", None, "google/gemini-2.5-pro"),
            Model("openrouter", "openai-completions", "google/gemini-2.5-pro"),
        ),
        ((" OpenAI ", "openai-completions", None), Model("openai", "openai-completions", "")),
        (
            ("bedrock", None, "anthropic.claude-v4"),
            Model("amazon-bedrock", "bedrock-converse-stream", "anthropic.claude-v4"),
        ),
        ((None, None, "llama3.1"), Model("", "", "llama3.1")),
        ((None, None, None), Model()),
    ],
)
def test_what_is_not_given_is_filled_in_where_it_is_known(given, expected):
    assert expected == resolve(*given)


def test_every_usual_api_has_rules_of_its_own():
    assert policy(resolve("anthropic")).merge_users
    assert policy(resolve("google")).merge_assistants
    assert policy(resolve("mistral")).id_mode == "strict9"
    assert policy(resolve("openai")).responses
    assert not policy(resolve("ollama")).rewrite_ids


@given(st.lists(st.text(max_size=60), max_size=8), st.sampled_from(["strict", "strict9"]))
def test_ids_are_legal_and_stay_apart(ids, mode):
    history = [{"role": "toolResult", "toolCallId": call_id} for call_id in ids]
    out = [m["toolCallId"] for m in rewrite_ids(history, mode)[0]]
    form = r"[A-Za-z0-9]{9}" if mode == "strict9" else r"[A-Za-z0-9]{1,40}"
    assert all(re.fullmatch(form, new) for new, old in zip(out, ids, strict=True) if old)
    assert len({new for new, old in zip(out, ids, strict=True) if old}) == len(set(filter(None, ids)))


def test_ids_that_collide_after_a_hash_are_numbered():
    clash = legal_id("c1", "strict") + "5d7963c4"  # what `call-1` would be called beside `call_1`
    ids = ["call_1", "call15d7963c4", "call-1"]
    out = rewrite_ids([{"role": "toolResult", "toolCallId": i} for i in ids], "strict")[0]
    assert [m["toolCallId"] for m in out] == ["call1", "call15d7963c4", "call15d7963c4x2"]
    assert clash == "c15d7963c4"


def test_the_limit_tells_what_it_dropped():
    history = [{"role": "user"}, {"role": "assistant"}, {"role": "user"}]
    out, decisions = limit_turns(history, 1)
    assert out == history[2:]
    assert [(d.rule, d.before) for d in decisions] == [("before-the-limit", m) for m in history[:2]]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("agent:main:slack:direct:U.1", 3),
        ("agent:main:slack:direct:U.1:Thread:99", 3),
        ("agent:main:slack:direct:U2", 9),
        ("slack:room:1", None),
        ("slack", None),
        ("irc:direct:x", None),
        ("odd:direct:x", None),
        ("::", None),
    ],
)
def test_limits_of_keys(key, expected):
    channels = {
        "slack": {"dmHistoryLimit": 9, "historyLimit": "x", "dms": {"U.1": {"historyLimit": 3}, "U2": 5}},
        "irc": [],
    }
    channels["odd"] = {"dms": 5, "dmHistoryLimit": True}
    assert expected == turns_for_key(key, channels)
    assert turns_for_key(key, None) is None


def test_markers_are_written_when_something_is_new():
    google = resolve("google", None, "gemini-3-pro")
    start = [{"role": "user", "content": "(session bootstrap)"}]
    first = markers([], start, google, now_ms=5)
    assert [entry["customType"] for entry in first] == [SNAPSHOT, TURN_ORDER]
    assert markers(first, start, google, now_ms=6) == []
    assert (
        markers([{"type": "custom", "customType": SNAPSHOT, "data": 3}], [], google, now_ms=6)[0]["data"]["timestamp"]
        == 6
    )
    assert markers([], [], Model(), now_ms=5) == []
