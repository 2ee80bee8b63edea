import io
import json

import pytest

from oc.session.check import check_lines
from oc.session.lines import Lines
from oc.session.repair import repair

TIME = "2026-03-16T09:00:01.000Z"
HEADER = '{"type":"session","version":3,"id":"s","timestamp":"2026-03-16T09:00:00.000Z","cwd":"/w"}'


def entry(entry_id, parent, content="x", **more):
    """A line with a space that no writer puts there, by which kept bytes are told from bytes written anew."""
    body = {"type": "message", "id": entry_id, "parentId": parent, "timestamp": TIME}
    body["message"] = {"role": "user", "content": content}
    return json.dumps({**body, **more}, ensure_ascii=False)


def repaired(*lines, header=HEADER, end="\n"):
    found = repair(("\n".join([header, *lines]) + end).encode("utf-8", "surrogatepass"), "0a1b.jsonl")
    assert [] == [f for f in check_lines(Lines(io.BytesIO(found.data))) if f.severity == "error"]
    assert (found.data, []) == repair(found.data, "0a1b.jsonl")
    return found.data.decode().split("\n")[:-1], [(fix.line, fix.code, fix.action) for fix in found.fixes]


HUNG = (4, "missing-parent", "hang")
PIECE = '{"type":"message","id":"b","message":{"content":[{"type":"text","text":"x"}'
A, B, C = entry("a", None), entry("b", "a"), entry("c", "b")


@pytest.mark.parametrize(
    ("lines", "expected", "fixes"),
    [
        ([A, "junk", B], [A, B], [(3, "unparsable", "drop")]),
        ([A, "42", B], [A, B], [(3, "not-an-object", "drop")]),
        ([A + B, C], [A, B, C], [(2, "two-records", "split")]),
        ([A + " " + B + C], [A, B, C], [(2, "two-records", "split")]),
        ([A, B[:40] + C], [A, entry("c", "a")], [(3, "missing-parent", "hang"), (3, "two-records", "split")]),
        ([A, B + C[:40]], [A, B], [(3, "two-records", "split")]),
        # A piece of a broken record that is an object is no record.
        ([A, PIECE], [A], [(3, "unparsable", "drop")]),
        ([A, A, B], [A, B], [(3, "duplicate-id", "drop")]),
        ([A, entry("b", "gone"), C], [A, B, C], [(3, "missing-parent", "hang")]),
        ([entry("b", "gone"), C], [entry("b", None), C], [(2, "missing-parent", "hang")]),
        ([A, entry("b", 7)], [A, B], [(3, "bad-parent", "hang")]),
        ([entry("a", "a"), B], [A, B], [(2, "cycle", "hang")]),
        ([A, entry("b", "c"), C], [A, B, C], [(3, "cycle", "hang")]),
        ([A, entry("b", "a", type=3)], [A], [(3, "no-type", "drop")]),
        ([A, entry("b", "a", message=3), C], [A, entry("c", "a")], [(3, "no-message", "drop"), HUNG]),
        # Warnings and notes are no reason to touch a line.
        ([A, HEADER, entry("b", "c"), entry("c", "a", timestamp="soon"), entry("d", "c", type="future")], None, []),
    ],
    ids=lambda value: value[0][1] if value and isinstance(value[0], tuple) else "",
)
def test_what_is_done(lines, expected, fixes):
    assert ([HEADER, *(lines if expected is None else expected)], fixes) == repaired(*lines)


def test_a_second_entry_with_an_id_gets_its_own_and_later_ones_follow_it():
    lines, fixes = repaired(A, B, entry("a", "b", "y"), entry("d", "a"), entry("e", "d"))
    new = json.loads(lines[3])["id"]
    assert [A, B, entry(new, "b", "y"), entry("d", new), entry("e", "d")] == lines[1:]
    assert [(4, "duplicate-id", "rename"), (5, "duplicate-id", "hang")] == fixes


def test_an_entry_without_an_id_gets_one_and_keeps_its_bytes():
    bare = (
        '{"type": "message", "parentId": "a", "timestamp": "'
        + TIME
        + '", "message": {"role": "user", "content": 1.50}}'
    )
    lines, fixes = repaired(A, bare)
    assert [(3, "no-id", "rename")] == fixes
    assert lines[2].startswith(bare[:-1] + ',"id":"')


def test_only_the_field_that_changes_is_rewritten():
    """orjson would make 1e+22 of the number, and 1.5 of 1.50."""
    odd = (
        '{"id":"b", "big":12345678901234567890123,"f":1.50,"parentId" : "gone","type":"custom","timestamp":"'
        + TIME
        + '"}'
    )
    lines, _ = repaired(A, odd)
    assert odd.replace('"gone"', '"a"') == lines[2]


def test_a_field_that_stands_in_an_argument_too_is_not_mistaken():
    inner = {"parentId": "gone"}
    value = json.loads(entry("b", "gone")) | {"message": {"role": "assistant", "content": [{"arguments": inner}]}}
    lines, _ = repaired(A, json.dumps(value))
    assert {**value, "parentId": "a"} == json.loads(lines[2])


class TestHeaders:
    def test_a_header_further_down_goes_to_the_top(self):
        assert ([HEADER, A, B], [(2, "no-header", "move")]) == repaired(HEADER, B, header=A)

    def test_what_a_broken_header_still_says_is_kept(self):
        lines, _ = repaired(A, header=HEADER[:-1])
        assert json.loads(HEADER) == json.loads(lines[0])
        lines, _ = repaired(A, header=HEADER.replace('"id":"s"', '"id":7'))
        assert {**json.loads(HEADER), "id": "0a1b"} == json.loads(lines[0])

    def test_a_header_whose_type_is_damaged_is_still_one(self):
        for damaged in (HEADER.replace("session", "sess?on"), HEADER.replace("type", " ype")):
            lines, fixes = repaired(A, header=damaged)
            assert json.loads(HEADER).items() <= json.loads(lines[0]).items()
            assert ([A], [(1, "no-header", "add")]) == (lines[1:], fixes)

    def test_what_only_looks_like_one_is_an_entry_where_there_is_a_whole_one(self):
        assert [HEADER, A] == repaired(HEADER, A, header='{"cwd": null}')[0]
        odd = A.replace('"parentId": null', '"cwd": "/"')
        assert [HEADER, odd, B] == repaired(HEADER, B, header=odd)[0]

    def test_a_lost_header_takes_the_id_of_the_files_name_and_the_first_time(self):
        lines, fixes = repaired(B, header=A)
        assert {"type": "session", "version": 3, "id": "0a1b", "timestamp": TIME} == json.loads(lines[0])
        assert [(1, "no-header", "add")] == fixes
        assert "id" in json.loads(repair((A + "\n").encode(), "stdin").data.split(b"\n")[0])

    def test_entries_without_ids_are_of_version_1(self):
        old = [json.dumps({"type": "message", "message": {"role": "user", "content": n}}) for n in "ab"]
        lines, _ = repaired(*old[1:], header=old[0])
        assert ({"type": "session", "id": "0a1b"}, old) == (json.loads(lines[0]), lines[1:])

    def test_a_byte_order_mark_stays_where_it_may_stand(self):
        assert ["\ufeff" + HEADER, A] == repaired("junk", A, header="\ufeff" + HEADER)[0]
        assert [HEADER, A] == repaired(HEADER, header="\ufeff" + A)[0]


class TestCharacters:
    def test_halves_of_surrogate_pairs(self):
        text = r"\ud83d \ud83d\ude00 \\ud83d \ude00 \ud83d\ud83d\ude00"
        line = A.replace('"x"', f'"{text}"')
        want = r"\ufffd \ud83d\ude00 \\ud83d \ufffd \ufffd\ud83d\ude00"
        assert ([HEADER, A.replace('"x"', f'"{want}"')], [(2, "lone-surrogate", "replace")]) == repaired(line)

    def test_bytes_that_are_not_utf8(self):
        data = f"{HEADER}\n{A}\n".encode().replace(b'"x"', b'"\xff\xe4\xbd"')
        found = repair(data, "x")
        assert f"{HEADER}\n{A}\n".replace('"x"', '"\ufffd\ufffd"') == found.data.decode()
        assert ["bad-utf8"] == [fix.code for fix in found.fixes]

    def test_lines_with_carriage_returns_keep_them(self):
        assert ([HEADER + "\r", A + "\r", B + "\r"], [(2, "unparsable", "drop")]) == repaired(
            "junk\r", A + "\r", B + "\r", header=HEADER + "\r"
        )


def test_what_was_dropped_is_stepped_over():
    """The children of a dropped entry hang on its parent, not on whatever stands before them."""
    side = entry("side", "a")
    lines, _ = repaired(A, entry("b", "a", message=3), side, C)
    assert [A, side, entry("c", "a")] == lines[1:]


def test_an_old_file_keeps_its_chain():
    old = ['{"type":"message","message":{"role":"user"}}', "junk", '{"type":"message","message":{"role":"user"}}']
    lines, fixes = repaired(*old, header='{"type":"session","id":"s"}')
    assert ([old[0], old[2]], [(3, "unparsable", "drop")]) == (lines[1:], fixes)
