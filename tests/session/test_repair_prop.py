"""Any damage to a valid transcript is repaired to one that passes the check, and repairing that changes nothing."""

import io
import json
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from oc.errors import BadInput
from oc.session.check import check_lines
from oc.session.lines import Lines
from oc.session.repair import repair

TIME = "2026-03-16T09:00:01.000Z"
HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": TIME, "cwd": "/w"}


def line(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


@st.composite
def transcripts(draw):
    """A valid transcript: turns with calls and results, a branch here and there, compactions, labels."""
    entries = []

    def add(kind, **fields):
        back = draw(st.sampled_from([0, 0, 0, 0, 1, 2])) if entries and kind != "result" else 0
        parent = entries[-1 - back]["id"] if len(entries) > back else None
        entries.append({"type": kind, "id": f"e{len(entries)}", "parentId": parent, "timestamp": TIME, **fields})

    texts = st.text(st.sampled_from('ab"\\{}\n数\u2028\U0001f600'), max_size=6)
    for _ in range(draw(st.integers(0, 6))):
        match draw(st.sampled_from(["user", "call", "compaction", "label", "nested"])):
            case "user":
                add("message", message={"role": "user", "content": draw(texts)})
            case "call":
                call = {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": draw(texts)}}
                add("message", message={"role": "assistant", "content": [call]})
                add("message", message={"role": "toolResult", "toolCallId": "c", "content": draw(texts)})
            case "nested":
                inner = {"type": "message", "id": "e0", "parentId": None, "message": {"role": "user"}}
                call = {"type": "toolCall", "id": "d", "name": "write", "arguments": {"entry": inner}}
                add("message", message={"role": "assistant", "content": [call]})
            case "compaction" if entries:
                add("compaction", summary=draw(texts), firstKeptEntryId=entries[-1]["id"])
            case "label" if entries:
                add("label", targetId=entries[0]["id"], label=draw(texts))
    return [line(HEADER), *map(line, entries)]


@st.composite
def damaged(draw):
    lines = draw(transcripts())
    data = bytearray(b"\n".join(lines) + b"\n")
    for _ in range(draw(st.integers(1, 4))):
        size = len(data)
        at = draw(st.integers(0, max(0, size - 1)))
        match draw(st.sampled_from(["cut", "glue", "swap", "flip", "tear", "double", "lose", "junk"])):
            case "cut":
                del data[at:]
            case "tear":  # a piece out of the middle
                del data[at : at + draw(st.integers(1, 40))]
            case "glue":
                place = data.find(b"\n", at)
                if place >= 0:
                    del data[place]
            case "flip" if size:
                data[at] = draw(st.integers(0, 255))
            case "junk":
                data[at:at] = draw(st.binary(max_size=5))
            case kind:
                parts = bytes(data).split(b"\n")
                i, j = draw(st.integers(0, len(parts) - 1)), draw(st.integers(0, len(parts) - 1))
                if kind == "swap":
                    parts[i], parts[j] = parts[j], parts[i]
                elif kind == "double":
                    parts.insert(j, parts[i])
                else:
                    del parts[i]
                data = bytearray(b"\n".join(parts))
    return bytes(data)


def errors(data):
    return [f for f in check_lines(Lines(io.BytesIO(data))) if f.severity == "error"]


@given(damaged())
def test_the_result_passes_the_check_and_a_second_repair_changes_nothing(data):
    try:
        repaired = repair(data, "x.jsonl")
    except BadInput:
        values = [value for _, _, value in Lines(io.BytesIO(data))]
        assert not any(isinstance(value.get("type"), str) and value["type"] != "message" for value in values)
        return
    assert [] == errors(repaired.data), repaired.fixes
    assert (repaired.data, []) == repair(repaired.data, "x.jsonl")
    if not repaired.fixes:
        assert data == repaired.data


@given(damaged())
def test_a_line_that_was_not_in_question_keeps_its_bytes_and_its_place(data):
    try:
        repaired = repair(data, "x.jsonl")
    except BadInput:
        return
    touched = {fix.line for fix in repaired.fixes}
    kept = [raw for number, raw in enumerate(data.split(b"\n"), 1) if number not in touched and raw.strip()]
    after = iter(repaired.data.split(b"\n"))
    assert all(any(raw == other for other in after) for raw in kept)


@given(transcripts())
def test_a_valid_transcript_needs_nothing(lines):
    data = b"\n".join(lines)
    assert [] == errors(data)
    assert (data, []) == repair(data, "x.jsonl")
    assert (data + b"\n", []) == repair(data + b"\n", "x.jsonl")


@given(transcripts(), st.data())
def test_lines_that_were_glued_come_apart_as_they_were(lines, data):
    """What a writer without a line feed did is undone to the byte."""
    joints = data.draw(st.lists(st.booleans(), min_size=len(lines) - 1, max_size=len(lines) - 1))
    glued = lines[0] + b"".join((b"" if joint else b"\n") + part for joint, part in zip(joints, lines[1:], strict=True))
    assert b"\n".join(lines) == repair(glued, "x.jsonl").data.removesuffix(b"\n")


@given(transcripts(), st.data())
def test_nothing_is_made_up(lines, data):
    """Each record of the result was one of the file; a torn one adds nothing."""
    if len(lines) < 3:
        return
    at = data.draw(st.integers(1, len(lines) - 2))
    keep = data.draw(st.integers(1, len(lines[at]) - 1))
    torn = b"\n".join(lines[:at]) + b"\n" + lines[at][:keep] + b"\n".join(lines[at + 1 :])
    after = repair(torn, "x.jsonl").data.splitlines()
    payloads = Counter(json.dumps(json.loads(raw).get("message")) for raw in lines)
    payloads.subtract(json.dumps(json.loads(raw).get("message")) for raw in after)
    assert min(payloads.values()) >= 0


scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=4,
)
names = st.sampled_from(["a", "b", "c"])
odd_entries = st.fixed_dictionaries(
    {},
    optional={
        "type": st.one_of(st.sampled_from(["session", "message", "compaction", "label", "future"]), values),
        "id": st.one_of(names, values),
        "parentId": st.one_of(st.none(), names, values),
        "timestamp": st.one_of(st.just(TIME), values),
        "message": st.one_of(st.just({"role": "user"}), values),
        "version": st.one_of(st.sampled_from([1, 2, 3, 7, "3"]), values),
        "cwd": values,
        "firstKeptEntryId": st.one_of(names, values),
        "firstKeptEntryIndex": values,
    },
)
odd_lines = st.lists(
    st.one_of(odd_entries.map(lambda e: json.dumps(e).encode()), st.binary(max_size=8), st.just(line(HEADER))),
    max_size=7,
)


@given(odd_lines, st.sampled_from([b"\n", b"\r\n", b"", b"\n\n"]))
def test_any_file_is_repaired_or_refused(lines, joint):
    data = joint.join(lines)
    try:
        repaired = repair(data, "x.jsonl")
    except BadInput:
        return
    assert [] == errors(repaired.data), repaired.fixes
    assert (repaired.data, []) == repair(repaired.data, "x.jsonl")
