import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oc.base.text import weight16
from oc.memory.chunk import ESTIMATE, MIN_UNITS, REFERENCE, Chunk, chunk, remap, split_utf8

ALPHABET = st.sampled_from("ab .#-\n\n\r\t数据库。，🙂é\u0301\u200d👩")
TEXTS = st.text(ALPHABET, max_size=400)


def ours(text, tokens=8, overlap=2):
    return chunk(text, tokens=tokens, overlap=overlap, measure=ESTIMATE)


@given(TEXTS, st.integers(0, 20), st.integers(0, 30))
@example("数" * 100, 8, 2)
def test_no_chunk_is_over_budget(text, tokens, overlap):
    assert all(weight16(c.text) <= max(MIN_UNITS, 4 * tokens) for c in ours(text, tokens, overlap))


@given(TEXTS, st.integers(0, 20), st.integers(0, 30))
def test_chunks_hold_every_line_in_order_and_repeat_whole_lines_only(text, tokens, overlap):
    """Without what is repeated, the chunks are the text: cut lines put together again, the rest line by line."""
    budget = max(MIN_UNITS, 4 * tokens)
    lines = dict.fromkeys(range(1, text.count("\n") + 2), "")
    whole = text.split("\n")
    reached = 0
    for piece in ours(text, tokens, overlap):
        parts = piece.text.split("\n")
        for number, part in enumerate(parts, piece.start_line):
            if weight16(whole[number - 1]) > budget:
                lines[number] += part
            else:
                assert part == whole[number - 1]
                lines[number] = part
        assert len(parts) == piece.end_line - piece.start_line + 1
        assert piece.start_line <= reached + 1
        reached = piece.end_line
    assert whole == list(lines.values())


@given(
    st.lists(st.sampled_from(["a", "数", "é", "e\u0301", "👩\u200d👩\u200d👧", "👍🏽", " ", "。", "."]), max_size=60)
)
def test_cuts_lie_between_characters(characters):
    """Marks, joiners and skin tones stay with the character they belong to."""
    at, starts = 0, {0}
    for character in characters:
        at += len(character)
        starts.add(at)
    at = 0
    for piece in ours("".join(characters), 8, 0):
        assert at in starts
        at += len(piece.text)


@given(st.text(max_size=200), st.integers(1, 20), st.integers(0, 20))
def test_the_reference_measure_never_fails(text, tokens, overlap):
    chunks = chunk(text, tokens=tokens, overlap=overlap, measure=REFERENCE)
    assert chunks[-1].end_line == text.count("\n") + 1


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        ("One two three four. Five six seven eight nine.", ["One two three four.", " Five six seven eight nine."]),
        ("数据库迁移好了。部署还没有。", ["数据库迁移好了。", "部署还没有。"]),
        ("alpha beta gamma delta epsilon zeta", ["alpha beta gamma delta epsilon ", "zeta"]),
        ("x" * 40, ["x" * 32, "x" * 8]),
        ("🙂" * 10, ["🙂" * 8, "🙂" * 2]),
        ("é" * 15 + "e\u0301" * 9, ["é" * 15 + "e\u0301" * 8, "e\u0301"]),
        ("a" * 28 + "👩\u200d👩\u200d👧", ["a" * 28, "👩\u200d👩\u200d👧"]),
    ],
)
def test_a_long_line_is_cut_where_it_hurts_least(line, pieces):
    """After a sentence, else after a word, else between characters."""
    assert pieces == [c.text for c in ours(line, 8, 0)]


def test_overlap_is_whole_lines_that_fit():
    lines = [f"line number {n}" for n in range(6)]
    got = ours("\n".join(lines), 10, 4)
    assert [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6)] == [c[:2] for c in got]
    assert [(1, 2), (3, 4), (5, 6)] == [c[:2] for c in ours("\n".join(lines), 10, 3)]


def test_a_chinese_chunk_has_a_quarter_of_the_characters_of_an_english_one():
    text = "\n".join(["数据库迁移" * 8] * 40)
    assert {163, 368} == {len(c.text) for c in chunk(text, tokens=400, overlap=0, measure=ESTIMATE)}
    assert max(len(c.text) for c in chunk(text, tokens=400, overlap=0, measure=REFERENCE)) > 1500


def test_remap_keeps_a_line_that_has_no_place():
    assert [Chunk(9, 3, "x")] == remap([Chunk(2, 3, "x")], [5, 9])


@given(st.text(max_size=60), st.integers(4, 40))
def test_pieces_of_bytes_put_together_are_the_text(text, limit):
    pieces = split_utf8(text, limit)
    assert text == "".join(pieces)
    assert all(len(piece.encode("utf-8", "surrogatepass")) <= limit for piece in pieces)
