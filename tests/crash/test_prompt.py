"""A turn that dies before any of its disk operations, or half-way through a write: the next one goes on."""

import json
import shutil

import pytest

from tests.support import disk_operations
from tests.warm import Warm, server

KEY = "agent:main:main"
TURN = ("prompt", "Remember: the staging database moved to pg-b.internal:5432")


@pytest.fixture(scope="module")
def forks():
    with server() as made:
        yield made


def transcript_of(oc):
    store = oc.state / "agents" / "main" / "sessions" / "sessions.json"
    if not store.exists():
        return None
    return store.parent / f"{json.loads(store.read_text())[KEY]['sessionId']}.jsonl"


def whole_lines(path):
    data = path.read_bytes() if path is not None and path.exists() else b""
    return data[: data.rfind(b"\n") + 1].splitlines()


def entries(path):
    """What parses; half a line stands where a write was cut short."""
    found = []
    for line in whole_lines(path):
        try:
            found.append(json.loads(line))
        except ValueError:
            assert not line.endswith(b"}")
    return found


def deaths(base, forks, tmp_path):
    """Yields the home as the turn left it, for every disk operation to die before, and in the middle of each write."""
    whole = tmp_path / "whole"
    shutil.copytree(base, whole)
    for place, name in enumerate(disk_operations(Warm(whole, forks), TURN), 1):
        for half in (False, True) if name == "write" else (False,):
            home = tmp_path / f"{place}-{half}"
            shutil.copytree(base, home)
            oc = Warm(home, forks)
            assert -9 == oc(*TURN, die_at=place, half=half).status
            yield oc
            shutil.rmtree(home)


@pytest.mark.parametrize("turns_before", [0, 1], ids=["first-turn", "second-turn"])
def test_nothing_committed_is_lost_and_the_next_turn_goes_on(tmp_path, forks, turns_before):
    base = tmp_path / "base"
    base.mkdir()
    for n in range(turns_before):
        assert 0 == Warm(base, forks)("prompt", f"hello {n}").status
    before = whole_lines(transcript_of(Warm(base, forks)))
    died, written, noted = 0, 0, 0
    for oc in deaths(base, forks, tmp_path):
        left = whole_lines(transcript_of(oc))
        assert before == left[: len(before)]
        note = oc.workspace / "memory" / "2026-03-16.md"
        facts = note.read_text().count("pg-b.internal:5432\n") if note.exists() else 0
        # Later deaths leave no less than earlier ones did.
        assert len(left) >= written
        assert facts >= noted
        died, written, noted = died + 1, len(left), facts
        ran = oc("prompt", "hello again")
        assert 0 == ran.status, ran.err
        after = whole_lines(transcript_of(oc))
        assert left == after[: len(left)]
        found = entries(transcript_of(oc))
        assert [entry["parentId"] for entry in found[1:]] == [None, *(entry["id"] for entry in found[1:-1])]
        assert ["user", "assistant"] == [entry["message"]["role"] for entry in found[-2:]]
        assert not list(transcript_of(oc).parent.glob("*.lock"))
    assert died >= 40
    assert 1 == noted
