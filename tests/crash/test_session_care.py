"""kill -9 before every write, fsync, rename and unlink of what mends and tidies, and the same command once more."""

import json
import os
import shutil

import pytest

from tests.support import NOW_MS
from tests.warm import Warm, server

TIME = "2026-03-16T09:00:01.000Z"


@pytest.fixture(scope="module")
def forks():
    with server() as made:
        yield made


def deaths(base, forks, tmp_path, *args):
    """Yields a home as the command left it, for every place at which it can die, and last one where it did not."""
    for place in range(1, 500):
        for half in (False, True):
            home = tmp_path / f"{place}-{half}"
            shutil.copytree(base, home)
            here = Warm(home, forks)
            ran = here(*args, die_at=place, half=half)
            yield here
            if ran.status != -9:
                assert 0 == ran.status, ran.err
                return
            shutil.rmtree(home)


def header(session_id):
    return f'{{"type":"session","version":3,"id":"{session_id}","timestamp":"{TIME}","cwd":"/"}}\n'


def entry(entry_id, parent):
    parent = "null" if parent is None else f'"{parent}"'
    head = f'{{"type":"message","id":"{entry_id}","parentId":{parent},"timestamp":"{TIME}"'
    return head + ',"message":{"role":"user","content":"数 x"}}\n'


def test_repair(tmp_path, forks):
    """The file is as it was, or whole with the bytes from before beside it."""
    damaged = header("s") + entry("a", None) + "junk\n" + entry("b", "a").rstrip("\n") + entry("c", "b")
    good = header("s") + entry("a", None) + entry("b", "a") + entry("c", "b")
    base = tmp_path / "base"
    base.mkdir()
    (base / "s.jsonl").write_text(damaged)
    states = []
    for here in deaths(base, forks, tmp_path, "session", "repair", "s.jsonl", "--write"):
        path = here.home / "s.jsonl"
        backups = [p.read_text() for p in here.home.glob("s.jsonl.bak-*") if p.suffix != ".tmp"]
        states.append((path.read_text(), backups))
        assert states[-1] in [(damaged, []), (damaged, [damaged]), (good, [damaged])]
        assert here("session", "repair", "s.jsonl", "--write").status in (0, 1)
        assert good == path.read_text()
        assert not path.with_suffix(".jsonl.lock").exists()
    assert len(states) >= 20
    assert [(damaged, []), (damaged, [damaged]), (good, [damaged])] == [
        s for i, s in enumerate(states) if s not in states[:i]
    ]


def test_gc(tmp_path, forks):
    """Rows go before files, files are renamed before they are deleted, and what was said is there until the end."""
    base = tmp_path / "base"
    folder = base / "state" / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    store = {f"agent:main:{n}": {"sessionId": n, "updatedAt": 1 if n < "c" else NOW_MS} for n in ("a", "b", "c")}
    (folder / "sessions.json").write_text(json.dumps(store))
    for name in ("a", "b", "c", "orphan"):
        (folder / f"{name}.jsonl").write_text(header(name))
        os.utime(folder / f"{name}.jsonl", (1, 1))
    (folder / "old.jsonl.reset.2026-01-01T00-00-00.000Z").write_text(header("old"))
    (folder / "c.jsonl.999999999-00000000.tmp").write_text("half")

    def listing(here):
        return sorted(p.name for p in (here.home / folder.relative_to(base)).iterdir())

    seen = []
    for here in deaths(base, forks, tmp_path, "session", "gc", "--write"):
        sessions = here.home / folder.relative_to(base)
        rows = json.loads((sessions / "sessions.json").read_text())
        assert rows in (store, {"agent:main:c": store["agent:main:c"]})
        held = [p.read_text() for p in sessions.iterdir() if ".jsonl" in p.name]
        assert all(held.count(header(name)) == 1 for name in ("a", "b", "c", "orphan"))
        if len(rows) == 3:
            assert {"a.jsonl", "b.jsonl", "c.jsonl", "orphan.jsonl"} <= set(listing(here))
        seen.append(listing(here))
        assert here("session", "gc", "--write").status in (0, 1)
        ended = [name for name in listing(here) if not name.endswith(".tmp")]
        assert ["a", "b", "c", "orphan", "sessions"] == [name.partition(".")[0] for name in ended]
        assert {"a.jsonl", "b.jsonl", "orphan.jsonl"} == {
            n.partition(".deleted.2026-03-16T")[0] for n in ended if ".del" in n
        }
    assert seen[-1] == listing(here)
    assert len(seen) >= 30


def test_rebuild(tmp_path, forks):
    """The store is as broken as it was, or whole; the broken bytes are there in either case."""
    base = tmp_path / "base"
    folder = base / "state" / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    broken = '{\n  "agent:main:x": {"sessionId": "a"},\n  "agent:main:y": {"sess'
    (folder / "sessions.json").write_text(broken)
    (folder / "a.jsonl").write_text(header("a"))
    (folder / "b.jsonl").write_text(header("b"))
    states = []
    for here in deaths(base, forks, tmp_path, "session", "rebuild", "--write"):
        sessions = here.home / folder.relative_to(base)
        copies = [p.read_text() for p in sessions.glob("sessions.json.bak.*") if p.suffix != ".tmp"]
        states.append(((sessions / "sessions.json").read_text() == broken, copies))
        assert states[-1] in [(True, []), (True, [broken]), (False, [broken])]
        assert here("session", "rebuild", "--write").status in (0, 1)
        rows = json.loads((sessions / "sessions.json").read_text())
        assert {"agent:main:x": "a", "agent:main:main": "b"} == {key: row["sessionId"] for key, row in rows.items()}
        assert [broken] == [p.read_text() for p in sessions.glob("sessions.json.bak.*") if p.suffix != ".tmp"]
    assert {True, False} == {state for state, _ in states}
    assert len(states) >= 20
