import io
import json
import os
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oc.base.text import JS_SPACE
from oc.errors import BadInput
from oc.session import tail
from oc.session.check import check
from oc.session.context import context_entries
from oc.session.tail import last_entries, lines_backward
from oc.session.transcript import append, read, read_stream, scan
from oc.session.tree import leaf_path

HEADER = b'{"type":"session","version":3,"id":"s"}'
NEW = {"type": "message", "id": "new", "message": {"role": "user", "content": "x"}}
ids = st.sampled_from(["a", "b", "c", "d", "e"])
parents = st.one_of(st.none(), ids)
values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=5)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=4,
)
messages = st.builds(
    lambda i, p, v: {"type": "message", "id": i, "parentId": p, "message": {"role": "user", "content": i}, "x": v},
    ids,
    parents,
    values,
)
compactions = st.builds(
    lambda i, p, k: {"type": "compaction", "id": i, "parentId": p, "summary": "S", "firstKeptEntryId": k},
    ids,
    parents,
    ids,
)
others = st.dictionaries(st.sampled_from(["type", "id", "parentId", "message", "timestamp"]), values)
entries = st.lists(st.one_of(messages, compactions, others), max_size=8)
good_lines = entries.map(
    lambda found: [json.dumps(e, ensure_ascii=False).encode("utf-8", "surrogatepass") for e in found]
)
any_lines = st.lists(st.one_of(st.binary(max_size=12), others.map(lambda e: json.dumps(e).encode())), max_size=8)


@given(any_lines)
def test_scan_takes_any_bytes_and_returns_the_lines_it_was_given(lines):
    data = b"\n".join(lines)
    skipped = []
    found = list(scan(io.BytesIO(data), skipped))
    physical = data.split(b"\n")
    assert all(physical[number - 1] == raw for number, raw, _ in found)
    assert not {number for number, _, _ in found} & {finding.line for finding in skipped}
    rest = set(range(1, len(physical) + 1)) - {n for n, _, _ in found} - {f.line for f in skipped}
    assert all(not physical[number - 1].decode("utf-8", "replace").strip(JS_SPACE) for number in rest)


@given(any_lines, st.booleans())
def test_any_file_is_read_or_refused_and_checked_without_a_fault(lines, header):
    data = b"\n".join([HEADER, *lines] if header else lines)
    skipped = []
    check(scan(io.BytesIO(data), skipped), skipped)
    try:
        transcript = read_stream(io.BytesIO(data), "x")
    except BadInput:
        return
    path = leaf_path(transcript.entries)
    context_entries(path)
    assert len(transcript.entries) == len(transcript.raws) == len(transcript.numbers)


@given(entries)
def test_a_path_goes_from_a_root_to_the_leaf(found):
    data = b"\n".join([HEADER, *(json.dumps(e).encode() for e in found)])
    transcript = read_stream(io.BytesIO(data), "x")
    path = leaf_path(transcript.entries)
    assert bool(path) is bool(transcript.entries)
    for parent, child in pairwise(path):
        assert parent["id"] == child["parentId"]
    if path:
        assert transcript.entries[-1] is path[-1]
        known = {entry["id"]: entry for entry in transcript.entries}
        root = known.get(path[0]["parentId"]) if isinstance(path[0]["parentId"], str) else None
        assert root is None or root in path  # a cycle
        if path[-1].get("type") == "message" and isinstance(path[-1].get("message"), dict):
            assert context_entries(path)[-1] is path[-1]


@given(st.binary(max_size=60), st.integers(1, 9))
def test_lines_from_the_end_are_the_lines(data, block):
    was = tail.BLOCK_BYTES
    tail.BLOCK_BYTES = block
    try:
        found = list(lines_backward(io.BytesIO(data), len(data)))
    finally:
        tail.BLOCK_BYTES = was
    assert data.split(b"\n") == [raw for _, raw in found][::-1] if data else found == [(0, b"")]
    assert all(data[offset : offset + len(raw)] == raw for offset, raw in found)


@given(good_lines, st.integers(0, 9))
def test_the_last_entries_are_the_last_of_all(lines, count):
    data = b"\n".join([HEADER, *lines, b""])
    expected = [raw for _, raw, value in scan(io.BytesIO(data), []) if value.get("type") != "session"]
    assert expected[max(0, len(expected) - count) :] == last_entries(io.BytesIO(data), len(data), count).lines


@settings(max_examples=100)
@given(
    lines=good_lines, cut=st.integers(0, 400), flip=st.integers(0, 400), mode=st.sampled_from(["cut", "flip", "glue"])
)
def test_an_append_keeps_every_byte_or_does_nothing(tmp_path_factory, lines, cut, flip, mode):
    data = b"\n".join([HEADER, *lines, b""])
    if mode == "cut":
        data = data[: max(len(HEADER) + 1, len(data) - cut)]
    elif mode == "flip" and len(data) > len(HEADER) + 2:
        at = len(HEADER) + 1 + flip % (len(data) - len(HEADER) - 1)
        data = data[:at] + bytes([data[at] ^ 0x21]) + data[at + 1 :]
    else:
        data = data.replace(b"\n{", b"{", 1) if len(lines) > 1 else data
    path = str(tmp_path_factory.getbasetemp() / "prop.jsonl")
    with open(path, "wb") as file:
        file.write(data)
    try:
        leaf = (read(path).entries or [{}])[-1].get("id")
        (added,) = append(path, [NEW])
    except BadInput:
        with open(path, "rb") as file:
            assert data == file.read()
        assert not os.path.exists(path + ".lock")
        return
    with open(path, "rb") as file:
        assert file.read().startswith(data)
    after = read(path)
    assert added == after.entries[-1]
    assert leaf == added["parentId"]


def test_properties_see_both_outcomes(tmp_path):
    """The property above is not empty: one file of each kind."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(HEADER + b"\n")
    assert append(str(path), [NEW])
    path.write_bytes(HEADER + b"\n{]\n")
    with pytest.raises(BadInput):
        append(str(path), [NEW])
