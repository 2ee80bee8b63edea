"""Shortening where the table is silent: pairs at the cut, growth, untouched inputs."""

from hypothesis import given
from hypothesis import strategies as st

from oc.base.text import len16
from oc.message.cap import MAX_STORED_CHARS, MIN_KEPT_CHARS, STORED_SUFFIX, VIEW_SUFFIX, cap_stored, cap_text
from oc.message.shapes import texts


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


def test_a_string_is_held_to_the_hard_cap():
    """The reference caps lists of blocks only; nothing larger is stored in whatever form."""
    message = {"role": "toolResult", "toolCallId": "c", "content": "x" * (MAX_STORED_CHARS + 1)}
    capped = cap_stored(message)
    assert len(capped["content"]) == MAX_STORED_CHARS
    assert capped["content"].endswith(STORED_SUFFIX)
    assert cap_stored(capped) is capped


def test_more_blocks_than_can_keep_their_least_become_one():
    """300 blocks of 3,000 characters keep 2,151 each by the reference's rule, 645,300 together."""
    image = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
    content = [image, *({"type": "text", "text": f"{n} " + "x" * 3000} for n in range(300)), image]
    capped = cap_stored({"role": "toolResult", "content": content})
    assert [block["type"] for block in capped["content"]] == ["image", "text", "image"]
    assert MAX_STORED_CHARS - 3010 < len(texts(capped)[0]) <= MAX_STORED_CHARS
    assert texts(capped)[0].startswith("0 xxx")


@given(st.lists(st.tuples(st.integers(1, 999), st.sampled_from(["ab \n", "日志", "😀", "x failed}"])), max_size=260))
def test_what_is_stored_is_under_the_cap_and_settles(sizes):
    """Capping a capped result changes nothing."""
    content = [{"type": "text", "text": part * (size * 3)} for size, part in sizes]
    once = cap_stored({"role": "toolResult", "content": content})
    assert sum(map(len16, texts(once))) <= MAX_STORED_CHARS
    assert cap_stored(once) is once
