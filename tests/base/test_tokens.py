"""The three counters, and the rank file that ships."""

import base64
import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.base.text import len16, weight16
from oc.base.tokens import RANKS, Counter, counter, ranks_from, remembering
from oc.errors import NotFound, Usage
from tests.support import ROOT


@pytest.fixture(scope="module")
def exact():
    return counter("tiktoken")


def test_the_shipped_ranks_are_the_published_file():
    """o200k_base.xz expands to a rank file with the sha256 that the NOTICE gives."""
    with open(RANKS, "rb") as file:
        ranks = ranks_from(file.read())
    published = b"".join(base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())
    stated = re.search(r"sha256 of the original file: ([0-9a-f]{64})", (ROOT / "oc/data/NOTICE").read_text())
    assert hashlib.sha256(published).hexdigest() == stated[1]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("hello world", 2),
        ("The quick brown fox jumps over the lazy dog.", 10),
        ("", 0),
        ("<|endoftext|>", 7),
        ("你好，世界！", 4),
        ("a" * 100, 13),
    ],
)
def test_tiktoken_counts(exact, text, tokens):
    """Counts are those of o200k_base; a special token's name in a transcript is plain text."""
    assert exact.tokens([text]) == tokens


def test_tiktoken_takes_a_lone_surrogate(exact):
    """Half a character in a tool result is no reason to fail."""
    assert exact.tokens(["a\ud83d"]) >= 2


@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
        ("chars4", "abcde", 2),
        ("chars4", "一二三四五", 2),
        ("chars4", "😀", 1),
        ("estimate", "abcde", 2),
        ("estimate", "一二三四五", 5),
        ("estimate", "ab一", 2),
    ],
)
def test_rounding_is_up_and_wide_scripts_count_whole(name, text, tokens):
    assert counter(name).tokens([text]) == tokens


@given(st.lists(st.text(max_size=9)))
def test_a_message_is_rounded_once(texts):
    """The texts of a message count together: rounding each would overcount many small blocks."""
    joined = "".join(texts)
    assert counter("chars4").tokens(texts) == -(-len16(joined) // 4)
    assert counter("estimate").tokens(texts) == -(-weight16(joined) // 4)


@given(st.text())
def test_estimate_is_chars4_for_latin_and_never_below_it(text):
    """estimate() only ever adds; ASCII text counts alike."""
    chars4, estimate = counter("chars4").tokens([text]), counter("estimate").tokens([text])
    assert estimate == chars4 if text.isascii() else estimate >= chars4


def test_images_count_by_chars_whatever_the_counter(exact):
    """4,800 chars are 1,200 tokens in each of the three."""
    assert {c.tokens([], 4800) for c in (counter("chars4"), counter("estimate"), exact)} == {1200}


def test_the_name_says_which_encoding(exact):
    assert exact.name == "tiktoken:o200k_base"


@pytest.mark.parametrize("name", ["words", "", "tiktoken:none_base", "chars4:x"])
def test_unknown_counters_are_usage_errors(name):
    with pytest.raises(Usage) as caught:
        counter(name)
    assert caught.value.hint


def test_no_count_downloads(monkeypatch, tmp_path):
    """An encoding that is neither shipped nor cached is "not found", without a word to the network."""
    import tiktoken.load
    import tiktoken.registry

    monkeypatch.setattr(tiktoken.load, "read_file", tiktoken.load.read_file)
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    with pytest.raises(NotFound) as caught:
        counter("tiktoken:cl100k_base")
    assert "cl100k_base" in str(caught.value)


def test_a_counter_that_remembers_counts_each_text_once_and_alike():
    seen = []
    measure = remembering(Counter("words", lambda text: seen.append(text) or len(text.split()), 1))
    assert [5, 5] == [measure.tokens(["one two", "one two three"]), measure.tokens(["one two", "one two three"])]
    assert (["one two", "one two three"], "words") == (seen, measure.name)
