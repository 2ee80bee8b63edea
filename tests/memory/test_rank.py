import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.memory.query import units
from oc.memory.rank import ENOUGH_EVIDENCE, ENOUGH_SCORE, masses, rarity, rate

SHARES = st.floats(0, 1)


@given(st.integers(0, 10**6), st.data())
def test_the_rarer_the_heavier(chunks, data):
    holding = data.draw(st.integers(0, max(0, chunks)))
    assert rarity(chunks, holding) > rarity(chunks, holding + 1) > 0


def test_in_a_small_store_a_word_of_every_note_still_counts():
    assert rarity(1, 1) == rarity(50, 1) > 3


@given(SHARES, SHARES, SHARES)
def test_a_score_is_a_share_and_grows_with_every_part(coverage, bm25, closeness):
    score = rate(coverage, bm25, closeness).score
    assert 0 <= score <= 1
    assert rate(min(1, coverage + 0.1), bm25, closeness).score >= score
    assert rate(coverage, min(1, bm25 + 0.1), closeness).score >= score
    assert rate(coverage, bm25, min(1, closeness + 0.1)).score >= score


@given(SHARES)
def test_an_exact_hit_is_never_dropped(bm25):
    assert rate(1.0, bm25, 1.0).score >= ENOUGH_SCORE


@pytest.mark.parametrize(("evidence", "enough"), [(0.0, False), (0.149, False), (ENOUGH_EVIDENCE, True), (1.0, True)])
def test_too_little_evidence_scores_below_the_default_minimum(evidence, enough):
    assert enough is (rate(evidence, 1.0, evidence).score >= ENOUGH_SCORE)


def test_an_unseen_pair_between_seen_ones_only_spans_two_words():
    looked = units("部署缓存队列")
    assert ["部署", "署缓", "缓存", "存队", "队列"] == [unit.text for unit in looked]
    all_unseen = masses(looked, [0] * 5, 100)
    between = masses(looked, [3, 0, 3, 0, 0], 100)
    assert 0 == between[1] < between[3] < all_unseen[3]
    assert between[4] == all_unseen[4]
