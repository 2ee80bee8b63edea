"""gc: a plan with bytes, done with --write; what it protects, what it leaves alone, how it fails."""

import json
import os

import pytest

from tests.support import NOW_MS

DAY_MS = 86_400_000
OLD_MS = NOW_MS - 40 * DAY_MS


def stamp(days):
    from oc.session.archive import stamp as of

    return of(NOW_MS - days * DAY_MS)


@pytest.fixture
def sessions(oc):
    path = oc.state / "agents" / "main" / "sessions"
    path.mkdir(parents=True)
    return path


def put(sessions, name, *, days=0, text=None):
    path = sessions / name
    path.write_text(text if text is not None else f'{{"type":"session","version":3,"id":"{name[:2]}"}}\n')
    when = (NOW_MS - days * DAY_MS) / 1000
    os.utime(path, (when, when))
    return path


def rows(sessions, **ids):
    """Writes a store of session id -> (key, days since its last use)."""
    store = {
        key: {"sessionId": name, "updatedAt": NOW_MS - days * DAY_MS, "x": [1]} for name, (key, days) in ids.items()
    }
    (sessions / "sessions.json").write_text(json.dumps(store))


def steps(ran):
    return [tuple(line.split("\t")[i] for i in (0, 1, 3)) for line in ran.out.splitlines()]


def names(sessions):
    return sorted(path.name for path in sessions.iterdir())


@pytest.fixture
def full(sessions):
    rows(
        sessions,
        s1=("agent:main:main", 90),
        s2=("agent:main:telegram:direct:1", 90),
        s3=("agent:main:telegram:direct:2", 3),
        s4=("agent:main:cron:job:run:7", 2),
    )
    for name in ("s1", "s2", "s3", "s4"):
        put(sessions, f"{name}.jsonl", days=2)
    put(sessions, "s3-topic-5.jsonl", days=90)
    put(sessions, "o1.jsonl", days=60)
    put(sessions, "o2.jsonl", days=3)
    put(sessions, "h1.jsonl", days=60)
    put(sessions, "f1.jsonl", text='{"type":"session","id":"f1","parentSession":"/elsewhere/h1.jsonl"}\n')
    put(sessions, f"a.jsonl.reset.{stamp(31)}")
    put(sessions, f"b.jsonl.reset.{stamp(29)}")
    put(sessions, f"c.jsonl.deleted.{stamp(31)}")
    put(sessions, "s3.jsonl.lock", text='{"pid":999999999,"createdAt":"2026-03-16T08:59:59.000Z"}')
    put(sessions, "s3.jsonl.999999999-0a1b2c3d.tmp", text="half")
    put(sessions, "notes.txt", days=900, text="mine")
    put(sessions, "oc-events.jsonl", days=900, text="{}\n")
    put(sessions, "s3.jsonl.bak-1-2", days=900)
    return sessions


DONE = [
    ("remove", "row", "agent:main:telegram:direct:1"),
    ("remove", "cron run", "agent:main:cron:job:run:7"),
    ("keep", "row", "agent:main:main"),
    ("archive", "transcript", "s2.jsonl"),
    ("archive", "transcript", "s4.jsonl"),
    ("delete", "archive", f"c.jsonl.deleted.{stamp(31)}"),
    ("delete", "archive", f"a.jsonl.reset.{stamp(31)}"),
    ("archive", "orphan", "o1.jsonl"),
    ("delete", "temporary", "s3.jsonl.999999999-0a1b2c3d.tmp"),
    ("delete", "lock", "s3.jsonl.lock"),
]


def test_the_plan_names_bytes_and_changes_nothing(oc, full):
    before = {path.name: path.read_bytes() for path in full.iterdir()}
    ran = oc("session", "gc")
    assert (0, sorted(DONE)) == (ran.status, sorted(steps(ran)))
    freed = sum(len(before[name]) for action, _, name in DONE if action == "delete")
    total = sum(map(len, before.values()))
    assert f"would free {freed} of {total} bytes; nothing was changed, --write does it\n" == ran.err
    assert before == {path.name: path.read_bytes() for path in full.iterdir()}
    document = oc("session", "gc", "--json").json()
    assert (total, freed, False) == tuple(document[name] for name in ("totalBytes", "freedBytes", "written"))
    assert {False} == {step["done"] for step in document["steps"]}


def test_write_does_what_the_plan_says(oc, full):
    before = names(full)
    text = (full / "s2.jsonl").read_bytes()
    ran = oc("session", "gc", "--write")
    assert (0, sorted(DONE)) == (ran.status, sorted(steps(ran)))
    away = {name: f"{name}.deleted.{stamp(0)}" for name in ("s2.jsonl", "s4.jsonl", "o1.jsonl")}
    gone = {name for action, _, name in DONE if action == "delete"}
    assert sorted((set(before) - gone - set(away)) | set(away.values())) == names(full)
    assert text == (full / away["s2.jsonl"]).read_bytes()
    store = json.loads((full / "sessions.json").read_text())
    assert ["agent:main:main", "agent:main:telegram:direct:2"] == list(store)
    assert [1] == store["agent:main:main"]["x"]
    again = oc("session", "gc", "--write")
    assert (1, [("keep", "row", "agent:main:main")], "") == (again.status, steps(again), again.err)


@pytest.mark.usefixtures("full")
def test_what_is_protected(oc):
    """D20: the reference drops the active key when it is old."""
    for args in (["--keep", "telegram:direct:1"], ["--keep", "AGENT:main:telegram:direct:1"]):
        assert ("keep", "row", "agent:main:telegram:direct:1") in steps(oc("session", "gc", *args))
    ran = oc("session", "gc", "--max-entries", "0", OC_SESSION="telegram:direct:2")
    removed = {name for action, _, name in steps(ran) if action == "remove"}
    assert {"agent:main:telegram:direct:1", "agent:main:cron:job:run:7"} == removed


def test_a_session_that_is_being_written_to_is_protected(oc, full):
    (full / "s2.jsonl.lock").write_text(json.dumps({"pid": os.getpid(), "createdAt": "2026-03-16T08:59:59.000Z"}))
    (full / "o1.jsonl.lock").write_text(json.dumps({"pid": os.getpid(), "createdAt": "2026-03-16T08:50:00.000Z"}))
    ran = oc("session", "gc", "--write")
    assert ("keep", "row", "agent:main:telegram:direct:1") in steps(ran)
    assert "o1.jsonl: somebody writes to it; it stays where it is" in ran.err
    assert {"s2.jsonl", "o1.jsonl", "s2.jsonl.lock", "o1.jsonl.lock"} <= set(names(full))
    held = f"held by process {os.getpid()} for 10 minutes"
    assert [f"keep\tlock\t0\to1.jsonl.lock\t{held}"] == [line for line in ran.out.splitlines() if "held by" in line]


@pytest.mark.usefixtures("full")
def test_orphans_of_any_age(oc):
    ran = oc("session", "gc", "--orphans")
    assert {"o1.jsonl", "o2.jsonl", "f1.jsonl"} == {name for _, kind, name in steps(ran) if kind == "orphan"}


@pytest.mark.usefixtures("full")
def test_limits_of_the_command_line_and_of_the_configuration(oc):
    ran = oc("session", "gc", "--older-than", "1000d", "--max-bytes", "0")
    assert {"agent:main:telegram:direct:1", "agent:main:telegram:direct:2", "agent:main:cron:job:run:7"} == {
        name for action, _, name in steps(ran) if action == "remove"
    }
    assert ("delete", "transcript", "s3.jsonl") in steps(ran)
    assert not {"s1.jsonl", "notes.txt", "oc-events.jsonl", "s3.jsonl.bak-1-2"} & {name for _, _, name in steps(ran)}
    (oc.state / "oc.json").write_text(
        '{"session":{"maintenance":{"pruneAfter":"2d"}},"cron":{"sessionRetention":false}}'
    )
    removed = [name for action, _, name in steps(oc("session", "gc")) if action == "remove"]
    assert ["agent:main:telegram:direct:1", "agent:main:telegram:direct:2"] == removed


def test_the_budget_renames_before_it_deletes(oc, sessions):
    rows(sessions, s1=("agent:main:x", 1), s2=("agent:main:y", 2))
    for name in ("s1", "s2"):
        put(sessions, f"{name}.jsonl", text="x" * 1000)
    ran = oc("session", "gc", "--write", "--max-bytes", "1500")
    assert [("remove", "row", "agent:main:y"), ("delete", "transcript", "s2.jsonl")] == steps(ran)
    assert ["s1.jsonl", "sessions.json"] == names(sessions)


def test_without_a_store_nothing_is_an_orphan(oc, full):
    """A store that was lost makes every transcript look like one; rebuild is what helps."""
    (full / "sessions.json").unlink()
    assert not {name for _, kind, name in steps(oc("session", "gc")) if kind == "orphan"}
    assert {name for _, kind, name in steps(oc("session", "gc", "--orphans")) if kind == "orphan"}


def test_a_large_store_is_kept_beside_the_new_one(oc, sessions):
    (oc.state / "oc.json").write_text('{"session":{"maintenance":{"rotateBytes":10}}}')
    for number in range(4):
        put(sessions, f"sessions.json.bak.{number}")
    rows(sessions, s1=("agent:main:x", 90))
    before = (sessions / "sessions.json").read_bytes()
    assert 0 == oc("session", "gc", "--write").status
    assert ["sessions.json", "sessions.json.bak.1773651600000", "sessions.json.bak.2", "sessions.json.bak.3"] == names(
        sessions
    )
    assert before == (sessions / "sessions.json.bak.1773651600000").read_bytes()


def test_nothing_to_do(oc, sessions):
    ran = oc("session", "gc", "--write")
    assert (1, "", "") == (ran.status, ran.out, ran.err)
    assert [] == names(sessions)
    sessions.rmdir()
    assert 1 == oc("session", "gc", "--write").status
    assert not sessions.exists()


@pytest.mark.parametrize(
    ("args", "store", "status", "message"),
    [
        (["--older-than", "soon"], "{}", 2, "not a time span: 'soon'"),
        (["--max-bytes", "2 gb"], "{}", 2, "not a size: '2 gb'"),
        ([], "{", 65, "the session store is not JSON; nothing was changed"),
        ([], "", 65, "the session store is empty; nothing was changed"),
        ([], "[]", 65, "the session store is not a JSON object; nothing was changed"),
    ],
    ids=["time", "size", "broken store", "empty store", "array"],
)  # fmt: skip
@pytest.mark.parametrize("write", [[], ["--write"]], ids=["plan", "write"])
def test_bad_input_changes_nothing(oc, full, args, store, status, message, write):  # noqa: PLR0917
    (full / "sessions.json").write_text(store)
    before = names(full)
    ran = oc("session", "gc", *args, *write)
    assert (status, "") == (ran.status, ran.out)
    assert message in ran.err
    assert before == names(full)


def test_odd_rows_are_left_alone(oc, sessions):
    odd = {"a": None, "b": 7, "c": {}, "d": {"sessionId": "../x", "updatedAt": "soon"}, "e": {"updatedAt": None}}
    (sessions / "sessions.json").write_text(json.dumps(odd))
    assert 1 == oc("session", "gc", "--write").status
    assert odd == json.loads((sessions / "sessions.json").read_text())
