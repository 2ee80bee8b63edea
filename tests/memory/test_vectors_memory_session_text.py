import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.memory.chunk import REFERENCE, chunk, remap
from oc.memory.session_text import is_transcript, session_text, spoken
from tests.shapes import JSON
from tests.support import vectors


@vectors("memory-session-text")
def test_session_text(case):
    given = case.input
    if given.get("op"):
        assert case.expected == spoken(given["content"])
        return
    found = session_text(given["jsonl"].encode().split(b"\n"))
    chunks = remap(chunk(found.content, tokens=400, overlap=80, measure=REFERENCE), found.line_map)
    shown = {
        "path": f"sessions/{given['fileName']}",
        "content": found.content,
        "lineMap": found.line_map,
        "hash": found.hash,
        "size": len(given["jsonl"].encode()),
        # The indexer drops blank chunks.
        "chunks": [{"startLine": c.start_line, "endLine": c.end_line, "text": c.text} for c in chunks if c.text],
    }
    assert case.expected == shown


def entry(role, content, **more):
    return json.dumps({"type": "message", **more, "message": {"role": role, "content": content}}).encode()


def test_secrets_are_hidden_a_private_key_whole():
    pem = "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----"
    found = session_text([entry("user", f"PASSWORD=hunter2 {pem}")])
    assert "User: PASSWORD=*** ***" == found.content


def test_the_time_is_that_of_the_last_thing_said():
    found = session_text(
        [
            entry("user", "a", timestamp="2026-03-16T09:00:00.000Z"),
            entry("assistant", "b", timestamp="2026-03-16T09:00:01.500Z"),
            entry("toolResult", "c", timestamp="2026-03-16T10:00:00.000Z"),
            entry("user", "d", timestamp="soon"),
        ]
    )
    assert ("User: a\nAssistant: b\nUser: d", [1, 2, 4], 1773651601500) == (
        found.content,
        found.line_map,
        found.last_ms,
    )


@pytest.mark.parametrize(
    "raw",
    [b"", b" \t", b"garbage", b"[]", b"3", b'{"type":"message"}', b'{"type":"message","message":[]}', b"\xff\xfe"],
)
def test_other_lines_say_nothing(raw):
    found = session_text([raw])
    assert ("", [], None) == (found.content, found.line_map, found.last_ms)


def test_lone_surrogates_do_not_stop_the_hash():
    assert "User: \ud800" == session_text([rb'{"type":"message","message":{"role":"user","content":"\ud800"}}']).content


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("s.jsonl", True),
        ("s-topic-9.jsonl", True),
        ("s.jsonl.reset.2026-03-16T09-40-00.000Z", True),
        ("s.jsonl.deleted.2026-03-16T09-40-00.000Z", False),
        ("s.jsonl.lock", False),
        ("sessions.json", False),
    ],
)
def test_names_of_transcripts(name, expected):
    assert expected == is_transcript(name)


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "toolResult"]), JSON | st.text()), max_size=6))
def test_each_line_of_text_belongs_to_one_line_of_the_file(said):
    found = session_text([entry(role, content) for role, content in said])
    assert len(found.line_map) == (found.content.count("\n") + 1 if found.content else 0)
    assert sorted(set(found.line_map)) == found.line_map
    assert all(said[number - 1][0] in ("user", "assistant") for number in found.line_map)


@given(st.lists(st.binary(max_size=30) | JSON.map(lambda value: json.dumps(value).encode()), max_size=4))
def test_no_line_is_too_odd(lines):
    assert "" == session_text(lines).content
