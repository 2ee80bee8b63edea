import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.memory.sqlite.driver import connect
from oc.memory.stem import stem

_ENDINGS = """
ational tional enci anci izer logi bli alli entli eli ousli ization ation ator alism iveness fulness ousness aliti iviti
biliti icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent sion tion ou ism ate iti
ous ive ize ed ing eed s ies sses y ll e
"""
ENDINGS = _ENDINGS.split()
WORDS = [head + ending for head in ("", "b", "ab", "sky", "hopp", "fil", "conflat", "relat") for ending in ENDINGS]


def as_sqlite_does(words):
    connection = connect(":memory:", "memory")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(word, content='', tokenize='porter unicode61')")
    connection.executemany("INSERT INTO t (rowid, word) VALUES (?, ?)", enumerate(words))
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, instance)")
    found = dict(connection.execute("SELECT doc, term FROM v"))
    connection.close()
    return [found[at] for at in range(len(words))]


def test_every_ending_is_taken_off_as_the_index_does():
    assert as_sqlite_does(WORDS) == [stem(word) for word in WORDS]


@given(
    st.lists(
        st.builds(
            lambda head, ending, more: head + ending + more,
            st.text("aeioubdlstxyw", min_size=1, max_size=6),
            st.sampled_from(ENDINGS),
            st.sampled_from(["", "s", "ing", "ed", "ly"]),
        ),
        min_size=20,
        max_size=60,
    )
)
def test_made_up_words_are_stemmed_as_the_index_does(words):
    assert as_sqlite_does(words) == [stem(word) for word in words]


@given(st.text("aeioubdlstxyw", min_size=3, max_size=12))
def test_a_stem_without_its_last_letter_begins_the_word(word):
    """What match.py rests on when it looks for the words of a stem."""
    assert word.startswith(stem(word)[:-1])


@pytest.mark.parametrize("word", ["", "a", "is", "数据", "müller", "x" * 65])
def test_other_words_stay(word):
    assert word == stem(word)
