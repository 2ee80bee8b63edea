import io
import json
import os
import sys

import pytest

from oc.base.jsonl import parse
from oc.cli.app import App
from oc.cli.stream import Item, Report, read_items, write_items
from oc.errors import BadInput, NotFound, Usage

HEADER = b'{"type":"session","version":3,"id":"s"}'
A = b'{"type":"message","id":"a","parentId":null,"n":12345678901234567890123,"message":{"role":"user","content":"1"}}'
B = b'{"type":"compaction","id":"b","parentId":"a","timestamp":"2026-03-16T09:00:03.000Z","summary":"S"}'
C = b'{"type":"message", "id":"c","parentId":"b","message":{"role":"user","content":"3"}}'
M = b'{"role":"user", "content":"m"}'


@pytest.fixture
def given(tmp_path, monkeypatch):
    """Writes a file, or with no name stdin, and returns its name."""

    def write(*lines, name="s.jsonl", end=b"\n"):
        data = b"\n".join(lines) + end
        if name is None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
            return "-"
        path = tmp_path / name
        path.write_bytes(data)
        return str(path)

    return write


def app(tmp_path=None):
    made = App()
    made.set_flag("home", str(tmp_path or "/nonexistent"))
    return made


def raws(stream):
    return [item.raw for item in stream.items]


def test_a_transcript_yields_its_context(given):
    stream = read_items([given(HEADER, A, B, C)], app())
    assert ("entries", None) == (stream.kind, stream.header)
    assert [None, C] == raws(stream)
    assert ["compactionSummary", "user"] == [item.message["role"] for item in stream.items]
    assert "s" == stream.transcripts[0].header["id"]


def test_all_entries_yield_every_line_and_the_header(given, capfdbinary):
    stream = read_items([given(HEADER, A, b"junk", B, C)], app(), all_entries=True)
    assert (HEADER, [A, B, C]) == (stream.header.raw, raws(stream))
    write_items(App().out, stream, stream.items)
    sys.stdout.flush()
    out, err = capfdbinary.readouterr()
    assert b"\n".join([HEADER, A, B, C, b""]) == out
    assert b"1 line is no entry and left out: 3\n" in err


@pytest.mark.parametrize(("lines", "kind"), [([A, C], "entries"), ([M, M], "messages"), ([], "entries")])
def test_streams_without_a_header_are_taken_as_they_are(given, lines, kind):
    for name in ("s.jsonl", None):
        stream = read_items([given(*lines, name=name)], app())
        assert (kind, lines) == (stream.kind, raws(stream))


def test_an_old_transcript_is_read_as_version_3(given):
    old = [b'{"type":"session","id":"s"}', b'{"type":"message","message":{"role":"user","content":"1"}}']
    stream = read_items([given(*old)], app(), all_entries=True)
    assert stream.header.raw is None
    assert 3 == stream.header.value["version"]
    (item,) = stream.items
    assert item.raw.startswith(old[1][:-1])
    assert parse(item.raw) == item.value
    assert {"id", "parentId"} < set(item.value)


def test_only_what_changed_is_written_anew(given, capfdbinary):
    stream = read_items([given(A, C)], app())
    first, second = stream.items
    changed = second.with_message({**second.message, "content": "new"})
    assert first is first.with_message(first.message)
    write_items(App().out, stream, [first, changed])
    sys.stdout.flush()
    out = capfdbinary.readouterr()[0].splitlines()
    assert A == out[0]
    assert json.loads(C)["message"] | {"content": "new"} == json.loads(out[1])["message"]
    bare = Item(M, json.loads(M))
    assert bare.with_message(bare.message) is bare
    assert {"role": "x"} == bare.with_message({"role": "x"}).value


def test_several_sources_are_joined_and_shapes_not_mixed(given):
    one, two = given(A, name="one.jsonl"), given(C, name="two.jsonl")
    empty = given(name="empty.jsonl", end=b"")
    assert [A, C] == raws(read_items([empty, one, empty, two], app()))
    with pytest.raises(BadInput) as caught:
        read_items([one, given(M, name="m.jsonl")], app())
    assert caught.value.path.endswith("m.jsonl")


@pytest.mark.parametrize(("lines", "number"), [([A, M], 2), ([M, M, A], 3), ([b"junk", b"[]"], 1), ([A, HEADER, M], 3)])
def test_mixed_and_unreadable_streams_are_refused_with_the_line(given, lines, number):
    with pytest.raises(BadInput) as caught:
        read_items([given(*lines)], app())
    assert number == caught.value.line


def test_sources_that_are_not_there(tmp_path):
    with pytest.raises(NotFound):
        read_items([str(tmp_path / "none.jsonl")], app())
    with pytest.raises(NotFound):
        read_items(["nobody"], app(tmp_path))
    with pytest.raises(IsADirectoryError):
        read_items([str(tmp_path) + "/"], app())


def test_a_terminal_is_no_input(monkeypatch):
    ours, theirs = os.openpty()
    with open(theirs, encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        with pytest.raises(Usage):
            read_items([], app())
    os.close(ours)


def test_a_report_has_a_line_for_each_decision(tmp_path):
    path = tmp_path / "why.jsonl"
    with Report(str(path)) as report:
        report.add("prune", "soft_trim", entry_id="a", chars_before=9, tool=None)
        report.add("prune", "summary")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [
        {"stage": "prune", "action": "soft_trim", "entryId": "a", "charsBefore": 9},
        {"stage": "prune", "action": "summary"},
    ] == lines
    with Report(None) as report:
        report.add("prune", "summary")
    with pytest.raises(IsADirectoryError):
        Report(str(tmp_path))
