"""kill -9 before every write, fsync, replace and unlink of the writing commands, and in the middle of every write.

The next run goes on, and what was committed before is there.
"""

import json
import shutil

import pytest

from oc.session.transcript import read
from tests.support import NOW_MS, Oc, disk_operations, run_killed

OLD = '{"role":"user","content":"old"}\n'
NEW = '{"role":"user","content":"new"}\n{"role":"user","content":"newer"}\n'
AFTER = '{"role":"user","content":"after"}\n'


def sessions(oc):
    return oc.state / "agents" / "main" / "sessions"


def contents(path):
    return [entry["message"]["content"] for entry in read(str(path)).entries]


def one_chain(path):
    entries = read(str(path)).entries
    return [None, *(e["id"] for e in entries[:-1])] == [e["parentId"] for e in entries]


@pytest.fixture
def killed(tmp_path):
    """Yields a home for each point at which the command can die, from the state that `prepare` makes."""

    def at_every_point(prepare, args, stdin=""):
        template = Oc(tmp_path / "template")
        template.home.mkdir()
        prepare(template)
        whole = Oc(tmp_path / "whole")
        shutil.copytree(template.home, whole.home)
        operations = disk_operations(whole, args, stdin=stdin)
        assert len(operations) >= 5
        assert {"write", "fsync", "unlink"} <= set(operations)
        for at, operation in enumerate(operations, 1):
            for half in (False, True) if operation == "write" else (False,):
                here = Oc(tmp_path / f"{at}-{half}")
                shutil.copytree(template.home, here.home)
                code, _ = run_killed(here, at, args, half=half, stdin=stdin)
                assert -9 == code
                yield here
        yield whole

    return at_every_point


def test_append(killed):
    """Of the two entries of one call neither, one or both are there; never a broken one."""

    def prepare(here):
        assert 0 == here("session", "append", "main", "--create", stdin=OLD).status

    seen = []
    for here in killed(prepare, ["session", "append", "main", "--now", str(NOW_MS + 60_000)], NEW):
        (path,) = sessions(here).glob("*.jsonl")
        before = contents(path)
        seen.append(before)
        assert 0 == here("session", "append", "main", stdin=AFTER).status
        assert [*before, "after"] == contents(path)
        assert one_chain(path)
    assert all(before == ["old", "new", "newer"][: len(before)] for before in seen)
    assert ["old"] == seen[0]
    assert ["old", "new", "newer"] == seen[-1]


def test_append_create(killed):
    for here in killed(lambda _: None, ["session", "append", "main", "--create"], NEW):
        assert 0 == here("session", "append", "main", "--create", stdin=AFTER).status
        (path,) = sessions(here).glob("*.jsonl")
        *found, last = contents(path)
        assert ("after", ["new", "newer"][: len(found)]) == (last, found)
        assert one_chain(path)
    assert ["new", "newer"] == found


@pytest.mark.parametrize(("verb", "now_ms"), [("open", NOW_MS + 24 * 3600_000), ("reset", NOW_MS + 1000)])
def test_roll_over(killed, verb, now_ms):
    """The old conversation is always there whole: in its transcript or in its archive."""

    def prepare(here):
        assert 0 == here("session", "append", "main", "--create", stdin=NEW).status

    for here in killed(prepare, ["session", verb, "main", "--now", str(now_ms)]):
        transcripts = [p for p in sessions(here).glob("*.jsonl*") if p.suffix not in (".lock", ".tmp")]
        assert 1 == sum(["new", "newer"] == contents(path) for path in transcripts)
        ran = Oc(here.home, OC_NOW=str(now_ms))("session", "append", "main", "--jsonl", stdin=AFTER)
        assert 0 == ran.status
        store = json.loads((sessions(here) / "sessions.json").read_text())
        assert ran.jsonl()[0]["path"].endswith(store["agent:main:main"]["sessionId"] + ".jsonl")
        assert "after" == contents(ran.jsonl()[0]["path"])[-1]
    assert ["after"] == contents(ran.jsonl()[0]["path"])


def test_migration_before_an_append(killed):
    """The file is version 1 as it was, or version 3 with the original beside it."""
    entries = [f'{{"type":"message","message":{{"role":"user","content":"{n}"}}}}' for n in range(3)]
    original = "\n".join(['{"type":"session","id":"s"}', *entries])

    def prepare(here):
        (here.home / "old.jsonl").write_text(original)

    for here in killed(prepare, ["session", "append", "old.jsonl"], NEW):
        path = here.home / "old.jsonl"
        backups = [p.read_text() for p in here.home.glob("old.jsonl.v1-*.bak")]
        if read(str(path)).version == 1:
            assert original == path.read_text()
            assert backups in ([], [original])
        else:
            assert [original] == backups
        before = contents(path)
        assert ["0", "1", "2", "new", "newer"][: len(before)] == before
        assert 0 == here("session", "append", path, stdin=AFTER).status
        assert [*before, "after"] == contents(path)
        assert one_chain(path)
        assert [original] == [p.read_text() for p in here.home.glob("old.jsonl.v1-*.bak")]
    assert ["0", "1", "2", "new", "newer"] == before


FIELDS = ["session", "set", "main", "label=work", "queueCap=3"]
MARKS = {
    "branch": ["session", "branch", "main", "root", "--summary", "what was tried"],
    "label": ["session", "label", "main", "old0", "mark"],
}


def test_set(killed):
    """All fields of one call are there, or none; the store is always whole."""

    def prepare(here):
        assert 0 == here("session", "append", "main", "--create", stdin=NEW).status

    seen = []
    for here in killed(prepare, FIELDS):
        row = json.loads((sessions(here) / "sessions.json").read_text())["agent:main:main"]
        seen.append((row.get("label"), row.get("queueCap")))
        assert 0 == here(*FIELDS).status
    assert {(None, None), ("work", 3)} == set(seen)


@pytest.mark.parametrize("verb", MARKS)
def test_branch_and_marks(killed, verb):
    """The entry is there whole or not at all, and what was there before stays."""
    old = '{"type":"message","id":"old0","message":{"role":"user","content":"old"}}\n'

    def prepare(here):
        assert 0 == here("session", "append", "main", "--create", stdin=old).status

    counts = []
    for here in killed(prepare, MARKS[verb]):
        (path,) = sessions(here).glob("*.jsonl")
        found = read(str(path)).entries
        counts.append(len(found))
        assert "old0" == found[0]["id"]
        assert 0 == here(*MARKS[verb]).status
        assert counts[-1] + 1 == len(read(str(path)).entries)
    assert {1, 2} == set(counts)


def test_fork_for_a_key(killed):
    """The key has its fork whole, or no session yet; the source is never touched."""
    args = ["session", "fork", "main", "--key", "side"]

    def prepare(here):
        assert 0 == here("session", "append", "main", "--create", stdin=NEW).status

    for here in killed(prepare, args):
        store = json.loads((sessions(here) / "sessions.json").read_text())
        if "agent:main:side" not in store:
            assert 0 == here(*args).status
            store = json.loads((sessions(here) / "sessions.json").read_text())
        ran = here("session", "show", "side", "--messages")
        assert ["new", "newer"] == [message["content"] for message in ran.jsonl()]
        assert 2 == len(store)


def test_event(killed):
    """An event is queued whole or not at all."""
    args = ["session", "event", "main", "the build is green"]

    def prepare(here):
        assert 0 == here("session", "open", "main").status

    for here in killed(prepare, args):
        assert 0 == here(*args).status
        lines = (sessions(here) / "oc-events.jsonl").read_bytes().splitlines()
        whole = [line for line in lines if line.endswith(b"}")]
        assert 1 <= len(whole) <= 2
        assert all("the build is green" == json.loads(line)["text"] for line in whole)
