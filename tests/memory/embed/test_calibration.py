import math
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.memory.embed.calibration import Calibration, from_json, measured
from oc.memory.embed.probes import PROBES
from oc.memory.embed.vector import unit, vector_of
from tests.loopback_embeddings import embed

CALIBRATION = Calibration((array("f", [0.6, 0.2]), array("f", [0.1, 0.8])), 0.125)
QUERY = array("f", [1, 0])


def test_the_floor_is_that_of_the_nearest_language():
    assert pytest.approx(0.6) == CALIBRATION.floor(QUERY)
    assert pytest.approx(0.8) == CALIBRATION.floor(array("f", [0, 1]))


@pytest.mark.parametrize(("cosine", "score"), [(-1, 0), (0.6, 0), (0.725, 0.5), (0.85, 0.75), (0.975, 0.875)])
def test_half_of_the_scale_is_a_typical_answer(cosine, score):
    assert pytest.approx(score, abs=1e-6) == CALIBRATION.scorer(QUERY)(cosine)


def test_the_least_cosine_of_a_score():
    assert pytest.approx(0.725) == CALIBRATION.least_cosine(0.5, QUERY)
    assert CALIBRATION.least_cosine(0, QUERY) == -1
    assert CALIBRATION.least_cosine(1, QUERY) > 1


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_the_scale_never_falls(a, b):
    score = CALIBRATION.scorer(QUERY)
    low, high = sorted((a, b))
    assert 0 <= score(low) <= score(high) <= 1


@given(st.floats(0.01, 0.99))
def test_score_and_least_cosine_are_inverse(score):
    assert math.isclose(score, CALIBRATION.scorer(QUERY)(CALIBRATION.least_cosine(score, QUERY)), abs_tol=1e-6)


def test_what_an_index_keeps_reads_back():
    assert CALIBRATION == from_json(CALIBRATION.as_json())


@pytest.mark.parametrize(
    "stored",
    [
        {},
        {"typical": 0.1},
        {"typical": 0.1, "backgrounds": []},
        {"typical": 0, "backgrounds": ["0000803f"]},
        {"typical": math.nan, "backgrounds": ["0000803f"]},
        {"typical": "x", "backgrounds": ["0000803f"]},
        {"typical": 0.1, "backgrounds": ["xyz"]},
        {"typical": 0.1, "backgrounds": ["0000"]},
        {"typical": 0.1, "backgrounds": [3]},
        {"typical": 0.1, "backgrounds": ["0000803f", "0000803f0000803f"]},
    ],
)
def test_anything_else_is_no_calibration(stored):
    with pytest.raises(ValueError, match="no calibration"):
        from_json(stored)


def test_probes_are_pairs_of_many_languages_each_said_once():
    texts = [text for group in PROBES.values() for pair in group for text in pair]
    assert len(set(texts)) == len(texts)
    assert {"de", "en", "es", "ja", "ko", "ru", "zh"} <= set(PROBES)
    assert sorted(PROBES) == list(PROBES)


def test_a_model_is_measured_on_the_probes():
    calls = []

    def embedded(texts, is_query):
        calls.append(is_query)
        return [vector_of(embed(text), None) if any(embed(text)) else None for text in texts]

    found = measured(embedded)
    assert [False, True] == calls
    # The test embedder knows no Cyrillic, but some of the answers hold digits.
    assert len(PROBES) == len(found.backgrounds)
    assert 16 == len(found.backgrounds[0])
    assert found.typical >= 0.01


def test_a_model_for_which_all_texts_are_alike_gets_a_steep_scale():
    found = measured(lambda texts, _: [array("f", unit([1, 1])) for _ in texts])
    assert 0.01 == found.typical
    assert 0 == found.scorer(array("f", unit([1, 1])))(0.99)
