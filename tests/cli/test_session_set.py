"""What is noted of a session, and how threads start: set, event, open --parent and --thread, guarded append."""

import json

import pytest


@pytest.fixture
def main(oc):
    assert 0 == oc("session", "append", "main", "--create", "--role", "user", "hello").status
    oc.folder = oc.state / "agents/main/sessions"
    return oc


def row_of(oc, key="main"):
    return json.loads((oc.folder / "sessions.json").read_text())[f"agent:main:{key}"]


def test_fields_are_set_and_taken_away(main):
    before = row_of(main)
    ran = main("session", "set", "main", "label=work", "thinkingLevel=high", "fastMode=true", "queueCap=3")
    assert (0, "") == (ran.status, ran.err)
    assert ["label\twork", "thinkingLevel\thigh", "fastMode\ttrue", "queueCap\t3"] == ran.out.splitlines()
    assert {**before, "label": "work", "thinkingLevel": "high", "fastMode": True, "queueCap": 3} == row_of(main)
    main("session", "set", "main", "label=", "fastMode=", "queueCap=", "thinkingLevel=", "subject=")
    assert before == row_of(main)


@pytest.mark.parametrize(
    ("args", "status", "words"),
    [
        (["main", "thinkingLevl=high"], 2, "near: thinkingLevel"),
        (["main", "thinkingLevel=most"], 2, "one of off, minimal"),
        (["main", "sessionId=x", "--force"], 2, "cannot be set"),
        (["main"], 2, ""),
        (["mian", "label=x"], 66, "no session"),
        (["-", "label=x"], 2, "a session key is expected"),
    ],
)
def test_what_cannot_be_set_changes_nothing(main, args, status, words):
    before = (main.folder / "sessions.json").read_bytes()
    ran = main("session", "set", *args)
    assert (status, "") == (ran.status, ran.out)
    assert words in ran.err
    assert before == (main.folder / "sessions.json").read_bytes()


def test_any_field_with_force_and_a_dry_run(main):
    assert 0 == main("session", "set", "main", 'own={"a":[1]}', "--force").status
    assert {"a": [1]} == row_of(main)["own"]
    ran = main("session", "set", "main", "label=x", "--dry-run", "--json")
    assert ("agent:main:main", "x") == (ran.json()["key"], ran.json()["label"])
    assert "label" not in row_of(main)


def test_what_was_set_survives_a_reset(main):
    main("session", "set", "main", "label=work", "modelOverride=oc-offline", "subject=s")
    main("session", "reset", "main", "--no-note")
    assert ("work", "oc-offline") == (row_of(main)["label"], row_of(main)["modelOverride"])


def test_an_event_waits_for_the_next_turn(main):
    ran = main("session", "event", "main", "the build is green")
    assert (0, "") == (ran.status, ran.err)
    (event,) = [json.loads(line) for line in (main.folder / "oc-events.jsonl").read_text().splitlines()]
    assert (ran.out.strip(), "agent:main:main", "the build is green") == (
        event["id"],
        event["sessionKey"],
        event["text"],
    )
    assert 0 == main("prompt", "hello").status
    assert "the build is green" in main("session", "show").out
    assert "" == (main.folder / "oc-events.jsonl").read_text()
    assert (66, 2) == (main("session", "event", "x", "y").status, main("session", "event", "main", " ").status)


def test_a_thread_starts_as_a_fork_of_its_parent(main):
    row = main("session", "open", "main", "--thread", "1712.5/主", "--parent", "main", "--json").json()
    assert "agent:main:main:thread:1712.5/主" == row["key"]
    assert row["path"].endswith(f"{row['sessionId']}-topic-1712.5%2F%E4%B8%BB.jsonl")
    assert "hello" in main("session", "show", row["key"], "--messages").out
    noted = row_of(main, "main:thread:1712.5/主")
    assert (True, row["path"]) == (noted["forkedFromParent"], noted["sessionFile"])
    # It has its own life: what is said in it is not said in its parent, and it is not forked again.
    main("session", "append", row["key"], "--role", "user", "in the thread")
    again = main("session", "open", row["key"], "--parent", "main", "--json").json()
    assert (False, row["path"]) == (again["isNew"], again["path"])
    assert "in the thread" not in main("session", "show", "main").out
    anew = main("session", "open", row["key"], "--new", "--json").json()
    assert anew["path"].endswith(f"{anew['sessionId']}-topic-1712.5%2F%E4%B8%BB.jsonl")
    assert "hello" not in main("session", "show", row["key"]).out


def test_a_topic_of_a_group_is_a_topic(main):
    row = main("session", "open", "telegram:group:-5", "--thread", "42", "--json").json()
    assert "agent:main:telegram:group:-5:topic:42" == row["key"]
    assert (
        row["path"] == main("session", "open", "telegram:group:-5", "--thread", "42", "--peek", "--json").json()["path"]
    )


def test_a_parent_that_is_too_large_is_not_forked(main):
    rows = json.loads((main.folder / "sessions.json").read_text())
    rows["agent:main:main"]["totalTokens"] = 100_001
    (main.folder / "sessions.json").write_text(json.dumps(rows))
    ran = main("session", "open", "side", "--parent", "main", "--json")
    assert (0, True) == (ran.status, row_of(main, "side")["forkedFromParent"])
    assert "too large to be forked" in ran.err
    assert "" == main("session", "show", "side", "--messages").out
    (main.state / "oc.json").write_text('{"session":{"parentForkMaxTokens":0}}')
    main("session", "open", "other", "--parent", "main")
    assert "hello" in main("session", "show", "other", "--messages").out


def test_parents_that_are_none(main):
    assert 66 == main("session", "open", "side", "--parent", "nope").status
    assert 2 == main("session", "open", "main", "--parent", "main").status
    assert 2 == main("session", "open", "main", "--thread", " ").status
    assert ["agent:main:main"] == main("session", "list", "--keys").out.split()


CALL = (
    '{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"a"}}],'
    '"stopReason":"toolUse"}\n'
)
USER = '{"role":"user","content":"go on"}\n'


def test_calls_that_wait_get_results_where_the_provider_demands_them(main):
    """Anthropic wants a result for every call; another provider does without."""
    main("session", "append", "main", stdin=CALL)
    main("session", "set", "main", "providerOverride=anthropic", "modelOverride=claude-x")
    ran = main("session", "append", "main", stdin=USER)
    assert 2 == len(ran.out.split())
    assert ran.err == "oc: add: missing-result of read\n"
    result, user = (line["message"] for line in main("session", "show", "main").jsonl()[-2:])
    assert ("toolResult", "c1", "read", True) == (
        result["role"],
        result["toolCallId"],
        result["toolName"],
        result["isError"],
    )
    assert "go on" == user["content"]
    main("session", "set", "main", "providerOverride=", "modelOverride=")
    main("session", "append", "main", stdin=CALL.replace("c1", "c2"))
    ran = main("session", "append", "main", stdin=USER)
    assert (0, "", 1) == (ran.status, ran.err, len(ran.out.split()))


def test_results_get_their_names_and_are_capped(main):
    main("session", "append", "main", stdin=CALL)
    text = "x" * 450_000 + " total: 7"
    result = {"role": "toolResult", "toolCallId": "c1", "content": [{"type": "text", "text": text}], "isError": False}
    ran = main("session", "append", "main", stdin=json.dumps(result))
    assert 0 == ran.status
    stored = main("session", "show", "main").jsonl()[-1]["message"]
    assert ("read", True) == (stored["toolName"], "total: 7" in stored["content"][0]["text"])
    assert len(stored["content"][0]["text"]) <= 400_000


def test_entries_keep_their_ids_and_calls_that_cannot_be_sent_are_left_out(main):
    bad = '{"type":"message","id":"e1","message":{"role":"assistant","content":[{"type":"toolCall","name":"read"}]}}\n'
    ran = main("session", "append", "main", stdin=bad + USER)
    assert (0, 1) == (ran.status, len(ran.out.split()))
    ran = main("session", "append", "main", stdin=bad)
    assert (1, "") == (ran.status, ran.out)
    assert "drop" in ran.err


def test_from_over_a_channel_by_a_tool(main):
    ran = main(
        "session", "append", "main", "--from", "side", "--channel", "slack", "--via", "sessions_send", stdin=USER
    )
    assert 0 == ran.status
    assert {
        "kind": "inter_session",
        "sourceSessionKey": "agent:main:side",
        "sourceChannel": "slack",
        "sourceTool": "sessions_send",
    } == main("session", "show", "main").jsonl()[-1]["message"]["provenance"]
    assert 2 == main("session", "append", "main", "--via", "x", stdin=USER).status


def test_a_hook_may_change_or_keep_out_what_is_appended(main):
    folder = main.state / "hooks"
    folder.mkdir()
    hook = folder / "before_message_write"
    hook.write_text(
        "#!/bin/sh\n"
        "if grep -q secret; then echo '{\"block\":true}'; exit; fi\n"
        'echo \'{"message":{"role":"user","content":"changed"}}\'\n'
    )
    hook.chmod(0o755)
    assert 0 == main("session", "append", "main", stdin=USER).status
    assert "changed" == main("session", "show", "main").jsonl()[-1]["message"]["content"]
    before = main("session", "show", "main").raw
    assert 1 == main("session", "append", "main", "--role", "user", "a secret").status
    assert before == main("session", "show", "main").raw


def test_a_key_says_what_it_is_of(oc):
    found = oc("session", "key", "telegram:group:-1:topic:4", "--json").json()
    assert {
        "key": "agent:main:telegram:group:-1:topic:4",
        "agent": "main",
        "class": "group",
        "chatType": "group",
        "channel": "telegram",
        "group": "-1:topic:4",
        "parentKey": "agent:main:telegram:group:-1",
        "threadId": "4",
        "subagentDepth": 0,
    } == found
    assert "class\tmain" in oc("session", "key", "main").out.splitlines()
    assert (2, 2) == (oc("session", "key").status, oc("session", "key", "main", "--channel", "slack").status)


@pytest.mark.parametrize(
    ("settings", "args", "key"),
    [
        ({}, ["--peer", "42"], "agent:main:main"),
        ({"dmScope": "per-channel-peer"}, ["--peer", "U42"], "agent:main:slack:direct:u42"),
        ({"dmScope": "per-account-channel-peer"}, ["--peer", "1", "--account", "B 1"], "agent:main:slack:b-1:direct:1"),
        ({"dmScope": "per-peer", "identityLinks": {"Ann": ["slack:42"]}}, ["--peer", "42"], "agent:main:direct:ann"),
        ({}, ["--peer", "C1", "--kind", "channel", "--thread", "1.2"], "agent:main:slack:channel:c1:thread:1.2"),
        ({"scope": "global"}, ["--peer", "42"], "global"),
    ],
)
def test_the_key_of_a_message_is_made_by_the_configuration(oc, settings, args, key):
    oc.state.mkdir()
    (oc.state / "openclaw.json").write_text(json.dumps({"session": settings}))
    ran = oc("session", "key", "--channel", "slack", *args)
    assert (0, key + "\n", "") == (ran.status, ran.out, ran.err)
    assert not (oc.state / "agents").exists()
