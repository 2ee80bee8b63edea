"""What all embedders have in common, around an engine that counts words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.errors import BadInput, Unavailable
from oc.memory.embed.batches import in_parallel, packed
from oc.memory.embed.interface import Embedder, Failure
from tests.loopback_embeddings import DIMS, embed


class Words:
    """The test embedder of the tables; keeps what it was asked."""

    def __init__(self):
        self.asked = []

    def embed(self, texts, *, is_query):
        self.asked.append((list(texts), is_query))
        return [embed(text) for text in texts]


def embedder(**more):
    return Embedder("test", "words", "id", Words(), **more)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (" a b\n", "a b"),
        ("a\0b", "ab"),
        ("a\u3000", "a"),
        ("a \ud800 b", "a \ufffd b"),
        ("部" * 4000, "部" * 2666),
        ("a" * 9000, "a" * 8000),
        ("🎉" * 2001, "🎉" * 2000),
    ],
)
def test_texts_are_made_ready(text, asked):
    """A NUL would end a C string, a line feed at the end moves the vector, half a character is none."""
    found = embedder()
    found.embed_passages([text])
    assert [([asked], False)] == found.engine.asked


def test_a_question_is_cut_earlier_than_a_passage():
    found = embedder()
    found.embed_query("a" * 100_000)
    found.embed_queries(["部" * 3000])
    assert [(["a" * 2000], True), (["部" * 666], True)] == found.engine.asked


@pytest.mark.parametrize("text", ["", " \n\t", "\0"])
def test_a_blank_question_is_refused_and_a_blank_passage_has_no_vector(text):
    found = embedder()
    with pytest.raises(BadInput, match="blank"):
        found.embed_query(text)
    assert ([None], [(0, "blank")]) == tuple(found.embed_passages([text]))
    assert [] == found.engine.asked


def test_nothing_asked_nothing_done():
    assert ([], []) == tuple(embedder().embed_passages([]))


def test_the_first_vector_sets_the_size():
    found = embedder()
    assert found.dims is None
    found.embed_query("a")
    assert DIMS == found.dims


def test_a_known_size_is_held_against_the_engine():
    with pytest.raises(Unavailable, match="16 dimensions, not 3"):
        embedder(dims=3).embed_query("a")
    assert [(0, "the vector has 16 dimensions, not 3")] == embedder(dims=3).embed_passages(["a"]).problems


def test_progress_counts_every_text_that_is_not_blank():
    told = []
    embedder(batch_texts=2).embed_passages(["a", "", "b", "c"], told.append)
    assert [2, 1] == told


def test_batches_are_bounded_by_bytes_and_by_number():
    found = embedder(batch_bytes=10, batch_texts=3)
    found.embed_passages(["a", "b", "c", "d", "x" * 20, "部部部", "y"])
    assert [["a", "b", "c"], ["d"], ["x" * 20], ["部部部", "y"]] == [texts for texts, _ in found.engine.asked]


def test_a_calibration_is_measured_once_with_two_calls():
    found = embedder(batch_bytes=1 << 20)
    calibration = found.calibrated()
    assert calibration is found.calibrated()
    assert [False, True] == [is_query for _, is_query in found.engine.asked]


def test_a_calibration_that_cannot_be_measured_is_told():
    class Broken(Words):
        def embed(self, texts, *, is_query):
            return [super(Broken, self).embed([], is_query=is_query) for _ in texts]

    with pytest.raises(Unavailable, match="test embeddings cannot be measured: the vector has 0 dimensions"):
        Embedder("test", "words", "id", Broken()).calibrated()


@given(st.lists(st.integers(0, 30), max_size=12), st.integers(1, 40), st.none() | st.integers(1, 4))
def test_packing_keeps_order_and_bounds(sizes, max_bytes, max_items):
    batches = packed(sizes, max_bytes, max_items)
    assert list(range(len(sizes))) == [index for batch in batches for index in batch]
    for batch in batches:
        assert len(batch) == 1 or sum(sizes[index] for index in batch) <= max_bytes
        assert max_items is None or len(batch) <= max_items


@given(st.lists(st.integers(), max_size=20), st.integers(0, 5))
def test_results_come_in_order_however_many_work(items, workers):
    assert [item * 2 for item in items] == list(in_parallel(lambda item: item * 2, items, workers))


def test_closing_early_starts_nothing_more():
    started = []
    results = in_parallel(lambda item: started.append(item) or item, range(1000), 2)
    assert 0 == next(results)
    results.close()
    before = len(started)
    assert [] == list(results)
    assert len(started) <= before + 2


WORDS = st.text("ab 部", max_size=5)


@given(st.lists(WORDS, max_size=12), st.sets(st.sampled_from(["a", "b", "部"]), max_size=2), st.integers(1, 3))
def test_every_text_gets_its_own_vector_whatever_else_fails(texts, bad, workers):
    """Texts that hold a bad character fail their whole batch; no other text may notice."""

    class Picky(Words):
        def embed(self, texts, *, is_query):
            if any(char in text for text in texts for char in bad):
                raise Failure("bad character", of_text=True)
            return super().embed(texts, is_query=is_query)

    found = Embedder("test", "words", "id", Picky(), workers=workers, batch_texts=4)
    good = [text for text in texts if text.strip() and not bad & set(text)]
    try:
        vectors, problems = found.embed_passages(texts)
    except Failure:
        assert good == []
        return
    for n, text in enumerate(texts):
        if text.strip() and not bad & set(text):
            assert pytest.approx(embed(text), abs=1e-6) == list(vectors[n])
        else:
            assert vectors[n] is None
            assert n in [problem.text for problem in problems]
