import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.memory.match import closeness, places
from oc.memory.query import Unit, as_prefix, units


def words(text, query):
    return [text[place.start : place.end] for place in places(text, units(query))]


@pytest.mark.parametrize(
    ("text", "query", "found"),
    [
        ("Happy days, happiness", "happy", ["Happy", "happiness"]),
        ("restaged staging stages stage", "staging", ["staging", "stages", "stage"]),
        ("MÜLLER and Muller, Mullerin", "Müller", ["MÜLLER", "Muller"]),
        ("sqlite-vec, sqlite vec", "sqlite-vec", ["sqlite", "sqlite-vec", "vec", "sqlite", "sqlite vec", "vec"]),
        ("foo_bar-1 foo_bar-2", "foo_bar-1", ["foo", "foo_bar-1", "bar", "1", "foo", "bar"]),
        ("数据库x数据", "数据库", ["数据", "据库", "数据"]),
        ("部署AI工具", "AI工具", ["AI", "工具"]),
        ("xAI工具", "AI", []),
        ("İstanbul staging", "staging", ["staging"]),
        ("Привет, Сергей", "сергей", ["Сергей"]),
        ("", "x", []),
    ],
)
def test_places(text, query, found):
    assert found == words(text, query)


def test_a_beginning_finds_longer_words():
    prefix = as_prefix(units("deplo")[0])
    text = "Deployment, redeploy, deplorable"
    assert ["Deployment", "deplorable"] == [text[p.start : p.end] for p in places(text, [prefix])]


def test_words_count_as_close_within_a_reach_that_knows_the_script():
    units_ = [Unit('"a"', "a", "word", 1.0), Unit('"b"', "b", "word", 1.0)]
    near, far = "a" + " x" * 80 + " b", "a" + " x" * 100 + " b"
    assert [2.0, 1.0] == [closeness(text, places(text, units_), [1.0, 1.0]) for text in (near, far)]
    pair = units("部署 缓存")
    near, far = "部署" + "中" * 50 + "缓存", "部署" + "中" * 70 + "缓存"
    assert [2.0, 1.0] == [closeness(text, places(text, pair), [1.0, 1.0]) for text in (near, far)]


@given(st.text("ab 数据.é", max_size=80), st.text("ab 数据", max_size=8))
def test_closeness_is_at_most_the_mass_of_what_is_there(text, query):
    looked = units(query)
    masses = [float(at + 1) for at in range(len(looked))]
    found = places(text, looked)
    there = {place.unit for place in found}
    assert 0 <= closeness(text, found, masses) <= sum(masses[unit] for unit in there) + 1e-9
    assert sorted(found) == found
