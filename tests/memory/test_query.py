import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.memory.query import MAX_UNITS, as_prefix, units, unseen
from oc.memory.sqlite.driver import connect
from oc.memory.text import TOKENS


def shown(query):
    return [(unit.kind, unit.text, unit.weight) for unit in units(query)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("staging", [("word", "staging", 1.0)]),
        ("where is the staging database?", [("word", "staging", 1.0), ("word", "database", 1.0)]),
        ("what is it", [("word", "what", 1.0), ("word", "is", 1.0), ("word", "it", 1.0)]),
        ("Staging staging", [("word", "staging", 1.0)]),
        ("Luke's", [("word", "luke", 1.0)]),
        ("sqlite-vec", [("phrase", "sqlite vec", 1.0), ("word", "sqlite", 1.0), ("word", "vec", 1.0)]),
        (
            "foo_bar-1",
            [("phrase", "foo bar 1", 1.0), ("word", "foo", 0.1), ("word", "bar", 0.1), ("word", "1", 0.1)],
        ),
        ("部署", [("pair", "部署", 1.0)]),
        ("部", [("char", "部", 1.0)]),
        ("的", [("char", "的", 0.3)]),
        ("数据库", [("pair", "数据", 1.0), ("pair", "据库", 1.0)]),
        ("部署在哪里", [("pair", "部署", 1.0), ("pair", "署在", 0.3), ("pair", "在哪", 0.3)]),
        ("什么", [("pair", "什么", 1.0)]),
        ("AI工具", [("word", "ai", 1.0), ("pair", "工具", 1.0)]),
        ("ＡＩ", [("word", "ai", 1.0)]),
        ("Mu\u0308ller", [("word", "muller", 1.0)]),
        ("Сергей", [("word", "сергеи", 1.0)]),
        ("e.g. staging", [("word", "staging", 1.0)]),
        ("", []),
        ("  \t\n", []),
        ("!?…。™", []),
    ],
)
def test_units(query, expected):
    assert expected == [(kind, text, round(weight, 4)) for kind, text, weight in shown(query)]


@pytest.mark.parametrize(
    "name",
    [
        "a.b@c.com",
        "memorySearch.query.hybrid",
        "2026-05-04",
        "pg-b.internal:5432",
        "x/y/z",
        "C:\\temp",
        "a=b",
        "https://x.y/z",
        "a::b",
    ],
)
def test_a_name_is_a_phrase_of_which_the_parts_are_weak_evidence(name):
    first, *parts = units(name)
    assert ("phrase", 1.0) == (first.kind, first.weight)
    assert 0.3 == pytest.approx(sum(part.weight for part in parts))


def test_an_unseen_hyphenated_word_counts_half_an_unseen_name_in_full():
    assert [0.5, 1.0] == [unseen(units(query)[0]).weight for query in ("long-term", "x-1")]


def test_only_words_of_three_letters_have_beginnings():
    assert ['"dep"*', None, None] == [
        (prefix := as_prefix(units(query)[0])) and prefix.match for query in ("dep", "de", "部署")
    ]


def test_a_long_query_is_cut():
    assert MAX_UNITS == len(units(" ".join(map(str, range(100_000)))))


@pytest.fixture(scope="module")
def index():
    connection = connect(":memory:", "memory")
    connection.execute(f"CREATE VIRTUAL TABLE t USING fts5(text, content='', tokenize='{TOKENS}')")
    yield connection
    connection.close()


def ask(index, query):
    match = " OR ".join(unit.match for unit in units(query))
    return index.execute("SELECT rowid FROM t WHERE t MATCH ?", (match,)).fetchall() if match else []


@given(st.text(st.characters() | st.sampled_from(string.punctuation), max_size=40))
def test_any_string_is_a_legal_query(index, query):
    assert [] == ask(index, query)


@pytest.mark.parametrize("sign", [*string.punctuation, "NEAR", "AND", "NOT", "OR", "\0", "\ud800", "'", '""', "*", "^"])
@pytest.mark.parametrize("form", ["{}", "a{}b", "{}a", "a{}", "a {} b", '"{}', "数{}据", "{0}{0}{0}"])
def test_no_sign_is_an_operator(index, sign, form):
    assert [] == ask(index, form.format(sign))
