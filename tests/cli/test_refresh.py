"""`oc refresh`, and the refresh that every compaction of a session by key leaves behind."""

import json

import pytest

from tests.warm import Warm, server

KEY = "agent:main:main"


@pytest.fixture(scope="module")
def forks():
    with server() as made:
        yield made


@pytest.fixture
def oc(tmp_path, forks):
    return Warm(tmp_path, forks)


def talk(oc, turns=6):
    oc("session", "open", "main")
    for n in range(turns):
        oc(
            "session",
            "append",
            "main",
            "--role",
            "user",
            f"Turn {n}: db-{n}.internal:5432 is the new host. " + "word " * 200,
        )
        oc("session", "append", "main", "--role", "assistant", f"Answer {n}.")


def events(oc):
    path = oc.state / "agents" / "main" / "sessions" / "oc-events.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def context(oc):
    return oc("session", "show", "main", "--messages").jsonl()


@pytest.mark.parametrize(
    ("language", "rule"),
    [
        ("en", "If neither the notes nor a tool says it, say that you do not know."),
        ("zh", "笔记和工具都没有给出答案时，就说不知道。"),
    ],
)
def test_both_sections_are_told_in_both_languages(oc, language, rule):
    oc("workspace", "init", "--lang", language)
    talk(oc)
    assert 0 == oc("compact", "--keep-recent-tokens", "300").status
    queued = events(oc)
    assert ["refresh"] == [event["kind"] for event in queued]
    ran = oc("refresh")
    assert (0, "") == (ran.status, ran.err)
    for part in (
        "## Session Startup",
        "## Red Lines",
        rule,
        "memory/2026-03-16.md",
        "Current time: Monday, March 16th",
    ):
        assert part in ran.out
    assert "YYYY-MM-DD" not in ran.out
    assert "oc:keep" not in ran.out
    assert [ran.out] == [event["text"] + "\n" for event in events(oc)]


def test_the_next_turn_hears_it_once_and_the_context_shows_it(oc):
    oc("workspace", "init")
    talk(oc)
    oc("compact", "--keep-recent-tokens", "300")
    shown = oc("context", "-s", "main", "hello", "--json")
    assert 0 == shown.status
    assert "Post-compaction context refresh" in shown.out
    assert 1 == len(events(oc))
    assert 0 == oc("prompt", "hello").status
    assert [] == events(oc)
    assert 1 == json.dumps(context(oc)).count("Post-compaction context refresh")
    oc("prompt", "hello again")
    assert 1 == json.dumps(context(oc)).count("Post-compaction context refresh")


def test_a_dry_run_queues_nothing(oc):
    oc("workspace", "init")
    oc("session", "open", "main")
    ran = oc("refresh", "--dry-run", "--json")
    assert (0, None, True, KEY) == (ran.status, *(ran.json()[name] for name in ("eventId", "dryRun", "session")))
    assert "## Red Lines" in ran.json()["text"]
    assert [] == events(oc)
    queued = oc("refresh", "--json").json()
    assert [queued["eventId"]] == [event["id"] for event in events(oc)]


@pytest.mark.parametrize("sections", [None, [], ["Elsewhere"]], ids=["no-file", "off", "other"])
def test_nothing_to_tell_is_1(oc, sections):
    oc.state.mkdir()
    if sections is not None:
        oc("workspace", "init")
        tree = {"agents": {"defaults": {"compaction": {"postCompactionSections": sections}}}}
        (oc.state / "oc.json").write_text(json.dumps(tree))
    talk(oc)
    ran = oc("refresh")
    assert (1, "") == (ran.status, ran.out)
    assert "nothing to tell" in ran.err
    assert 0 == oc("compact", "--keep-recent-tokens", "300").status
    assert [] == events(oc)


def test_what_has_no_key_is_told_nothing(oc, tmp_path):
    oc("workspace", "init")
    talk(oc)
    (path,) = (oc.state / "agents" / "main" / "sessions").glob("*.jsonl")
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(path.read_bytes())
    assert 2 == oc("refresh", copy).status
    assert 2 == oc("refresh", "-").status
    assert 66 == oc("refresh", "nobody").status
    assert 0 == oc("compact", "--keep-recent-tokens", "300", copy).status
    assert [] == events(oc)
    assert not (oc.workspace / "memory").exists()


def test_a_compaction_by_key_is_preceded_by_a_flush_unless_told_otherwise(oc, tmp_path):
    talk(oc)
    report = tmp_path / "why.jsonl"
    assert 0 == oc("compact", "--keep-recent-tokens", "300", "--dry-run").status
    assert not (oc.workspace / "memory").exists()
    assert 0 == oc("compact", "--keep-recent-tokens", "300", "--report", report).status
    noted = (oc.workspace / "memory" / "2026-03-16.md").read_text()
    assert all(f"db-{n}.internal:5432" in noted for n in range(6))
    row = json.loads((oc.state / "agents" / "main" / "sessions" / "sessions.json").read_text())[KEY]
    assert (0, 1) == (row["memoryFlushCompactionCount"], row["compactionCount"])
    stages = [json.loads(line)["stage"] for line in report.read_text().splitlines()]
    assert stages == sorted(stages, key=["flush", "compact"].index)
    oc("session", "append", "main", "--role", "user", "later.internal:1 is new. " + "word " * 900)
    assert 0 == oc("compact", "--keep-recent-tokens", "0", "--no-flush", "--force").status
    assert noted == (oc.workspace / "memory" / "2026-03-16.md").read_text()
    oc("session", "append", "main", "--role", "user", "last.internal:2 is new.")
    assert 0 == oc("flush").status
    after = (oc.workspace / "memory" / "2026-03-16.md").read_text()
    # What that compaction folded unflushed is read by the next flush.
    assert "later.internal:1" in after
    assert "last.internal:2" in after


def test_sessions_that_are_due_are_listed(oc):
    oc.state.mkdir()
    small = {
        "contextTokens": 3000,
        "compaction": {"reserveTokensFloor": 500, "memoryFlush": {"softThresholdTokens": 500}},
    }
    (oc.state / "oc.json").write_text(json.dumps({"agents": {"defaults": small}}))
    for key, count in (("large", 1), ("small", 0)):
        oc("session", "open", key)
        usage = {"input": 2500 * count, "output": 1}
        said = {"role": "assistant", "content": [{"type": "text", "text": "x"}], "usage": usage}
        oc("session", "append", key, stdin=json.dumps(said) + "\n")
    oc("session", "open", "counted")
    oc("session", "append", "counted", "--role", "user", "字" * 2500)
    ran = oc("session", "list", "--due", "flush", "--keys")
    assert (0, ["agent:main:counted", "agent:main:large"]) == (ran.status, sorted(ran.out.split()))
    assert [0, 0] == [oc("flush", key, "--if-due").status for key in ("large", "counted")]
    assert 1 == oc("session", "list", "--due", "flush").status
