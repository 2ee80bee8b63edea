"""UTF-16 lengths and cuts, white space as JavaScript has it, wide characters, what reaches a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.base import text as t

ANY = st.text(st.characters(codec=None, categories=("L", "N", "P", "S", "Z", "C")))  # lone surrogates too


@pytest.mark.parametrize(
    ("text", "length"), [("", 0), ("abc", 3), ("é", 1), ("日本", 2), ("😀", 2), ("a😀日", 4), ("\ud83d", 1)]
)
def test_len16(text, length):
    """An emoji counts 2, a Chinese character 1, half a pair 1."""
    assert t.len16(text) == length


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 3, "a😀"),
        (0, 2, "a\ud83d"),
        (2, 4, "\ude00b"),
        (-1, None, "b"),
        (-3, -1, "😀"),
        (0, -9, ""),
        (-99, 1, "a"),
        (3, 1, ""),
        (4, None, ""),
    ],
)
def test_slice16(start, end, expected):
    """Indices are UTF-16 units, negative ones count from the end, as in JavaScript's slice."""
    assert t.slice16("a😀b", start, end) == expected


@given(ANY, st.integers(-12, 12), st.none() | st.integers(-12, 12))
def test_slice16_is_a_slice_of_the_units(text, start, end):
    """slice16 takes the same units as slicing the UTF-16 form would."""
    units = [text.encode("utf-16-le", "surrogatepass")[i : i + 2] for i in range(0, 2 * t.len16(text), 2)]
    assert t.slice16(text, start, end) == b"".join(units[start:end]).decode("utf-16-le", "surrogatepass")


@given(st.text(), st.integers(-3, 30))
def test_cut16_never_splits_a_pair(text, max_chars):
    """A cut is a prefix of at most that length, and at most one unit shorter than it could be."""
    cut = t.cut16(text, max_chars)
    assert text.startswith(cut)
    assert t.len16(cut) <= max(0, max_chars)
    assert cut == text or t.len16(cut) >= max_chars - 1
    cut.encode()


@given(st.text(), st.integers(-8, 8), st.none() | st.integers(-8, 8))
def test_whole16_drops_halves_at_both_edges(text, start, end):
    """whole16 is slice16 without the half characters that a cut leaves."""
    whole, sliced = t.whole16(text, start, end), t.slice16(text, start, end)
    whole.encode()
    assert whole in sliced
    assert t.len16(sliced) - t.len16(whole) in (0, 1, 2)


@given(ANY, ANY, st.integers(0, 12))
def test_find16(text, needle, start):
    """find16 answers in units, and what stands there is the needle."""
    at = t.find16(text, needle, start)
    assert (needle in text) or at == -1
    if at >= 0:
        assert t.slice16(text, at, at + t.len16(needle)) == needle


def test_find16_counts_pairs_as_two():
    assert t.find16("😀😀x", "x") == 4
    assert t.find16("x😀x", "x", 1) == 3
    assert t.find16("abc", "z") == -1


def test_sort_key16_orders_by_unit():
    """An astral character sorts before U+FF5E, whose unit is higher than any surrogate."""
    assert sorted(["～", "😀", "a", "Z"], key=t.sort_key16) == ["Z", "a", "😀", "～"]


def test_js_trim_is_not_strip():
    """U+FEFF goes, U+001C and U+0085 stay: str.strip() has it the other way round."""
    assert t.js_trim("\ufeff \u3000x\u0085\x1c ") == "x\u0085\x1c"
    assert t.js_trim_start("\n x ") == "x "
    assert t.js_trim_end(" x\u2028\n") == " x"


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("", 0),
        ("word", 4),
        ("é", 1),
        ("日", 4),
        ("，", 4),
        ("한글", 8),
        ("ｱ", 4),
        ("😀", 4),
        ("𠀀", 4),
        ("─", 4),
        ("aあb", 6),
    ],
)
def test_weight16(text, weight):
    """Wide characters weigh 4 quarter tokens whatever their length in units; Latin letters one."""
    assert t.weight16(text) == weight


@given(st.text(), st.text())
def test_weight16_adds_up_and_is_never_below_the_length(one, two):
    """Weights add up, so a count does not depend on how text is cut into pieces."""
    assert t.weight16(one + two) == t.weight16(one) + t.weight16(two)
    assert t.weight16(one) >= t.len16(one)


@given(ANY)
def test_without_lone_surrogates_is_writable(text):
    """Whatever came in, what goes out is valid UTF-8 of the same number of characters."""
    clean = t.without_lone_surrogates(text)
    clean.encode()
    assert len(clean) == len(text)


@pytest.mark.parametrize(("text", "width"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("👩\u200d💻", 4), ("ａ", 2)])
def test_columns(text, width):
    assert t.columns(text) == width


@given(ANY)
def test_neutral_text_cannot_drive_a_terminal(text):
    """No escape, no direction override, no carriage return is left; tabs and line feeds are."""
    assert not set(t.neutral(text)) & set("\x1b\x07\r\x7f\x9b\u202e\u2066\u200f")


def test_neutral_shows_what_was_there():
    assert t.neutral("a\x1b[31mb\u202ec\n\t") == "a\\x1b[31mb\\u202ec\n\t"


@given(st.text())
def test_one_line_can_be_read_back(text):
    """A field of a tab-separated line holds no tab and no line feed, and unescaping it gives the text."""
    field = t.one_line(text)
    assert not set(field) & set("\t\n\r")
    back = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}
    assert t.pattern(r"\\(.)").sub(lambda m: back[m[1]], field) == text


def test_pattern_compiles_once():
    assert t.pattern("[xyz]") is t.pattern("[xyz]")


@given(st.lists(st.sampled_from(["code ", "日", "→", "✓", "😀", "𝒳", "™", "é", "\ud83d"]), max_size=60))
def test_weight16_is_the_same_by_either_way(parts):
    """Text with a few symbols is weighed without the compiled classes; the sum over single characters agrees."""
    text = "x" * 120 + "".join(parts)
    assert t.weight16(text) == sum(t.weight16("日" * 99 + c) - 99 * 4 for c in text)
