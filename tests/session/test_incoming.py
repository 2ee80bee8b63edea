"""Transcripts of Pi and OpenClaw on their way in: what cannot be read back is mended or dropped, with a reason."""

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.base.jsonl import dump_line
from oc.errors import BadInput
from oc.session.incoming import from_transcript, read_back
from oc.session.transcript import read_stream
from tests.session.openclaw_database import talk
from tests.shapes import branches

HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-03-16T09:00:00.000Z", "cwd": "/"}


def lines(*entries, version=3):
    return dump_line({**HEADER, "version": version}) + b"".join(map(dump_line, entries))


def incoming_of(data):
    made = from_transcript(read_stream(BytesIO(data), "x.jsonl"), "pi")
    read_back(made.data(), made)
    return made


def entry(entry_id, parent, **fields):
    return {
        "type": "message",
        "id": entry_id,
        "parentId": parent,
        "timestamp": "2026-03-16T09:00:01.000Z",
        "message": {"role": "user", "content": entry_id},
        **fields,
    }


def test_a_sound_transcript_keeps_its_bytes():
    data = (
        b'{"type":"session", "version":3,"id":"s","timestamp":"2026-03-16T09:00:00.000Z","n":1.50}\n'
        b'{"type":"later",  "id":"a","parentId":null,"timestamp":"2026-03-16T09:00:01.000Z","n":12345678901234567890}\n'
    )
    made = incoming_of(data)
    assert (data, []) == (made.data(), made.notes)


def test_a_torn_tail_is_dropped_with_its_line():
    made = incoming_of(lines(entry("a", None)) + b'{"type":"mess')
    assert lines(entry("a", None)) == made.data()
    assert [(3, "dropped", "the last line is not finished")] == made.notes


def test_a_dropped_entry_leaves_its_children_to_its_parent():
    broken = {"type": "message", "id": "b", "parentId": "a", "timestamp": "2026-03-16T09:00:01.000Z"}
    made = incoming_of(lines(entry("a", None), broken, entry("c", "b")))
    assert lines(entry("a", None), entry("c", "a")) == made.data()
    assert [
        (3, "dropped", "the entry holds no message"),
        (4, "changed", "its parent is not in the source; now a child of a"),
    ] == made.notes


def test_two_entries_with_one_id():
    made = incoming_of(lines(entry("a", None), entry("a", None), entry("a", None, n=1)))
    assert 2 == len(made.entries)
    (copy, other) = made.notes
    assert (3, "dropped", "a second copy of the entry a") == copy
    assert (4, "changed", f"the id a was taken; now {made.entries[1]['id']}") == other


def test_missing_parents_and_rings_become_roots():
    made = incoming_of(lines(entry("a", "gone"), entry("b", 7), entry("c", "d"), entry("d", "c"), entry("e", "e")))
    assert [None, None, None, "c", None] == [e["parentId"] for e in made.entries]
    assert [(2, "root"), (3, "root"), (4, "root"), (6, "root")] == [(n.line, n.reason[-4:]) for n in made.notes]


def test_an_excerpt_gets_the_links_it_is_read_with():
    made = incoming_of(lines(entry("a", None), entry("c", "b"), version=7))
    assert lines(entry("a", None), entry("c", "a")) == made.data()


@pytest.mark.parametrize("version", [1, 2])
def test_older_versions_are_written_as_version_3(version):
    plain = {"type": "message", "timestamp": "2026-03-16T09:00:01.000Z", "message": {"role": "hookMessage"}}
    made = incoming_of(lines({**plain, "id": "a", "parentId": None}, version=version))
    assert {**HEADER, "version": 3} == made.header
    assert {"custom": 1} == made.roles


def test_what_cannot_be_read_back_is_refused():
    made = from_transcript(read_stream(BytesIO(lines(entry("a", None))), "x.jsonl"), "pi")
    made.roles["user"] = 2
    with pytest.raises(BadInput, match="user 2 written, 1 read back"):
        read_back(made.data(), made)
    with pytest.raises(BadInput, match=r"1 error\(s\), the first in line 2"):
        read_back(lines(entry("a", "b")), made)


@given(branches(), st.data())
def test_any_mutation_comes_in_whole_or_is_refused(entries, data):
    """Cuts, glued lines, flipped bytes, swapped and doubled lines: what comes in passes the check, twice the same."""
    raws = lines(*entries).split(b"\n")
    for _ in range(data.draw(st.integers(0, 3))):
        at, other = (data.draw(st.integers(0, len(raws) - 1)) for _ in range(2))
        how = data.draw(st.sampled_from(["cut", "glue", "flip", "swap", "double"]))
        if how == "cut":
            raws[at] = raws[at][: len(raws[at]) // 2]
        elif how == "glue" and at < len(raws) - 1:
            raws[at : at + 2] = [raws[at] + raws[at + 1]]
        elif how == "flip" and raws[at]:
            place = data.draw(st.integers(0, len(raws[at]) - 1))
            raws[at] = raws[at][:place] + bytes([raws[at][place] ^ 1]) + raws[at][place + 1 :]
        elif how == "swap":
            raws[at], raws[other] = raws[other], raws[at]
        elif how == "double":
            raws.insert(at, raws[other])
        other = min(other, len(raws) - 1)
    try:
        made = incoming_of(b"\n".join(raws))
    except BadInput as error:
        assert "header" in str(error)  # noqa: PT017
        return
    again = incoming_of(made.data())
    assert (made.data(), []) == (again.data(), again.notes)


def test_the_maker_of_the_tests_makes_sound_transcripts():
    assert [] == incoming_of(b"".join(map(dump_line, talk("s", "a", "b")))).notes
