"""A flush that dies before any of its disk operations, or half-way through a write: the next one goes on."""

import json
import os
import shutil
import subprocess

import pytest

from tests.support import OC, disk_operations
from tests.warm import Warm, server

KEY = "agent:main:main"
FACTS = ("The staging database moved to pg-b.internal:5432", "We dropped GraphQL because REST covers it")


@pytest.fixture(scope="module")
def forks():
    with server() as made:
        yield made


def note_of(oc):
    path = oc.workspace / "memory" / "2026-03-16.md"
    return path.read_bytes() if path.exists() else b""


def whole(note):
    """The lines that were finished; half a line of a cut write stands alone once the next write has come."""
    return [line for line in note.decode().splitlines() if line in {f"- {fact}" for fact in FACTS}]


@pytest.mark.parametrize("before", [b"", b"# A day\n\n- of mine", b"- of mine\n"], ids=["new", "torn", "old"])
def test_nothing_is_lost_and_no_block_stands_twice(tmp_path, forks, before):
    base = Warm(tmp_path / "base", forks)
    base.home.mkdir()
    base("session", "open", "main")
    for fact in FACTS:
        base("session", "append", "main", "--role", "user", fact)
    if before:
        (base.workspace / "memory").mkdir(parents=True)
        (base.workspace / "memory" / "2026-03-16.md").write_bytes(before)
    (transcript,) = (base.state / "agents" / "main" / "sessions").glob("*.jsonl")
    said = transcript.read_bytes()
    copy = tmp_path / "whole"
    shutil.copytree(base.home, copy)
    operations = disk_operations(Warm(copy, forks), ("flush",))
    expected = note_of(Warm(copy, forks))
    died = 0
    for place, name in enumerate(operations, 1):
        for half in (False, True) if name == "write" else (False,):
            home = tmp_path / f"{place}-{half}"
            shutil.copytree(base.home, home)
            oc = Warm(home, forks)
            assert -9 == oc("flush", die_at=place, half=half).status
            assert note_of(oc).startswith(before)
            ran = oc("flush")
            assert ran.status in (0, 1), ran.err
            after = note_of(oc)
            assert after.startswith(before)
            assert [f"- {fact}" for fact in FACTS] == whole(after)
            if not half:
                assert expected == after
            rows = json.loads((oc.state / "agents" / "main" / "sessions" / "sessions.json").read_text())
            assert 0 == rows[KEY]["memoryFlushCompactionCount"]
            assert said == (home / transcript.relative_to(base.home)).read_bytes()
            # That of the store is left when nothing is to be written to it any more; the next writer takes it over.
            assert {path.name for path in home.rglob("*.lock")} <= {"sessions.json.lock"}
            assert 1 == oc("flush").status
            assert after == note_of(oc)
            died += 1
            shutil.rmtree(home)
    assert died >= 12


def test_many_flushes_at_once_lose_nothing_and_write_nothing_twice(tmp_path, forks):
    """Sessions of one workspace, each flushed twice, all at the same time: one note."""
    oc = Warm(tmp_path, forks)
    keys = [f"job-{n}" for n in range(4)]
    for n, key in enumerate(keys):
        oc("session", "open", key)
        oc("session", "append", key, "--role", "user", f"Job {n} runs on host-{n}.internal:9000 now")
    environ = {**os.environ, **oc.environ}
    running = [
        subprocess.Popen([*OC, "flush", key], env=environ, cwd=oc.home, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for key in keys * 2
    ]
    ended = sorted(process.wait(60) for process in running)
    for process in running:
        process.communicate()
    assert [0] * 4 + [1] * 4 == ended
    lines = note_of(oc).decode().splitlines()
    assert sorted(f"- Job {n} runs on host-{n}.internal:9000 now" for n in range(4)) == sorted(lines)
