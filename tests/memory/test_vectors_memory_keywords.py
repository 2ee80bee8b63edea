import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.memory.keywords import keywords, tokens
from oc.memory.stopwords import KOREAN_PARTICLES, every_stop_word, stop_words
from tests.support import vectors


@vectors("memory-keywords")
def test_keywords(case):
    assert case.expected == {"keywords": keywords(case.input), "tokens": tokens(case.input)}


@vectors("memory-stopwords")
def test_stop_words(case):
    found = stop_words(case.input) if case.name.startswith("stop") else KOREAN_PARTICLES
    assert case.expected == list(found)


@pytest.mark.parametrize("text", ["", " \n", "...", "🎉 $ +", "12 34", "a an"])
def test_nothing_named(text):
    assert [] == keywords(text)


@given(st.text(max_size=40))
def test_keywords_are_distinct_tokens_and_no_stop_words(text):
    found = keywords(text)
    assert len(set(found)) == len(found)
    assert set(found) <= set(tokens(text)) - every_stop_word()
