"""Shortening where the table is silent: pairs at the cut, growth, untouched inputs."""

from hypothesis import given
from hypothesis import strategies as st

from oc.base.text import len16
from oc.message.cap import MIN_KEPT_CHARS, VIEW_SUFFIX, cap_stored, cap_text


def test_a_pair_at_the_cut_is_not_split():
    cut = cap_text("a" * 2000 + "😀" * 3000, 5000)
    cut.encode()
    assert cut.endswith(VIEW_SUFFIX)
    assert len16(cut) in (4999, 5000)


def test_a_pair_at_the_start_of_the_tail_is_not_split():
    cap_text("😀" * 9000 + "x failed", 9001).encode()


@given(st.text(alphabet="ab \n😀数}", min_size=0, max_size=400).map(lambda s: s * 40), st.integers(2600, 20_000))
def test_never_longer_than_asked_and_never_invented(text, max_chars):
    cut = cap_text(text, max_chars)
    assert len16(cut) <= max(max_chars, MIN_KEPT_CHARS + len16(VIEW_SUFFIX))
    assert (cut == text) == (len16(text) <= max_chars)
    cut.encode()


def test_a_small_result_is_the_very_same():
    message = {"role": "toolResult", "content": [{"type": "text", "text": "x"}], "details": {"a": 1}}
    assert cap_stored(message) is message
