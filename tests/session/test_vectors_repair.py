import json

import pytest

from oc.errors import BadInput, NotFound
from oc.session.repair import repair, repair_file
from tests.support import NOW_MS, vectors

FILE_REPAIR = "dist/reply-Bm8VrLQh.js region src/agents/session-file-repair.ts"


@vectors("sessions-repair", FILE_REPAIR)
def test_file_repair(case, tmp_path):
    """The reference writes every line anew; oc keeps the bytes of good ones, so lines are compared as JSON."""
    path = tmp_path / "s.jsonl"
    before = case.input.get("file")
    if before is not None:
        path.write_bytes(before.encode())
    try:
        fixes, backup = repair_file(str(path), now_ms=NOW_MS)
    except (BadInput, NotFound):
        fixes, backup = [], None
    assert case.expected["repaired"] is (backup is not None)
    assert case.expected["hasBackup"] is (backup is not None)
    if case.expected["reason"] is None:
        assert case.expected["droppedLines"] == len(fixes)
    after = path.read_bytes().decode() if path.exists() else None
    if backup is None:
        assert before == after == case.expected["fileAfter"]
        return
    assert values(case.expected["fileAfter"]) == values(after)
    assert after.endswith("\n")
    with open(backup, "rb") as file:
        assert before.encode() == file.read()
    assert case.expected["dir"] == sorted(masked(p.name) for p in tmp_path.iterdir())


def values(text):
    return [json.loads(line) for line in text.split("\n") if line]


def masked(name):
    head, mark, _ = name.partition(".bak-")
    return f"{head}.bak-<pid>-<ms>" if mark else name


def test_a_broken_header_is_made_anew(tmp_path):
    """D1: the reference leaves the file alone here, and replaces it by a new session when it opens it."""
    entry = '{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"你好"}}'
    path = tmp_path / "abc.jsonl"
    path.write_text('{"type":"session"\n' + entry)
    fixes, backup = repair_file(str(path), now_ms=NOW_MS)
    assert backup is not None
    assert ["add", "drop"] == sorted(fix.action for fix in fixes)
    assert '{"type":"session","version":3,"id":"abc"}\n' + entry + "\n" == path.read_text()


def test_nothing_is_repaired_where_nothing_can_be_read():
    for data in (b"", b"\n \n", b"junk\n[1]\n"):
        with pytest.raises(BadInput, match="no line holds a record"):
            repair(data, "x.jsonl")
