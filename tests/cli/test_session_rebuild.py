"""rebuild: a lost or broken sessions.json from its pieces, its copies and the transcripts (D5)."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.session.rebuild import salvaged_rows
from tests.support import NOW_MS

MAIN = "agent:main:main"


@pytest.fixture
def sessions(oc):
    path = oc.state / "agents" / "main" / "sessions"
    path.mkdir(parents=True)
    return path


def put(sessions, name, session_id=None, *messages):
    header = {"type": "session", "version": 3, "id": session_id or name.removesuffix(".jsonl"), "cwd": "/"}
    lines = [header, *({"type": "message", "id": f"e{n}", "message": m} for n, m in enumerate(messages))]
    (sessions / name).write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    os.utime(sessions / name, (1, 1))


def rows(sessions):
    return json.loads((sessions / "sessions.json").read_text())


def actions(ran):
    return [tuple(line.split("\t")[:4]) for line in ran.out.splitlines()]


def test_a_lost_store(oc, sessions):
    said = {"role": "assistant", "provider": "p", "model": "m", "timestamp": NOW_MS - 5}
    put(sessions, "s1.jsonl", None, {"role": "user", "timestamp": 100})
    put(sessions, "s2.jsonl", None, said, {"role": "user", "timestamp": NOW_MS - 1})
    put(sessions, "s3-topic-7.jsonl", "s3")
    put(sessions, "s0.jsonl.reset.2026-03-01T00-00-00.000Z", "s0")
    (sessions / "junk.jsonl").write_text("junk\n")
    (sessions / "oc-events.jsonl").write_text("{}\n")
    expected = [
        ("add", MAIN, "s2", "s2.jsonl"),
        ("add", "agent:main:recovered:s3", "s3", "s3-topic-7.jsonl"),
        ("add", "agent:main:recovered:s1", "s1", "s1.jsonl"),
        ("leave", "", "s0", "s0.jsonl.reset.2026-03-01T00-00-00.000Z"),
    ]
    ran = oc("session", "rebuild")
    assert (0, expected, "nothing was changed; --write does it\n") == (ran.status, actions(ran), ran.err)
    assert not (sessions / "sessions.json").exists()
    ran = oc("session", "rebuild", "--write", "--json")
    assert (0, None, True) == (ran.status, ran.json()["backup"], ran.json()["written"])
    told = {"modelProvider": "p", "model": "m", "compactionCount": 0}
    topic = {"sessionFile": "s3-topic-7.jsonl", "compactionCount": 0}
    assert {
        MAIN: {"sessionId": "s2", "updatedAt": NOW_MS - 1, **told},
        "agent:main:recovered:s3": {"sessionId": "s3", "updatedAt": 1000, **topic},
        "agent:main:recovered:s1": {"sessionId": "s1", "updatedAt": 100, "compactionCount": 0},
    } == rows(sessions)
    assert 0o600 == (sessions / "sessions.json").stat().st_mode & 0o777
    assert f"{sessions}/s2.jsonl\n" == oc("session", "path", "main").out
    assert 1 == oc("session", "rebuild", "--write").status


def test_a_broken_store_keeps_its_whole_rows(oc, sessions):
    store = {
        MAIN: {"sessionId": "s1", "updatedAt": 5, "label": "数", "origin": {"sessionId": "inner"}},
        "agent:main:x": {"sessionId": "s2", "updatedAt": 6},
        "agent:main:y": {"sessionId": "s3", "updatedAt": 7},
    }
    for name in ("s1", "s2", "s3"):
        put(sessions, f"{name}.jsonl")
    broken = json.dumps(store, indent=2, ensure_ascii=False)[:-40]
    (sessions / "sessions.json").write_text(broken)
    assert 65 == oc("session", "list").status
    ran = oc("session", "rebuild", "--write")
    assert [
        ("replace", "", "", "sessions.json"),
        ("salvage", MAIN, "s1", "s1.jsonl"),
        ("salvage", "agent:main:x", "s2", "s2.jsonl"),
        ("add", "agent:main:recovered:s3", "s3", "s3.jsonl"),
    ] == actions(ran)
    assert {key: store[key] for key in (MAIN, "agent:main:x")}.items() <= rows(sessions).items()
    backup = sessions / f"sessions.json.bak.{NOW_MS}"
    assert (broken, f"the bytes from before: {backup}\n") == (backup.read_text(), ran.err)
    assert (0, 1) == (oc("session", "list").status, oc("session", "rebuild").status)


def test_copies_give_back_what_the_store_has_lost(oc, sessions):
    put(sessions, "s1.jsonl")
    put(sessions, "s2.jsonl")
    new = {"agent:main:a": {"sessionId": "s1", "updatedAt": 9}, "agent:main:gone": {"sessionId": "archived"}}
    old = {"agent:main:a": {"sessionId": "s0", "updatedAt": 1}, "agent:main:b": {"sessionId": "s2"}, "x": 7}
    (sessions / "sessions.json.bak.2").write_text(json.dumps(new))
    (sessions / "sessions.json.bak.1").write_text(json.dumps(old))
    (sessions / "sessions.json.bak.3").write_text("[]")
    (sessions / "sessions.json").write_text("")
    ran = oc("session", "rebuild", "--write")
    assert ("replace", "", "", "sessions.json") == actions(ran)[0]
    assert {"agent:main:a": new["agent:main:a"], "agent:main:b": {"sessionId": "s2"}} == rows(sessions)


def test_a_readable_store_keeps_every_row(oc, sessions):
    store = {"agent:main:MAIN": {"sessionId": "lost", "provider": "x"}, "odd": None}
    (sessions / "sessions.json").write_text(json.dumps(store))
    assert 1 == oc("session", "rebuild", "--write").status
    assert store == rows(sessions)
    put(sessions, "s1.jsonl")
    assert 0 == oc("session", "rebuild", "--write").status
    assert {"agent:main:MAIN", "odd", "agent:main:recovered:s1"} == set(rows(sessions))


def test_nothing_to_rebuild_from(oc, sessions):
    ran = oc("session", "rebuild", "--write")
    assert (1, "", "") == (ran.status, ran.out, ran.err)
    assert [] == list(sessions.iterdir())
    for text in ("", "[]", "null", "\0\0"):
        (sessions / "sessions.json").write_text(text)
        assert 0 == oc("session", "rebuild", "--write").status
        assert {} == rows(sessions)


def test_a_lock_that_is_held_is_75(oc, sessions):
    put(sessions, "s1.jsonl")
    (sessions / "sessions.json.lock").write_text(json.dumps({"pid": 1, "createdAt": "2026-03-16T09:00:00.000Z"}))
    assert 75 == oc("session", "rebuild", "--write", "--lock-timeout", "0").status
    assert 0 == oc("session", "rebuild").status


ROWS = st.dictionaries(
    st.from_regex(r"agent:[a-z\"\\{}数]{1,5}:[a-z]{1,3}", fullmatch=True),
    st.fixed_dictionaries({"sessionId": st.from_regex(r"[a-z0-9]{1,4}", fullmatch=True), "label": st.text(max_size=5)}),
    max_size=4,
)


@given(ROWS, st.data())
def test_a_store_cut_anywhere_keeps_the_rows_before_the_cut(store, data):
    text = json.dumps(store, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass")
    cut = data.draw(st.integers(0, len(text)))
    found = salvaged_rows(text[:cut])
    assert list(store.items())[: len(found)] == list(found.items())
    assert text[:cut].count(b"\n  }") == len(found)


@given(st.binary(max_size=60))
def test_any_bytes_hold_rows_or_none(raw):
    assert isinstance(salvaged_rows(raw), dict)
