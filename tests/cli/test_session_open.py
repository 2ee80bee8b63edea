import json
from pathlib import Path

from tests.support import Oc


def test_open_makes_a_session_once(oc):
    first = oc("session", "open", "main", "--json")
    assert (0, "") == (first.status, first.err)
    row = first.json()
    assert ("agent:main:main", True, True, []) == (row["key"], row["isNew"], row["isFresh"], row["archived"])
    again = oc("session", "open", "--json").json()
    assert (row["path"], False) == (again["path"], again["isNew"])
    assert ["agent:main:main", row["sessionId"], row["path"], "false", "true"] == oc("session", "open").out.split()
    header = json.loads(Path(row["path"]).read_text())
    assert (row["sessionId"], 3, str(oc.workspace)) == (header["id"], header["version"], header["cwd"])


def test_the_next_day_a_new_session_takes_the_key(oc):
    old = oc("session", "open", "main", "--json").json()
    oc("session", "append", "main", "--role", "user", "x")
    new = Oc(oc.home, OC_NOW="2026-03-17T09:00:00Z")("session", "open", "main", "--json").json()
    assert (True, old["sessionId"]) == (new["isNew"], new["previousSessionId"])
    (archive,) = new["archived"]
    assert f"{old['path']}.reset.2026-03-17T09-00-00.000Z" == archive
    ran = oc("session", "show", archive, "--messages")
    assert ["user"] == [m["role"] for m in ran.jsonl()]


def test_reset_and_new_archive(oc):
    oc("session", "open", "main")
    reset = oc("session", "reset", "main", "--no-note", "--json").json()
    assert (True, 1) == (reset["isNew"], len(reset["archived"]))
    new = oc("session", "open", "main", "--new", "--json").json()
    assert (True, reset["sessionId"]) == (new["isNew"], new["previousSessionId"])


def test_an_agents_key_is_that_agents(oc):
    row = oc("session", "open", "agent:Ops:main", "--json").json()
    assert "/agents/ops/sessions/" in row["path"]
    assert row["path"] == oc("session", "path", "--agent", "ops", "main").out.strip()
    assert row["path"] == oc("session", "path", "agent:ops:main").out.strip()
    assert 66 == oc("session", "path", "main").status


def test_usage(oc):
    assert 2 == oc("session", "open", "--new", "--peek").status
    for text in ("-", "x.jsonl"):
        ran = oc("session", "open", text)
        assert (2, f"oc: a session key is expected, not {text!r}\n") == (ran.status, ran.err)
    assert 2 == oc("session", "reset", "x.jsonl").status
    assert not oc.state.exists()


def test_a_transcript_without_a_key_is_not_opened_by_looking(oc):
    oc("session", "open", "main")
    (oc.state / "agents/main/sessions/alone.jsonl").write_text("{}")
    ran = oc("session", "open", "--peek", "alone")
    assert 66 == ran.status
    assert "belongs to no session key" in ran.err


def test_a_broken_store_is_65_for_all_and_left_alone(oc):
    oc("session", "open", "main")
    store = oc.state / "agents/main/sessions/sessions.json"
    for text in ("", '{"a":', "[]"):
        store.write_text(text)
        for command in (["open"], ["list"], ["show"], ["append", "main", "--role", "user", "x"], ["reset"]):
            ran = oc("session", *command)
            assert (65, "") == (ran.status, ran.out), command
            assert ran.err.startswith(f"oc: {store}: the session store is "), command
        assert text == store.read_text()


def test_a_folder_that_cannot_be_written_is_74(oc):
    """The sessions folder is a file here: permissions do not stop root, who runs these tests at times."""
    (oc.state / "agents" / "main").mkdir(parents=True)
    (oc.state / "agents" / "main" / "sessions").write_text("")
    ran = oc("session", "open", "main")
    assert (74, "") == (ran.status, ran.out)
    assert 1 == ran.err.count("\n")
    assert "" == (oc.state / "agents" / "main" / "sessions").read_text()
