"""usage: every response once, by session, model and day; exports that outlive their transcripts."""

import json

import pytest

from tests.support import NOW_MS

DAY_MS = 86_400_000


def answer(entry_id, tokens, *, day=0, model="m1", cost=None, **more):
    usage = {"input": tokens, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": tokens + 1}
    if cost is not None:
        usage["cost"] = {"input": cost, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": cost}
    message = {"role": "assistant", "content": [], "provider": "p", "model": model, "usage": usage}
    message |= {"timestamp": NOW_MS - day * DAY_MS, **more}
    return {
        "type": "message",
        "id": entry_id,
        "parentId": None,
        "timestamp": "2026-03-16T09:00:00.000Z",
        "message": message,
    }


def text(session_id, *entries, began="2026-03-01T00:00:00.000Z"):
    header = {"type": "session", "version": 3, "id": session_id, "timestamp": began, "cwd": "/"}
    return "".join(json.dumps(value, separators=(",", ":")) + "\n" for value in (header, *entries))


@pytest.fixture
def folder(oc):
    path = oc.state / "agents" / "main" / "sessions"
    path.mkdir(parents=True)
    (path / "sessions.json").write_text(json.dumps({"agent:main:main": {"sessionId": "s1", "updatedAt": NOW_MS}}))
    return path


def table(ran):
    head, *rows = [line.split("\t") for line in ran.out.splitlines()]
    return [dict(zip(head, row, strict=True)) for row in rows]


def counts(read, written):
    return {"input": read, "output": written, "cacheRead": 0, "cacheWrite": 0, "totalTokens": read + written}


def test_by_session_model_and_day(oc, folder):
    (folder / "s1.jsonl").write_text(text("s1", answer("a", 10, cost=0.5), answer("b", 20, day=1, model="m2")))
    (folder / "s2.jsonl.reset.2026-03-15T00-00-00.000Z").write_text(text("s2", answer("c", 30, day=1, cost=0.25)))
    ran = oc("session", "usage", "--json")
    assert 0 == ran.status
    document = ran.json()
    assert [
        {"sessionId": "s1", "key": "agent:main:main", "calls": 2, **counts(30, 2), "cost": 0.5},
        {"sessionId": "s2", "key": None, "calls": 1, **counts(30, 1), "cost": 0.25},
    ] == document["usage"]
    assert {"calls": 3, **counts(60, 3), "cost": 0.75} == document["total"]
    by_model = table(oc("session", "usage", "--by", "model", "--tsv"))
    assert [("p/m1", "2", "40", "0.750"), ("p/m2", "1", "20", "")] == [
        (row["model"], row["calls"], row["input"], row["cost"]) for row in by_model
    ]
    by_day = oc("session", "usage", "--by", "day", "--jsonl").jsonl()
    assert [("2026-03-15", 2), ("2026-03-16", 1)] == [(row["day"], row["calls"]) for row in by_day]
    in_tokyo = oc("session", "usage", "--by", "day", "--jsonl", "--tz", "Pacific/Auckland").jsonl()
    assert ["2026-03-15", "2026-03-16"] == [row["day"] for row in in_tokyo]
    assert "s1\tagent:main:main\t2\t30\t2\t0\t0\t32\t0.500\n" in oc("session", "usage").out


def test_a_response_is_counted_once_and_the_last_line_counts(oc, folder):
    grown = [answer("a", 10, responseId="r1"), answer("b", 20, responseId="r1"), answer("c", 25, responseId="r1")]
    (folder / "s1.jsonl").write_text(text("s1", *grown, answer("d", 5)))
    # A fork keeps the ids of entries, a resumed session those of responses only.
    (folder / "a-fork.jsonl").write_text(text("a-fork", *grown, answer("d", 5), answer("e", 7), began="2026-03-02"))
    (folder / "b-resumed.jsonl").write_text(text("b", answer("x", 25, responseId="r1"), began="2026-03-03"))
    rows = oc("session", "usage", "--jsonl").jsonl()
    assert [("a-fork", 1, 7), ("s1", 2, 30)] == [(row["sessionId"], row["calls"], row["input"]) for row in rows]
    assert [25] == [row["input"] for row in oc("session", "usage", "b-resumed", "--jsonl").jsonl()]


def test_what_tells_nothing_is_no_call(oc, folder):
    lines = [
        answer("a", 0) | {"message": {"role": "assistant", "usage": {"input": 0, "output": 0, "totalTokens": 0}}},
        {"type": "message", "id": "b", "message": {"role": "user", "usage": {"input": 5}}},
        {"type": "message", "id": "c", "message": {"role": "assistant", "usage": "lots"}},
        {"type": "message", "id": "d", "message": "usage"},
        {"type": "custom", "id": "e", "usage": {"input": 3}},
    ]
    (folder / "s1.jsonl").write_text(text("s1", *lines) + '"usage"\n{"usage"\n[{"usage":1}]\n')
    ran = oc("session", "usage")
    assert (1, "", "") == (ran.status, ran.out, ran.err)
    assert 0 == oc("session", "usage", "--json").json()["total"]["calls"]
    assert 1 == oc("session", "usage", "--last").status


def test_names_that_other_writers_use(oc, folder):
    usage = {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": 5}
    odd = answer("a", 1) | {"message": {"role": "assistant", "usage": usage}}
    (folder / "s1.jsonl").write_text(text("s1", odd))
    (row,) = oc("session", "usage", "--by", "response", "--jsonl").jsonl()
    assert (3, 4, 5, 12, None, "unknown") == tuple(
        row[name] for name in ("input", "output", "cacheRead", "totalTokens", "cost", "model")
    )
    assert "2026-03-16T09:00:00.000Z" == row["timestamp"]


def test_since_and_until(oc, folder):
    (folder / "s1.jsonl").write_text(text("s1", *(answer(f"e{day}", 10**day, day=day) for day in range(5))))

    def total(*args, **environ):
        return oc("session", "usage", "--json", *args, **environ).json()["total"]["input"]

    assert 11111 == total()
    assert 11 == total("--since", "2026-03-15")
    assert 11100 == total("--until", "2026-03-15")
    assert 100 == total("--since", "2026-03-14T09:00:00Z", "--until", "2026-03-15T09:00:00Z")
    assert 11 == total("--since", "1d")
    # A date is midnight where the user is: 2026-03-15 begins on the 14th, 11:00 UTC, in Auckland.
    assert 11 == total("--since", "2026-03-15", "--tz", "Pacific/Auckland")
    assert 111 == total("--since", "2026-03-14T21:59:00+13:00")
    assert (2, "oc: not a time: 'soon'") == (
        oc("session", "usage", "--since", "soon").status,
        oc("session", "usage", "--since", "soon").err.splitlines()[0],
    )


def test_an_export_outlives_its_transcripts(oc, folder):
    path = folder / "s1.jsonl"
    path.write_text(text("s1", answer("a", 10, cost=0.5), answer("b", 20)))
    before = oc("session", "usage", "--json").json()
    export = oc.home / "usage.jsonl"
    export.write_bytes(oc("session", "usage", "--by", "response", "--jsonl").raw)
    assert before == oc("session", "usage", "--json", "--add", export).json()
    path.unlink()
    assert before == oc("session", "usage", "--json", "--add", export, "--add", export).json()
    export.write_text(export.read_text() + '{"id":"x"}\n')
    ran = oc("session", "usage", "--add", export)
    assert (65, f"oc: {export}:3: not a row of `oc session usage --by response --jsonl`\n") == (ran.status, ran.err)
    assert 66 == oc("session", "usage", "--add", "nowhere").status


def test_the_last_response_is_read_from_the_end(oc, folder):
    whole = text("s1", answer("a", 10), answer("b", 20), {"type": "label", "id": "c", "label": "usage"})
    (folder / "s1.jsonl").write_text("not a transcript\n" + whole)
    assert [("b@2026-03-16T09:00:00.000Z", 20)] == [
        (row["id"], row["input"]) for row in oc("session", "usage", "main", "--last", "--jsonl").jsonl()
    ]
    for args in (["a.jsonl", "b.jsonl", "--last"], ["--last", "--since", "1d"], ["--by", "week"]):
        assert 2 == oc("session", "usage", *args).status
    assert 66 == oc("session", "usage", "nobody").status
    assert 66 == oc("session", "usage", "gone.jsonl").status


def test_an_empty_home(oc):
    ran = oc("session", "usage")
    assert (1, "", "") == (ran.status, ran.out, ran.err)
    assert not oc.state.exists()
