import json

import pytest

from oc.errors import NotFound
from oc.session.usage_tail import read_usage


def write(path, *lines):
    path.write_bytes(b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines))
    return str(path)


def answer(tokens):
    return {"type": "message", "message": {"role": "assistant", "usage": {"input": tokens}}}


def test_usage_from_before_a_compaction_tells_nothing(tmp_path):
    path = tmp_path / "t.jsonl"
    assert read_usage(write(path, answer(5), {"type": "compaction", "summary": "usage"})) is None
    assert {"input": 7} == read_usage(write(path, answer(5), {"type": "compaction"}, answer(7)))
    said = {"type": "message", "message": {"role": "user", "content": 'a "compaction" of "usage"'}}
    assert {"input": 5} == read_usage(write(path, answer(5), said))


def test_lines_that_are_no_entries_are_passed_over(tmp_path):
    path = write(
        tmp_path / "t.jsonl", answer(5), b'{"usage": \xff\n', b'["usage"]\n', {"usage": 3}, b'{"usage": {"input"'
    )
    assert {"input": 5} == read_usage(path)


def test_a_usage_of_the_line_counts_when_the_message_has_none(tmp_path):
    line = {"message": {"role": "assistant", "usage": None}, "usage": {"total": 4}}
    assert {"total": 4} == read_usage(write(tmp_path / "t.jsonl", line))


def test_no_file_is_said(tmp_path):
    with pytest.raises(NotFound):
        read_usage(str(tmp_path / "none.jsonl"))
