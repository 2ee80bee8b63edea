import math
import random

from hypothesis import given
from hypothesis import strategies as st

from oc.memory.decay import factor, moment_ms
from oc.memory.hybrid import Found, decayed, merge
from oc.memory.mmr import rerank
from tests.support import vectors


def found(row, score):
    return Found(row["id"], row["path"], row["startLine"], row["endLine"], row["source"], row["snippet"], row[score])


def ranked(given):
    hits = merge(
        [found(row, "vectorScore") for row in given["vector"]],
        [found(row, "textScore") for row in given["keyword"]],
        vector_weight=given["vectorWeight"],
        text_weight=given["textWeight"],
    )
    decay, mmr = given.get("temporalDecay"), given.get("mmr")
    if decay and decay["enabled"]:
        hits = decayed(
            hits,
            lambda h: factor(
                moment_ms(h.path, h.source, lambda: None), now_ms=given["nowMs"], half_life_days=decay["halfLifeDays"]
            ),
        )
    if mmr and mmr["enabled"]:
        hits = rerank(hits, mmr["lambda"], score=lambda h: h.score, text=lambda h: h.snippet)
    return hits


@vectors("memory-hybrid")
def test_merge(case):
    hits = ranked(case.input)
    shown = [(h.path, h.start_line, h.end_line, h.snippet, h.source) for h in hits]
    expected = [(e["path"], e["startLine"], e["endLine"], e["snippet"], e["source"]) for e in case.expected]
    assert expected == shown
    for hit, row in zip(hits, case.expected, strict=True):
        assert math.isclose(row["score"], hit.score, abs_tol=1e-6)


def hit(name, score, snippet="s"):
    return Found(name, f"memory/{name}.md", 1, 2, "memory", snippet, score)


def test_the_halves_stay_visible():
    both, keyword, vector = merge(
        [hit("a", 0.5), hit("v", 0.1)], [hit("a", 0.5), hit("k", 0.5)], vector_weight=0.7, text_weight=0.3
    )
    assert (0.5, 0.5) == (both.vector_score, both.text_score)
    assert (None, 0.5) == (keyword.vector_score, keyword.text_score)
    assert (0.1, None) == (vector.vector_score, vector.text_score)


def test_equal_scores_are_ordered_by_path_and_line():
    hits = merge([hit("b", 0.5), hit("c", 0.5), hit("a", 0.5)], [], vector_weight=1, text_weight=0)
    assert ["a", "b", "c"] == [h.id for h in hits]


HALF = st.lists(st.builds(hit, st.sampled_from("abcdef"), st.floats(0, 1), st.sampled_from(["", "x", "y"])), max_size=9)


@given(HALF, HALF, st.integers())
def test_the_order_of_input_does_not_show(vector, keyword, seed):
    mixed = random.Random(seed)
    again = mixed.sample(vector, len(vector)), mixed.sample(keyword, len(keyword))
    assert merge(vector, keyword, vector_weight=0.7, text_weight=0.3) == merge(
        *again, vector_weight=0.7, text_weight=0.3
    )


@given(HALF, HALF)
def test_every_chunk_comes_once_with_its_best_scores(vector, keyword):
    merged = merge(vector, keyword, vector_weight=0.7, text_weight=0.3)
    assert {h.id for h in vector} | {h.id for h in keyword} == {h.id for h in merged}
    assert len({h.id for h in merged}) == len(merged)
    for row in merged:
        assert max([h.score for h in vector if h.id == row.id], default=None) == row.vector_score
        assert max([h.score for h in keyword if h.id == row.id], default=None) == row.text_score
        assert 0 <= row.score <= 1
    assert sorted((h.score for h in merged), reverse=True) == [h.score for h in merged]
