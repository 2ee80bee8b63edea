"""The view of a request: the order of its steps, ids and decisions, limits that do not count the prompt, pruning."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.agent.choice import Choice
from oc.agent.hooked import Hooked
from oc.agent.speaker import expected_speaker
from oc.agent.view import Pruning, View, pruning_of
from oc.agent.wire import Speaker
from oc.config.load import Config, Layer
from oc.errors import Usage
from oc.history.policy import Model, policy
from oc.history.sanitize import Wash
from oc.window.rules import PruneRules

NOW_MS = 1773651600000
CLAUDE = Speaker("anthropic-messages", "anthropic", "claude-x")


def entry(ident, message, **more):
    return {"type": "message", "id": ident, "message": message, **more}


def user(text="hi"):
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def answer(*ids, at=None):
    blocks = [{"type": "toolCall", "id": i, "name": "read", "arguments": {}} for i in ids]
    return {"role": "assistant", "content": blocks or [{"type": "text", "text": "ok"}], "timestamp": at}


def result(call_id, text="r"):
    return {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": "read",
        "content": [{"type": "text", "text": text}],
    }


def plain(**more):
    return View(Wash(policy(Model()), NOW_MS), **more)


def config(**pruning):
    return Config((Layer("oc.json", "", {"agents": {"defaults": {"contextPruning": pruning}}}),))


TALK = [entry("a", user("1")), entry("b", answer()), entry("c", user("2")), entry("d", answer()), entry("e", user("3"))]


def test_a_limit_does_not_count_the_prompt():
    assert ["c", "d", "e"] == plain(turns=1).of(TALK).ids
    assert ["e"] == plain(turns=1).of(TALK, prompted=False).ids
    assert ["a", "b", "c", "d", "e"] == plain(turns=0).of(TALK).ids


def test_what_is_put_in_has_no_entry_and_its_row_names_the_cause():
    seen = plain().of([entry("a", user()), entry("b", answer("x")), entry("c", user())])
    assert ["a", "b", None, "c"] == seen.ids
    assert [("pairs", "add", "b")] == [(row["stage"], row["action"], row["entry_id"]) for row in seen.rows]


def test_a_command_that_is_kept_from_the_model_is_told():
    hidden = {"role": "bashExecution", "command": "ls", "output": "", "excludeFromContext": True}
    seen = plain().of([entry("a", user()), entry("b", hidden), entry("c", {**hidden, "excludeFromContext": False})])
    assert ["a", "c"] == seen.ids
    assert [("model", "drop", "b")] == [(row["stage"], row["action"], row["entry_id"]) for row in seen.rows]


def test_guard_comes_before_prune_and_both_name_the_entry():
    long = [entry("a", user()), entry("b", answer("x")), entry("c", result("x", "w" * 9000)), *TALK[2:]]
    pruning = Pruning(
        PruneRules(keep_last_assistants=1, soft_trim_ratio=0, max_chars=100, head_chars=9, tail_chars=9), ""
    )
    seen = plain(window_tokens=5000, pruning=pruning).of(long)
    done = [(row["stage"], row["action"], row.get("entry_id")) for row in seen.rows if "index" in row]
    assert [("guard", "truncate", "c"), ("prune", "trim", "c")] == done
    assert [row["stage"] for row in seen.rows] == sorted(row["stage"] for row in seen.rows)


def test_the_answers_of_a_turn_do_not_move_the_line_up_to_which_is_pruned():
    rules = PruneRules(keep_last_assistants=1, soft_trim_ratio=0, max_chars=100, head_chars=9, tail_chars=9)
    view = plain(window_tokens=50_000, pruning=Pruning(rules, ""))
    start = [entry("a", user()), entry("b", answer("x")), entry("c", result("x", "w" * 900)), *TALK[2:]]
    first = view.of(start)
    under_way = [*start, entry("f", answer("y")), entry("g", result("y", "v" * 900))]
    later = view.of(under_way, answers=1)
    assert first.messages == later.messages[: len(first.messages)]
    assert "v" * 900 == later.messages[-1]["content"][0]["text"]


@pytest.mark.parametrize(
    ("settings", "speaker", "age_ms", "gate"),
    [
        ({}, CLAUDE, 10**9, "mode"),
        ({"mode": "off"}, CLAUDE, 10**9, "mode"),
        ({"mode": "cache-ttl"}, Speaker("x", "openai", "gpt-5"), 10**9, "provider"),
        ({"mode": "cache-ttl"}, CLAUDE, 299_999, "ttl"),
        ({"mode": "cache-ttl"}, CLAUDE, 300_000, ""),
        ({"mode": "cache-ttl", "ttl": "1h"}, CLAUDE, 300_000, "ttl"),
    ],
)
def test_what_keeps_results_from_being_pruned(settings, speaker, age_ms, gate):
    said = [entry("a", user()), entry("b", answer(at=NOW_MS - age_ms))]
    assert gate == pruning_of(config(**settings), speaker, said, NOW_MS).gate


def test_a_session_without_a_request_so_far_is_not_pruned():
    assert "ttl" == pruning_of(config(mode="cache-ttl"), CLAUDE, [entry("a", user())], NOW_MS).gate


@pytest.mark.parametrize("gate", ["mode", "provider", "ttl"])
def test_the_gate_is_reported(gate):
    rows = plain(window_tokens=1000, pruning=Pruning(PruneRules(), gate)).of(TALK).rows
    assert [("gate", gate)] == [
        (r["action"], r["rule"]) for r in rows if r["stage"] == "prune" and r["action"] == "gate"
    ]


class Answering(Hooked):
    """Hooks of which one answers the same view each time."""

    def __init__(self, messages):
        super().__init__()
        self.messages = messages

    def view(self, messages):  # noqa: ARG002
        return self.messages


def test_a_hooks_view_keeps_the_ids_of_what_it_leaves():
    view = plain(hooked=Answering([TALK[0]["message"], user("new"), TALK[4]["message"]]))
    seen = view.of(TALK)
    assert ["a", None, "e"] == seen.ids
    assert {"b", "c", "d"} == {row["entry_id"] for row in seen.rows if row["action"] == "drop"}


def test_a_hook_that_changes_nothing_is_not_told():
    assert [] == plain(hooked=Answering([one["message"] for one in TALK])).of(TALK).rows


messages = st.lists(
    st.one_of(
        st.builds(user, st.sampled_from(["a", "b" * 500])),
        st.builds(answer, st.sampled_from("xyz")),
        st.builds(result, st.sampled_from("xyzw"), st.sampled_from(["r", "r" * 3000])),
    ),
    max_size=14,
)


@given(messages, st.sampled_from(["", "anthropic", "google", "openai", "mistral"]), st.sampled_from([None, 1, 2]))
def test_ids_run_beside_messages_and_nothing_given_is_changed(history, provider, turns):
    given_entries = [entry(str(n), message) for n, message in enumerate(history)]
    before = repr(given_entries)
    pruning = Pruning(PruneRules(keep_last_assistants=1, soft_trim_ratio=0, max_chars=100), "")
    view = View(Wash(policy(Model(provider)), NOW_MS), turns, 1000, pruning)
    seen = view.of(given_entries)
    assert len(seen.messages) == len(seen.ids)
    known = [ident for ident in seen.ids if ident is not None]
    assert len(known) == len(set(known))
    assert before == repr(given_entries)
    gone = {e["id"] for e in given_entries} - set(known)
    assert gone <= {row.get("entry_id") for row in seen.rows}


@pytest.mark.parametrize(
    ("model", "speaker", "origin"),
    [
        ("oc-offline", Speaker("oc-offline", "oc", "oc-offline"), "built-in"),
        ("anthropic/claude-x", CLAUDE, "name"),
        ("claude-x", CLAUDE, "name"),
        ("gemini/gemini-2", Speaker("google-generative-ai", "gemini", "gemini-2"), "name"),
        ("openai/gpt-5", Speaker("openai-completions", "openai", "gpt-5"), "name"),
        ("unheard-of", Speaker("llm", "llm", "unheard-of"), "name"),
        ("said-before", Speaker("openai-completions", "house", "said-before"), "session"),
    ],
)
def test_who_will_answer(model, speaker, origin):
    said = {"role": "assistant", "api": "openai-completions", "provider": "house", "model": "said-before"}
    assert (speaker, origin) == expected_speaker(Choice(model, "flag"), [said, user()])


def test_the_default_of_llm_is_not_guessed():
    with pytest.raises(Usage):
        expected_speaker(Choice("default", "flag"), [])
    assert "name" == expected_speaker(Choice("default", "oc.json"), [])[1]
