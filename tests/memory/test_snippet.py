from hypothesis import given
from hypothesis import strategies as st

from oc.base.text import len16
from oc.memory.match import places
from oc.memory.query import units
from oc.memory.snippet import snippet

NOTE = """# 2026-03-16

## Staging

- the database moved
  to pg-b.internal
- 缓存 was cleared

## Lunch

We had soup.
It was hot.

- bread
"""


def shown(text, query, **how):
    looked = units(query)
    return snippet(text, places(text, looked), [1.0] * len(looked), **how)


def test_a_list_item_comes_with_its_continuation():
    assert ("- the database moved\n  to pg-b.internal", 4, 5) == shown(NOTE, "database")


def test_a_heading_that_matches_comes_with_what_follows():
    assert ("## Staging\n\n- the database moved\n  to pg-b.internal", 2, 5) == shown(NOTE, "staging")


def test_a_paragraph_stays_whole():
    assert ("We had soup.\nIt was hot.", 10, 11) == shown(NOTE, "soup")


def test_neighbours_are_shown_when_each_has_a_part_of_the_answer():
    assert (4, 6) == shown(NOTE, "database 缓存")[1:]


def test_a_far_away_weak_word_does_not_stretch_the_answer():
    looked = units("database bread")
    assert (4, 5) == snippet(NOTE, places(NOTE, looked), [1.0, 0.1])[1:]


def test_without_a_match_the_first_block_is_shown():
    assert ("# 2026-03-16", 0, 0) == shown(NOTE, "absent")


def test_a_long_line_is_cut_around_the_answer():
    line = "First things first. " * 60 + "The port is 5432 now. " + "And so on and on. " * 60
    got = shown(line, "port 5432", max_chars=200)
    assert len(got.text) <= 200
    assert got.text.startswith("First things first. ")
    assert "The port is 5432 now." in got.text


def test_the_end_of_a_long_line_fills_the_snippet():
    line = "一二三四五六七八九十。" * 100 + "端口是5432"
    got = shown(line, "端口", max_chars=100)
    assert 80 <= len(got.text) <= 100
    assert got.text.endswith("端口是5432")


@given(st.text("ab #-\n数据🙂.", max_size=300), st.text("ab数据", max_size=6), st.integers(1, 120))
def test_a_snippet_is_text_of_its_lines_and_within_its_limit(text, query, max_chars):
    got = shown(text, query, max_chars=max_chars)
    lines = text.split("\n")
    assert len16(got.text) <= max_chars
    assert got.text in "\n".join(lines[got.first : got.last + 1])
    assert 0 <= got.first <= got.last < len(lines)
    if got.first != got.last:
        assert got.text == "\n".join(lines[got.first : got.last + 1])
