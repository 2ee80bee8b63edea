"""`memory add` is killed before each of its disk operations, and raced by fifty others."""

import json
import os
import subprocess

import pytest

from tests.support import run_killed

NOTE = "memory/2026-03-16.md"
BEFORE = "# 2026-03-16\n\n- one\n"
FACT = "the staging host is pg-b"


def files(oc):
    return sorted(os.listdir(oc.workspace / "memory"))


def ledger(oc):
    rows = []
    for line in (oc.workspace / "memory" / ".oc-writes.jsonl").read_text().splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue  # torn by the kill
    return rows


@pytest.mark.parametrize("half", [False, True])
def test_after_any_kill_the_next_run_goes_on(oc, half):
    oc("memory", "add", "one")
    _, points = run_killed(oc, 0, ["memory", "add", FACT, "--dry-run"])
    note = oc.workspace / NOTE
    reached = 0
    for at in range(1, 30):
        note.write_text(BEFORE)
        code, points = run_killed(oc, at, ["memory", "add", FACT], half=half)
        if points:
            break
        reached += 1
        assert code == -9
        killed = note.read_text()
        assert killed.startswith(BEFORE)
        assert f"{BEFORE}- {FACT}\n".startswith(killed)
        done = oc("memory", "add", FACT)
        assert done.status == 0
        after = note.read_text()
        assert after.startswith(killed)
        assert after.split("\n").count(f"- {FACT}") == 1
        assert done.out == f"{NOTE}#L{after.split(chr(10)).index(f'- {FACT}') + 1}\n"
        assert [".oc-writes.jsonl", "2026-03-16.md"] == files(oc)
        assert {row["line"] for row in ledger(oc) if row["path"] == NOTE} >= {after.split("\n").index(f"- {FACT}") + 1}
    assert reached >= 6


def test_fifty_at_once_lose_nothing(oc):
    running = [oc.popen("memory", "add", f"fact number {n}", stdout=subprocess.PIPE) for n in range(50)]
    said = {process.communicate(timeout=120)[0].decode() for process in running}
    lines = (oc.workspace / NOTE).read_text().splitlines()
    assert {0} == {process.returncode for process in running}
    assert sorted(f"- fact number {n}" for n in range(50)) == sorted(lines[2:])
    assert {f"{NOTE}#L{n}\n" for n in range(3, 53)} == said
    assert {(row["line"], row["lines"]) for row in ledger(oc)} == {(n, 1) for n in range(3, 53)}
    assert [".oc-writes.jsonl", "2026-03-16.md"] == files(oc)
