"""What is read from the end of a transcript is what a reader of the whole finds."""

import io
import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oc.errors import NotFound
from oc.session import tail
from oc.session.backward import read_ending, to_root
from oc.session.context import context_entries
from oc.session.transcript import read, read_stream
from oc.session.tree import leaf_path

HEADER = b'{"type":"session","version":3,"id":"s"}'


def message(entry_id, parent, text="x"):
    return {"type": "message", "id": entry_id, "parentId": parent, "message": {"role": "user", "content": text}}


def compaction(entry_id, parent, kept):
    return {"type": "compaction", "id": entry_id, "parentId": parent, "summary": "S", "firstKeptEntryId": kept}


names = st.sampled_from(list("abcdefgh"))
links = st.one_of(st.none(), names)
anything = st.one_of(st.none(), st.integers(), names, st.just({"role": "user"}))
entries = st.lists(
    st.one_of(
        st.builds(message, names, links, names),
        st.builds(compaction, names, links, st.one_of(names, anything)),
        st.builds(
            lambda i, p: {"type": "branch_summary", "id": i, "parentId": p, "summary": "B", "fromId": i}, names, links
        ),
        st.dictionaries(st.sampled_from(["type", "id", "parentId", "message"]), anything),
    ),
    max_size=12,
)
chained = entries.map(lambda found: [{**e, "parentId": p.get("id")} for p, e in zip([{}, *found], found, strict=False)])
noise = st.sampled_from([b"", b"  ", b"{", b"null", b"[1]", b'{"type":"session","version":3,"id":"t"}', b"\xff"])


def written(path, found, noises, torn):
    lines = [json.dumps(entry).encode() for entry in found]
    for place, line in noises:
        lines.insert(place % (len(lines) + 1), line)
    path.write_bytes(b"\n".join([HEADER, *lines]) + (b'\n{"type":"mess' if torn else b"\n"))


@settings(max_examples=400)
@given(
    st.one_of(entries, chained),
    st.lists(st.tuples(st.integers(0, 20), noise), max_size=3),
    st.tuples(st.booleans(), links, st.integers(1, 200)),
)
def test_the_end_holds_what_the_whole_holds(tmp_path_factory, found, noises, how):
    """Context, bytes and the lines passed over are those of the whole, for any tree, leaf and block size."""
    torn, leaf_id, block = how
    path = tmp_path_factory.getbasetemp() / "backward.jsonl"
    written(path, found, noises, torn)
    was, tail.BLOCK_BYTES = tail.BLOCK_BYTES, block
    try:
        compare(path, leaf_id)
    finally:
        tail.BLOCK_BYTES = was


def compare(path, leaf_id):
    whole = read(str(path))
    with path.open("rb") as file:
        known = leaf_id is None or any(entry.get("id") == leaf_id for entry in whole.entries)
        if not known:
            with suppress(NotFound):
                assert read_ending(file, "x", leaf_id=leaf_id) is None
            return
        ending = read_ending(file, "x", leaf_id=leaf_id)
        if ending is None:
            assert file.tell() == 0
            return
        expected = context_entries(leaf_path(whole.entries, leaf_id))
        got = context_entries(ending.transcript.entries)
        assert expected == got
        assert whole.raws_of(expected) == ending.transcript.raws_of(got)
        data = path.read_bytes()
        spans = list(zip(ending.offsets, ending.lengths, strict=True))
        assert [data[offset : offset + length] for offset, length in spans] == ending.transcript.raws
        assert set(ending.transcript.skipped) <= set(whole.skipped)
        outline = read_ending(file, "x", leaf_id=leaf_id, outline=True)
        assert ending[1:] == outline[1:]
        assert [e["id"] for e in got] == [e["id"] for e in context_entries(outline.transcript.entries)]
        full = read_ending(file, "x", leaf_id=leaf_id, until=to_root)
        # Further back there may be an entry whose links are not written down.
        assert full is None or leaf_path(whole.entries, leaf_id) == full.transcript.entries


def test_properties_see_both_ways(tmp_path):
    """The property above is not empty: one file that is read from its end, one that must be read whole."""
    path = tmp_path / "s.jsonl"
    written(path, [message("a", None), message("b", "a")], [], torn=False)
    with path.open("rb") as file:
        assert [e["id"] for e in read_ending(file, "x").transcript.entries] == ["a", "b"]
    written(path, [message("a", None), {"type": "message", "id": "b", "message": {}}], [], torn=False)
    with path.open("rb") as file:
        assert read_ending(file, "x") is None


@pytest.mark.parametrize(
    "header",
    [
        b'{"type":"session","id":"s"}',
        b'{"type":"session","version":2,"id":"s"}',
        b'{"type":"session","version":7,"id":"s"}',
        b'{"role":"user","content":"no header"}',
        b"",
    ],
)
def test_only_version_3_is_read_from_its_end(tmp_path, header):
    """Older files get ids from the lines before, excerpts parents: both are read whole."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(header + b"\n" + json.dumps(message("a", None)).encode() + b"\n")
    with path.open("rb") as file:
        assert read_ending(file, "x") is None
        assert file.tell() == 0


def test_nothing_before_the_first_kept_entry_is_read(tmp_path):
    """The lines before the cut may be anything: they are not looked at."""
    path = tmp_path / "s.jsonl"
    kept = [message("k", "gone"), message("l", "k"), compaction("c", "l", "k"), message("m", "c")]
    lines = [HEADER, *[b"not json " + b"x" * 90] * 9000, *[json.dumps(e).encode() for e in kept]]
    path.write_bytes(b"\n".join(lines) + b"\n")
    with path.open("rb") as file:
        ending = read_ending(file, "x")
    assert ["k", "l", "c", "m"] == [entry["id"] for entry in ending.transcript.entries]
    assert len(ending.transcript.skipped) == 0
    assert len(read(str(path)).skipped) == 9000


def test_lines_that_are_no_entries_keep_their_numbers(tmp_path):
    """A line passed over near the end is named by its number in the file."""
    path = tmp_path / "s.jsonl"
    lines = [HEADER, json.dumps(message("a", None)).encode(), b"", b"{", json.dumps(message("b", "a")).encode(), b"7"]
    path.write_bytes(b"\n".join(lines))
    with path.open("rb") as file:
        found = read_ending(file, "x").transcript.skipped
    assert [(4, "unparsable"), (6, "not-an-object")] == [(finding.line, finding.code) for finding in found]
    assert read_stream(io.BytesIO(b"\n".join(lines)), "x").skipped == found


def test_a_fifo_is_not_read_from_its_end():
    """What cannot be sought in is read whole."""
    with open("/dev/null", "rb") as file:
        assert read_ending(file, "x") is None


def test_an_outline_leaves_messages_in_the_file(tmp_path):
    """Contents stay on disk; what is derived from an entry needs the entry."""
    path = tmp_path / "s.jsonl"
    written(path, [message("a", None, "long" * 99), compaction("b", "a", "a")], [], torn=False)
    with path.open("rb") as file:
        outline = read_ending(file, "x", outline=True).transcript
    assert [None, None] == outline.raws
    assert "long" not in str(outline.entries)
    assert "S" == outline.entries[1]["summary"]
