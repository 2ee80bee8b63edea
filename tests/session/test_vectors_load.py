import json
from pathlib import Path

import pytest

from oc.base.jsonl import dump
from oc.errors import BadInput
from oc.session.context import build_context
from oc.session.transcript import append, read
from oc.session.tree import labels, session_name
from tests.session.placeholders import matches
from tests.support import vectors

MESSAGE = {"type": "message", "timestamp": "2026-03-16T10:00:00.000Z", "message": {"role": "user", "content": "x"}}


def context_value(context):
    """Undefined is absent in the tables."""
    model = context.model and {k: v for k, v in context.model.items() if v is not None}
    return {"messages": context.messages, "thinkingLevel": context.thinking_level, "model": model}


def write(tmp_path, case):
    path = tmp_path / "s.jsonl"
    path.write_bytes(case.input["file"].encode())
    return str(path)


@vectors("sessions-load")
def test_load(case, tmp_path):
    path = write(tmp_path, case)
    transcript = read(path)
    actual = {
        "header": transcript.header,
        "leafId": transcript.leaf_id,
        "entries": transcript.entries,
        "sessionName": session_name(transcript.entries),
        "labels": labels(transcript.entries),
        "context": context_value(build_context(transcript.entries)),
    }
    bound = {}
    for name, value in actual.items():
        matches(case.expected[name], value, bound, name)


@vectors("sessions-load")
def test_file_after_an_append(case, tmp_path):
    """The reference migrates the file when it is opened, oc when it is appended to, and keeps the original."""
    path = write(tmp_path, case)
    before = case.input["file"]
    append(path, [MESSAGE])
    *lines, added, last = Path(path).read_bytes().decode().split("\n")
    assert last == ""
    assert json.loads(added)["message"] == MESSAGE["message"]
    if case.expected["fileRewritten"]:
        expected = [json.loads(line) for line in case.expected["fileAfter"] if line]
        matches(expected, [json.loads(line) for line in lines])
        # Compact JSON, in which Python and JavaScript agree as long as there is no float.
        assert [dump(json.loads(line)).decode() for line in lines] == lines
        backups = [p for p in tmp_path.iterdir() if p.name.endswith(".bak")]
        assert [before] == [p.read_text(encoding="utf-8") for p in backups]
    else:
        assert (before if before.endswith("\n") else before + "\n") == "\n".join(lines) + "\n"
        assert [tmp_path / "s.jsonl"] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "text", ["", "\n \n", '{"type":"message","id":"a","parentId":null}\n{"type":"session","version":3,"id":"b"}\n']
)
def test_a_file_without_a_valid_header_is_refused_and_left_alone(text, tmp_path):
    """D1: the reference replaces it by a new session."""
    path = tmp_path / "s.jsonl"
    path.write_text(text)
    with pytest.raises(BadInput, match="no session header"):
        read(str(path))
    with pytest.raises(BadInput, match="no session header"):
        append(str(path), [MESSAGE])
    assert text == path.read_text()
    assert [path] == list(tmp_path.iterdir())
