"""kill -9 before every write, fsync, rename and unlink of what mends and tidies; the next run ends as if nothing was."""

import shutil

import pytest

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
