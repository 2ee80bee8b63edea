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
        assert len(operations) >= 8
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
