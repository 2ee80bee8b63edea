import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.memory.embed.cached import Cached
from oc.memory.embed.interface import Embedder, Failure
from oc.memory.embed.vector import pack
from tests.loopback_embeddings import embed


class Words:
    def __init__(self):
        self.asked = []

    def embed(self, texts, *, is_query):
        self.asked.append((list(texts), is_query))
        if "down" in texts:
            raise Failure("down")
        if "bad" in texts:
            raise Failure("bad text", of_text=True)
        return [embed(text) for text in texts]


def cached(store, identity="id", **more):
    def get(keys):
        return {key: store[key] for key in keys if key in store}

    return Cached(Embedder("test", "words", identity, Words(), **more), get, store.update)


def asked(found):
    return [text for texts, _ in found.embedder.engine.asked for text in texts]


def test_a_question_is_embedded_once():
    store = {}
    first, again = cached(store), cached(store)
    vector = first.embed_query("a b")
    assert vector == again.embed_query("a b")
    assert (["a b"], []) == (asked(first), asked(again))


def test_question_and_passage_of_the_same_words_are_two():
    store = {}
    found = cached(store)
    found.embed_query("a")
    found.embed_passages(["a"])
    assert [True, False] == [is_query for _, is_query in found.embedder.engine.asked]
    assert 2 == len(store)


def test_another_model_has_keys_of_its_own():
    store = {}
    cached(store).embed_query("a")
    other = cached(store, identity="other")
    other.embed_query("a")
    assert ["a"] == asked(other)


def test_a_text_that_comes_twice_is_embedded_once():
    told = []
    found = cached({})
    vectors = found.embed_passages(["a", "b", "a", ""], told.append).vectors
    assert ["a", "b"] == asked(found)
    assert vectors[0] == vectors[2]
    assert [1, 2] == told


def test_what_was_obtained_is_stored_also_when_other_texts_failed():
    store = {}
    found = cached(store, batch_texts=1).embed_passages(["a", "bad", "b", "bad"])
    assert [(1, "bad text"), (3, "bad text")] == found.problems
    assert [True, False, True, False] == [vector is not None for vector in found.vectors]
    again = cached(store)
    again.embed_passages(["a", "b"])
    assert [] == asked(again)


def test_a_failure_of_the_engine_is_told_beside_what_the_store_had():
    store = {}
    cached(store).embed_passages(["a"])
    with pytest.raises(Failure):
        cached(store).embed_passages(["a", "down"])
    found = cached(store, batch_texts=1).embed_passages(["a", "b", "down"])
    assert [(None, "down")] == found.problems
    assert [True, True, False] == [vector is not None for vector in found.vectors]


@pytest.mark.parametrize("blob", [b"", b"123", pack(cached({}).embed_query("x"))[:8]])
def test_a_broken_vector_of_the_store_counts_as_missing(blob):
    store = {}
    found = cached(store, dims=16)
    store[found.key("a", is_query=True)] = blob
    assert pytest.approx(embed("a"), abs=1e-6) == list(found.embed_query("a"))
    assert ["a"] == asked(found)


@given(st.lists(st.lists(st.sampled_from(["a", "b", "c d", "部", "\ud800x"]), max_size=5), max_size=4))
def test_the_store_changes_nothing_but_the_work(rounds):
    store = {}
    for texts in rounds:
        kept, plain = cached(store), cached({})
        assert plain.embed_passages(texts) == kept.embed_passages(texts)
        assert len(set(asked(kept))) == len(asked(kept))
    assert len({text for texts in rounds for text in texts}) == len(store)
