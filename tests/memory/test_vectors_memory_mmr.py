import math

from hypothesis import given
from hypothesis import strategies as st

from oc.memory.mmr import jaccard, rerank, words
from tests.support import vectors


@vectors("memory-mmr")
def test_mmr(case):
    given = case.input
    if given.get("op") == "jaccard":
        assert math.isclose(case.expected, jaccard(words(given["a"]), words(given["b"])), abs_tol=1e-6)
        return
    config = given["config"] or {}
    items = given["items"]
    if config.get("enabled"):
        items = rerank(items, config.get("lambda", 0.7), score=lambda i: i["score"], text=lambda i: i["content"])
    assert case.expected == [item["id"] for item in items]


def test_chinese_texts_are_compared_by_their_bigrams():
    """D7: in the reference any two Chinese texts are the same."""
    assert 0.5 == jaccard(words("数据库"), words("数据"))
    assert 0 == jaccard(words("部署流程"), words("数据库迁移"))
    assert {"gpu", "显存"} == words("GPU显存")


def test_words_of_any_script_count():
    assert {"müller", "сергей", "foo_bar", "2026"} == words("Müller Сергей foo_bar 2026")
    assert {"데이", "이터", "v2"} == words("데이터v2")
    assert {"部"} == words("部")


def test_near_repetitions_in_chinese_come_later():
    hits = [(0.9, "数据库迁移到新集群"), (0.89, "数据库迁移到新的集群"), (0.7, "发票每月五号寄出")]
    assert [0.9, 0.7, 0.89] == [h[0] for h in rerank(hits, 0.3, score=lambda h: h[0], text=lambda h: h[1])]


HITS = st.lists(st.tuples(st.floats(0, 1), st.text("ab 数据", max_size=6)), max_size=8)


@given(HITS, st.floats(-1, 2))
def test_every_hit_stays_and_the_best_is_first(hits, lambda_):
    order = rerank(hits, lambda_, score=lambda h: h[0], text=lambda h: h[1])
    assert sorted(hits) == sorted(order)
    if hits and lambda_ > 0:
        assert max(h[0] for h in hits) == order[0][0]


@given(HITS)
def test_similarity_is_symmetric_and_bounded(hits):
    for _, a in hits:
        for _, b in hits:
            assert 0 <= jaccard(words(a), words(b)) == jaccard(words(b), words(a)) <= 1
