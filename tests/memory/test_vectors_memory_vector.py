import math
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.memory.embed.vector import BadVector, cosine, pack, parse_vector, unit, unpack, vector_of
from tests.support import vectors


def run(given):
    if isinstance(given, str):
        return parse_vector(given)
    if "v" in given:
        return unit([float(value) for value in given["v"]])
    return cosine(given["a"], given["b"])


@vectors("memory-vector")
def test_vectors(case):
    assert pytest.approx(case.expected, abs=1e-6) == run(case.input)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([1.0, math.nan], "not finite"),
        ([math.inf, 0.0], "not finite"),
        ([0.0, 0.0], "all zero"),
        ([1e-12, 0.0], "all zero"),
        ([], "0 dimensions"),
        ([1.0], "1 dimensions, not 2"),
        ([1.0, 2.0, 3.0], "3 dimensions, not 2"),
        (None, "no list"),
        (["a", "b"], "no list"),
        ([[1], [2]], "no list"),
        (3, "no list"),
    ],
)
def test_what_is_no_direction_is_refused(values, why):
    with pytest.raises(BadVector, match=why):
        vector_of(values, 2)


def test_any_size_is_taken_while_none_is_known():
    assert 3 == len(vector_of([1, 2, 3], None))


def test_stored_bytes_are_little_endian_floats():
    assert b"\0\0\x80\x3f\0\0\0\xc0" == pack(array("f", [1.0, -2.0]))
    with pytest.raises(ValueError, match="multiple"):
        unpack(b"\0\0\x80")


NUMBERS = st.lists(st.floats(-1e30, 1e30, allow_nan=False), min_size=1, max_size=8)


@given(NUMBERS)
def test_a_vector_that_is_taken_has_length_1_and_survives_storage(values):
    try:
        vector = vector_of(values, None)
    except BadVector:
        assert math.hypot(*values) < 1e-10
        return
    assert math.isclose(1, math.hypot(*vector), abs_tol=1e-6)
    assert vector == unpack(pack(vector))
    assert math.isclose(1, cosine(values, vector), abs_tol=1e-6)


@given(NUMBERS, NUMBERS)
def test_a_cosine_is_symmetric_and_bounded(a, b):
    assert cosine(a, b) == cosine(b, a)
    assert -1.000001 <= cosine(a, b) <= 1.000001
