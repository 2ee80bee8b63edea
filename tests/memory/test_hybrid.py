"""The joint score: cosine and words on one scale."""

from hypothesis import given
from hypothesis import strategies as st

from oc.memory.hybrid import joint, strength
from oc.memory.rank import ENOUGH_EVIDENCE, ENOUGH_SCORE, rate

WEIGHTS = {"vector_weight": 0.7, "text_weight": 0.3}
SHARE = st.floats(0, 1)


def test_enough_of_one_half_is_enough():
    """Weights never drop an exact hit: D7."""
    exact = rate(1, 1, 1)
    assert joint(0, exact, **WEIGHTS) >= ENOUGH_SCORE
    assert joint(0, exact, vector_weight=1, text_weight=0) >= ENOUGH_SCORE
    assert joint(ENOUGH_SCORE, None, vector_weight=0, text_weight=1) >= ENOUGH_SCORE


def test_too_little_of_both_is_too_little():
    weak = rate(ENOUGH_EVIDENCE * 0.9, 1, ENOUGH_EVIDENCE * 0.9)
    assert joint(ENOUGH_SCORE * 0.9, weak, **WEIGHTS) < ENOUGH_SCORE
    assert 0 == joint(0, None, **WEIGHTS)


def test_weak_words_count_less_than_their_share():
    assert 1 == strength(rate(1, 1, 1))
    assert 0.125 == strength(rate(0.25, 1, 0.25))
    assert 0 == strength(rate(0, 1, 0))


def test_words_decide_between_equal_cosines_and_cosines_between_equal_words():
    word = rate(0.8, 1, 0.8)
    assert joint(0.6, word, **WEIGHTS) > joint(0.6, None, **WEIGHTS)
    assert joint(0.7, word, **WEIGHTS) > joint(0.6, word, **WEIGHTS)


@given(SHARE, SHARE, SHARE, SHARE, SHARE)
def test_a_joint_score_is_bounded_and_grows_with_the_cosine(low, high, coverage, bm25, closeness):
    low, high = sorted((low, high))
    rated = rate(coverage, bm25, min(closeness, coverage))
    assert 0 <= joint(low, rated, **WEIGHTS) <= joint(high, rated, **WEIGHTS) <= 1


@given(SHARE, SHARE, SHARE)
def test_words_never_lower_a_score(vector, coverage, bm25):
    assert joint(vector, rate(coverage, bm25, coverage), **WEIGHTS) >= joint(vector, None, **WEIGHTS)
