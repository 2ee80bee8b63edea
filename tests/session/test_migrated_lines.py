"""Lines of a version 1 file: read as version 3 they keep their bytes, with id and parent added at their end."""

import io

import orjson
from hypothesis import given
from hypothesis import strategies as st

from oc.base.jsonl import dump, parse
from oc.session.transcript import read_stream
from tests.shapes import JSON

HEADER = b'{"type":"session","id":"s","timestamp":"t","cwd":"/"}'


def test_numbers_and_spaces_stay():
    """A 23-digit integer and 1.50 would not survive being parsed and written."""
    line = (
        b' {"type": "message", "message": {"role": "user", "content": "x", "n": 12345678901234567890123, "f": 1.50}} \r'
    )
    transcript = read_stream(io.BytesIO(HEADER + b"\n" + line + b"\n" + line), "f")
    first, second = transcript.raws
    assert first.startswith(line.rstrip()[:-1] + b',"id":"')
    assert b'"parentId":null}' in first
    assert second.endswith(b'"parentId":"' + transcript.entries[0]["id"].encode() + b'"}')


def test_what_changes_more_than_that_is_written_anew():
    """An entry with an id of its own, a renamed role, an index that becomes an id."""
    lines = [
        b'{"type":"message","id":"old","message":{"role":"user","content":"a"}}',
        b'{"type":"message","message":{"role":"hookMessage","content":"a"}}',
        b'{"type":"compaction","summary":"s","firstKeptEntryIndex":1}',
    ]
    transcript = read_stream(io.BytesIO(b"\n".join([HEADER, *lines])), "f")
    assert transcript.raws == [None, None, None]


@given(
    st.lists(st.dictionaries(st.sampled_from(["type", "id", "parentId", "message", "x", "firstKeptEntryIndex"]), JSON))
)
def test_a_line_says_what_its_entry_says(values):
    """Whatever the entry: where there is a line, it parses to the entry."""
    lines = [dump(value) for value in values if value.get("type") != "session"]
    transcript = read_stream(io.BytesIO(b"\n".join([HEADER, *lines])), "f")
    for raw, entry in zip(transcript.raws, transcript.entries, strict=True):
        assert raw is None or parse(raw) == entry


def test_the_lines_are_valid_json_for_other_readers():
    transcript = read_stream(io.BytesIO(HEADER + b'\n{"type":"message"}\n{}'), "f")
    assert [orjson.loads(raw) for raw in transcript.raws] == transcript.entries
