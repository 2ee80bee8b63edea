"""`oc session import`: from folders of Pi and Claude Code and from OpenClaw's database."""

import json

import pytest

from oc.base.jsonl import dump_line
from oc.session.transcript import read
from tests.session.claude_lines import SESSION, session
from tests.session.openclaw_database import Database, talk
from tests.support import testdata


def sessions(oc, agent="main"):
    return oc.state / "agents" / agent / "sessions"


def pi_file(folder, session_id, *texts):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"2026-03-16T09-00-00-000Z_{session_id}.jsonl"
    path.write_bytes(b"".join(map(dump_line, talk(session_id, *texts))))
    return path


def state_of(folder):
    return {p.relative_to(folder): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture
def claude(tmp_path):
    path = tmp_path / "projects" / "-srv-shop" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(session().text(), encoding="utf-8")
    return path


def test_a_file_of_pi_comes_in_byte_for_byte(oc, tmp_path):
    path = pi_file(tmp_path / "pi", "p-1", "部署", "done")
    ran = oc("session", "import", path)
    assert (0, f"imported\tp-1\t\t2\t0\t{path}\n", "") == (ran.status, ran.out, ran.err)
    target = sessions(oc) / "p-1.jsonl"
    assert path.read_bytes() == target.read_bytes()
    assert 0o600 == target.stat().st_mode & 0o777
    assert 0 == oc("session", "check", "p-1").status


def test_again_is_nothing_to_do_even_when_the_session_has_gone_on(oc, tmp_path):
    path = pi_file(tmp_path / "pi", "p-1", "hi")
    oc("session", "import", path)
    oc("session", "append", "p-1", "--role", "user", "more")
    before = state_of(oc.state)
    ran = oc("session", "import", path)
    assert (1, f"present\tp-1\t\t1\t0\t{path}\n") == (ran.status, ran.out)
    assert before == state_of(oc.state)


def test_another_transcript_of_that_name_is_not_touched(oc, tmp_path):
    oc("session", "import", pi_file(tmp_path / "one", "p-1", "hi"))
    before = state_of(oc.state)
    ran = oc("session", "import", pi_file(tmp_path / "two", "p-1", "other"))
    target = sessions(oc) / "p-1.jsonl"
    assert (65, "", f"oc: {target}: another transcript has this name; it was not touched\n") == (
        ran.status,
        ran.out,
        ran.err,
    )
    assert before == state_of(oc.state)


def test_a_key_is_given_the_session_and_never_taken_from_another(oc, tmp_path):
    first, second = pi_file(tmp_path / "pi", "p-1", "hi"), pi_file(tmp_path / "pi", "p-2", "ho")
    assert 0 == oc("session", "import", first, "--key", "main").status
    assert ["hi"] == [m["content"] for m in oc("session", "show", "main", "--messages").jsonl()]
    assert "true" == oc("session", "list").out.split()[-1]
    before = state_of(oc.state)
    ran = oc("session", "import", second, "--key", "main")
    assert (65, "") == (ran.status, ran.out)
    assert "the key agent:main:main has another session already, p-1" in ran.err
    assert before == state_of(oc.state)
    ran = oc("session", "import", first, "--key", "other")
    assert "the session is there already, under the key agent:main:main" in ran.err
    assert 0 == oc("session", "append", "main", "--role", "user", "goes on").status


def test_a_key_of_another_agent_and_one_key_for_many(oc, tmp_path):
    path = pi_file(tmp_path / "pi", "p-1", "hi")
    assert 0 == oc("session", "import", path, "--key", "agent:work:main").status
    assert (sessions(oc, "work") / "p-1.jsonl").exists()
    pi_file(tmp_path / "pi", "p-2", "ho")
    ran = oc("session", "import", tmp_path / "pi", "--key", "main")
    assert (2, "oc: --key is for a single session, and these are 2\n") == (ran.status, ran.err)


def test_a_dry_run_writes_nothing(oc, tmp_path, claude):
    pi_file(tmp_path / "pi", "p-1", "hi")
    ran = oc("session", "import", tmp_path / "pi", claude, "--dry-run", "--json", "-q")
    assert (0, "") == (ran.status, ran.err)
    assert [("imported", True), ("imported", True)] == [(r["action"], r["dryRun"]) for r in ran.json()["sessions"]]
    assert not oc.state.exists()


def test_claude_code_with_a_reason_for_everything(oc, claude, tmp_path):
    report = tmp_path / "report.jsonl"
    ran = oc("session", "import", claude, "--key", "shop", "--report", report, "--json")
    assert 0 == ran.status
    assert [
        f"oc: {claude}:2: dropped: a line of type 'file-history-snapshot', which is not part of the conversation",
        f"oc: {claude}:11: dropped: a line of type 'system' 'informational', which no model sees",
        f"oc: {claude}:14: dropped: a content block of type 'document', which a transcript has no form for",
    ] == ran.err.splitlines()
    (row,) = ran.json()["sessions"]
    assert (SESSION, "claude", 3) == (row["sessionId"], row["format"], row["dropped"])
    assert 2 == row["roles"]["toolResult"]
    rules = [json.loads(line) for line in report.read_text().splitlines()]
    assert [2, 11, 14, None] == [rule.get("line") for rule in rules]
    assert ("import", "imported", 3) == (rules[-1]["stage"], rules[-1]["action"], rules[-1]["dropped"])
    checked = oc("session", "check", "shop")
    assert [] == [line for line in checked.out.splitlines() if "\terror\t" in line]
    shown = oc("session", "show", "shop", "--messages").jsonl()
    assert ["compactionSummary", "assistant"] == [message["role"] for message in shown]


def test_files_of_subagents_are_sidechains_of_their_session(oc, claude, tmp_path):
    part = claude.with_suffix("") / "subagents" / "agent-1.jsonl"
    part.parent.mkdir(parents=True)
    line = {"type": "user", "uuid": "z1", "parentUuid": None, "message": {"role": "user", "content": "sub"}}
    part.write_bytes(dump_line({**line, "sessionId": SESSION}))
    ran = oc("session", "import", tmp_path / "projects")
    assert (0, 1) == (ran.status, len(ran.out.splitlines()))
    assert f"{part}: taken in as a sidechain" in ran.err
    entries = read(str(sessions(oc) / f"{SESSION}.jsonl")).entries
    assert ["s1", "z1"] == entries[-1]["data"]["sidechains"]


@pytest.fixture
def database(tmp_path):
    made = Database(tmp_path / "claw" / "agents" / "main" / "agent" / "openclaw-agent.sqlite")
    made.key("agent:main:main", "s-main", totalTokens=1234)
    made.key("agent:work:x", "s-work", label="ops")
    made.transcript("s-main", talk("s-main", "a", "b"), key="agent:main:main")
    made.transcript("s-work", talk("s-work", "c"), key="agent:work:x")
    made.transcript("s-old", talk("s-old", "d"), key="agent:main:main")
    made.close()
    return made.path


def test_openclaws_database_comes_in_with_keys_and_former_sessions(oc, database, tmp_path):
    before = state_of(tmp_path / "claw")
    ran = oc("session", "import", database)
    assert (0, "") == (ran.status, ran.err)
    assert [
        ["imported", "s-main", "agent:main:main", "2", "0", f"{database}#s-main"],
        ["imported", "s-old", "", "1", "0", f"{database}#s-old"],
        ["imported", "s-work", "agent:work:x", "1", "0", f"{database}#s-work"],
    ] == [line.split("\t") for line in ran.out.splitlines()]
    assert b"".join(map(dump_line, talk("s-main", "a", "b"))) == (sessions(oc) / "s-main.jsonl").read_bytes()
    row = json.loads((sessions(oc) / "sessions.json").read_text())["agent:main:main"]
    assert ("s-main", 1234, str(sessions(oc) / "s-main.jsonl")) == (
        row["sessionId"],
        row["totalTokens"],
        row["sessionFile"],
    )
    assert ["c"] == [m["content"] for m in oc("session", "show", "agent:work:x", "--messages").jsonl()]
    assert before == state_of(tmp_path / "claw")
    assert 1 == oc("session", "import", tmp_path / "claw").status
    assert 0 == oc("session", "append", "main", "--role", "user", "mine now").status
    assert 0 == oc("session", "import", f"{database}#s-old", "--key", "old").status


def test_into_the_home_of_the_database_itself_is_refused(oc, database, tmp_path):
    ran = oc("--home", tmp_path / "claw", "session", "import", database)
    assert (69, "") == (ran.status, ran.out)
    assert f"hint: `oc --home DIR session import {database}`" in ran.err


def test_a_bad_file_among_good_ones(oc, tmp_path):
    pi_file(tmp_path / "pi", "p-1", "hi")
    bad = tmp_path / "pi" / "notes.jsonl"
    bad.write_text('{"a":1}\n')
    ran = oc("session", "import", tmp_path / "pi")
    assert 65 == ran.status
    assert f"oc: {bad}: neither a transcript nor a session of Claude Code\n" == ran.err
    assert ["imported", "refused"] == [line.split("\t")[0] for line in ran.out.splitlines()]
    ran = oc("session", "import", bad)
    assert (65, "") == (ran.status, ran.out)


def test_nothing_there(oc, tmp_path):
    assert 66 == oc("session", "import", tmp_path / "none.jsonl").status
    (tmp_path / "empty").mkdir()
    ran = oc("session", "import", tmp_path / "empty")
    assert (66, f"oc: {tmp_path}/empty: no session in it\n") == (ran.status, ran.err)
    assert 2 == oc("session", "import").status


def test_an_id_that_cannot_name_a_file_gets_a_new_one(oc, tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"".join(map(dump_line, talk("../主", "hi"))))
    ran = oc("session", "import", path, "--json")
    (row,) = ran.json()["sessions"]
    assert row["path"] == str(sessions(oc) / f"{row['sessionId']}.jsonl")
    assert row["sessionId"] == read(row["path"]).header["id"]


def test_the_real_transcripts(oc):
    ran = oc("session", "import", testdata("transcripts"), "--json", "-q")
    assert 0 == ran.status
    assert [("d703a1a9-1b7b-4fb1-b512-c9738b1fe617", 1018), ("sess_demo", 6)] == [
        (row["sessionId"], row["entries"]) for row in ran.json()["sessions"]
    ]
    for row in ran.json()["sessions"]:
        assert "\terror\t" not in oc("session", "check", row["path"]).out
