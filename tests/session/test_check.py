import io
import json

import pytest

from oc.session.check import check, check_lines
from oc.session.lines import Lines
from oc.session.transcript import scan

TIME = "2026-03-16T09:00:01.000Z"
HEADER = '{"type":"session","version":3,"id":"s","timestamp":"2026-03-16T09:00:00.000Z","cwd":"/"}'


def entry(entry_id, parent, role="user", **message):
    return {
        "type": "message",
        "id": entry_id,
        "parentId": parent,
        "timestamp": TIME,
        "message": {"role": role, "content": "x", **message},
    }


def call(entry_id, parent, *ids, **more):
    content = [{"type": "toolCall", "id": i, "name": "read", "arguments": {}} for i in ids]
    return entry(entry_id, parent, "assistant", content=content, **more)


def half(entry_id, parent, **more):
    """A message whose stream was cut off inside a call."""
    content = [{"type": "toolCall", "id": "c1", "name": "read", "arguments": {}, "partialJson": '{"pa'}]
    return entry(entry_id, parent, "assistant", content=content, **more)


def result(entry_id, parent, call_id):
    return entry(entry_id, parent, "toolResult", toolCallId=call_id)


def compaction(entry_id, parent, kept):
    found = {"type": "compaction", "id": entry_id, "parentId": parent, "timestamp": TIME, "summary": "S"}
    return {**found, "firstKeptEntryId": kept} if kept else found


def findings(*lines, header=HEADER, end="\n"):
    text = "\n".join([header, *(x if isinstance(x, str) else json.dumps(x, ensure_ascii=False) for x in lines)]) + end
    data = text.encode("utf-8", "surrogatepass")
    lines = Lines(io.BytesIO(data))
    found = check_lines(lines)
    assert all(
        data[:offset].count(b"\n") == f.line - 1 for f in found if (offset := lines.offset(f.line)) or f.line == 1
    )
    return [(f.line, f.code) for f in found]


A, B = entry("a", None), entry("b", "a")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([A, B], []),
        ([], []),
        (["{broken", A], [(2, "unparsable")]),
        (["42", A], [(2, "not-an-object")]),
        ([json.dumps(A) + json.dumps(B)], [(2, "two-records")]),
        ([json.dumps(A)[:50] + json.dumps(B), B], [(2, "two-records"), (3, "missing-parent")]),
        ([entry("a", None, content="x\u2028y\u2029")], [(2, "line-separator")]),
        (
            [{**A, "timestamp": "2026-03-16T25:00:00.000Z"}, {**B, "timestamp": "2026-03-16T23:59:59Z"}],
            [(2, "bad-timestamp")],
        ),
        ([A, HEADER, B], [(3, "second-header")]),
        ([{k: v for k, v in A.items() if k != "id"}], [(2, "no-id")]),
        ([A, entry("a", None)], [(3, "duplicate-id")]),
        ([A, {k: v for k, v in B.items() if k != "parentId"}], [(3, "no-parent")]),
        ([A, entry("b", 7)], [(3, "bad-parent")]),
        ([A, entry("b", "gone")], [(3, "missing-parent")]),
        ([entry("a", "b"), entry("b", None)], [(2, "late-parent")]),
        ([entry("a", "a")], [(2, "cycle")]),
        ([A, entry("b", "c"), entry("c", "b"), entry("d", "c")], [(3, "cycle"), (3, "late-parent")]),
        ([{**A, "type": "future"}], [(2, "unknown-type")]),
        ([{**A, "type": 3}], [(2, "no-type")]),
        ([{**A, "timestamp": "soon"}], [(2, "bad-timestamp")]),
        ([{**A, "message": "x"}], [(2, "no-message")]),
        ([json.dumps(entry("a", None, content="\ud83d"))], [(2, "lone-surrogate")]),
        ([json.dumps(entry("a", None, content="\U0001f600 \\ud83d"))], []),
    ],
    ids=lambda value: value[0][1] if value and isinstance(value[0], tuple) else "",
)
def test_lines_and_tree(lines, expected):
    assert expected == findings(*lines)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([A, call("b", "a", "c1", "c2"), result("r", "b", "c1"), result("s", "r", "c2"), entry("u", "s")], []),
        ([A, call("b", "a", "c1", "c2"), result("r", "b", "c1")], []),  # still waiting at the leaf
        ([A, call("b", "a", "c1"), entry("u", "b")], [(3, "call-without-result")]),
        ([A, call("b", "a", "c1"), {**A, "id": "m", "parentId": "b", "type": "custom"}, result("r", "m", "c1")], []),
        ([A, result("r", "a", "c1")], [(3, "orphan-result")]),
        (
            [A, call("b", "a", "c1"), entry("u", "b"), result("r", "u", "c1")],
            [(3, "call-without-result"), (5, "misplaced-result")],
        ),
        ([A, call("b", "a", "c1"), result("r", "b", "c1"), result("s", "r", "c1")], [(5, "misplaced-result")]),
        ([A, call("b", "a", "c1", stopReason="aborted"), entry("u", "b")], []),
        ([A, half("b", "a", stopReason="aborted"), entry("u", "b")], [(3, "half-call")]),
        ([A, half("b", "a")], [(3, "half-call")]),
        # Two branches from one call: each has its own result, or none.
        ([A, call("b", "a", "c1"), result("r", "b", "c1"), result("s", "b", "c1")], []),
        ([A, call("b", "a", "c1"), result("r", "b", "c1"), entry("u", "b")], [(3, "call-without-result")]),
    ],
)
def test_calls_and_results(lines, expected):
    assert expected == findings(*lines)


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ("b", []),
        (None, [(6, "no-first-kept")]),
        ("side", [(6, "kept-off-path")]),
        ("gone", [(6, "kept-off-path")]),
        ("r", [(6, "cut-in-pair")]),
    ],
)
def test_what_a_compaction_keeps(kept, expected):
    lines = [A, call("b", "a", "c1"), result("r", "b", "c1"), entry("side", "a"), compaction("k", "r", kept)]
    assert expected == [f for f in findings(*lines) if f[0] == 6]


def test_versions_and_headers():
    assert [(1, "old-version")] == findings(
        '{"type":"message","message":{"role":"user"},"timestamp":"' + TIME + '"}', header='{"type":"session","id":"s"}'
    )
    newer = HEADER.replace('"version":3', '"version":7')
    assert [(1, "new-version"), (3, "missing-parent")] == findings(A, entry("b", "gone"), entry("c", "b"), header=newer)
    assert [(1, "no-header")] == findings(header=json.dumps(A))
    assert [(1, "no-header"), (1, "unparsable")] == findings(header="x")


def test_an_unfinished_line_is_told_from_a_broken_one():
    assert [(3, "torn")] == findings(A, '{"type":', end="")
    assert [(1, "no-header")] == findings(header="", end="")


def test_old_files_are_judged_as_they_are_read():
    old = '{"type":"session","version":1,"id":"s"}'
    lines = [call("x", "nonsense", "c1"), entry("x", "y"), {**compaction("k", None, None), "firstKeptEntryIndex": 2}]
    assert [(1, "old-version"), (2, "call-without-result")] == findings(*lines, header=old)


def test_messages_never_quote_the_line():
    skipped = []
    found = check(scan(io.BytesIO(b'sk-secret-123\n["sk-secret"]\n'), skipped), skipped)
    assert found
    assert not any("secret" in f.message for f in found)


def test_every_finding_has_the_byte_at_which_its_line_starts():
    data = f"{HEADER}\n数\n\n{json.dumps(A)}\n[1]\n{{".encode()
    lines = Lines(io.BytesIO(data))
    found = [(f.code, lines.offset(f.line)) for f in check_lines(lines)]
    assert [
        ("unparsable", data.index("数".encode())),
        ("not-an-object", data.index(b"[1]")),
        ("torn", len(data) - 1),
    ] == found


def test_bytes_that_are_not_utf8_are_told():
    data = f"{HEADER}\n{json.dumps(A)}\n".encode().replace(b'"x"', b'"\xff"')
    assert [(2, "bad-utf8")] == [(f.line, f.code) for f in check_lines(Lines(io.BytesIO(data)))]


def test_how_bad_a_half_written_call_is():
    """A turn that was broken off is no fault; sanitize takes the call out."""
    for stop, severity in (("aborted", "note"), ("error", "note"), ("toolUse", "warning")):
        data = f"{HEADER}\n{json.dumps(half('a', None, stopReason=stop))}\n".encode()
        assert [severity] == [f.severity for f in check_lines(Lines(io.BytesIO(data)))]


def test_lines_are_what_every_reader_sees():
    data = b"\xef\xbb\xbf" + HEADER.encode() + b"\n\x0b\n" + json.dumps(A).encode() + b'\r\n{"\n\xef\xbb\xbf{}\n7'
    lines, skipped = Lines(io.BytesIO(data)), []
    assert list(scan(io.BytesIO(data), skipped)) == list(lines)
    assert [f.line for f in skipped] == [f.line for f in lines.skipped]
