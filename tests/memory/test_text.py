import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.base.text import weight16
from oc.memory.text import CJK_RUN, fold, in_run, index_text, is_letter, narrow, reading


@pytest.mark.parametrize(
    ("text", "indexed"),
    [
        ("plain ASCII", "plain ASCII"),
        ("数据库", " 数据 据库 库 "),
        ("库", " 库 "),
        ("用AI工具", " 用 AI 工具 具 "),
        ("x2数据y", "x2 数据 据 y"),
        ("データベース", " デー ータ タベ ベー ース ス "),
        ("마이그레이션을", " 마이 이그 그레 레이 이션 션을 을 "),
        ("ＡＢＣ１２３", "ABC123"),
        ("部署，上线。", " 部署 署 ， 上线 线 。"),
        ("Müller", "Müller"),
    ],
)
def test_index_text(text, indexed):
    assert indexed.split() == index_text(text).split()


def test_runs_end_at_line_feeds():
    """A chunk is indexed as its lines are, so that a row can be taken out by its text."""
    assert "\n".join(map(index_text, ["数据", "库x", "", "y"])) == index_text("数据\n库x\n\ny")


def test_a_character_is_in_a_run_if_the_class_says_so():
    runs = re.compile(CJK_RUN)
    assert [] == [hex(c) for c in range(0x110000) if bool(runs.match(chr(c))) != in_run(chr(c))]


@given(st.characters())
def test_no_character_is_a_letter_and_in_a_run(char):
    assert not (is_letter(char) and in_run(char))


@given(st.text())
def test_narrow_moves_nothing(text):
    assert len(text) == len(narrow(text))


@pytest.mark.parametrize(
    ("text", "folded"), [("Straße", "straße"), ("MÜLLER", "muller"), ("e\u0301", "e"), ("数", "数")]
)
def test_fold(text, folded):
    assert folded == fold(text)


@given(st.text() | st.text(st.sampled_from("a数库，。ＡＢ１é\n\r😀𠀀①ᄀ々"), max_size=80))
def test_one_look_gives_what_line_by_line_gives(text):
    lines, weights, terms = reading(text)
    assert text == "\n".join(lines)
    assert list(map(weight16, lines)) == weights
    assert list(map(index_text, lines)) == terms
