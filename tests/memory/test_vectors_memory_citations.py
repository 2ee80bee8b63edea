import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.base.text import len16
from oc.memory.cite import chat_type, citation, cited, clamp, includes, mode_of
from oc.memory.failure import unavailable
from tests.support import vectors


def run(given):
    if "budget" in given:
        return clamp([row["snippet"] for row in given["results"]], given["budget"])
    if "mode" in given:
        return {"include": includes(given["mode"], given["sessionKey"]), "chatType": chat_type(given["sessionKey"])}
    if "memory" in given:
        return mode_of(given["memory"]["citations"])
    return citation(given["path"], given["startLine"], given["endLine"])


@vectors("memory-citations")
def test_citations(case):
    if "error" in case.input:
        # The sentences are ours; which of the two is told must agree.
        found, expected = unavailable(case.input["error"]), case.expected
        assert list(expected) == list(found)
        quota = "quota" in expected["warning"]
        assert quota == ("quota" in found["warning"])
        assert {k: expected[k] for k in ("results", "disabled", "unavailable", "error")} == {
            k: found[k] for k in ("results", "disabled", "unavailable", "error")
        }
    elif "budget" in case.input:
        assert [row["snippet"] for row in case.expected] == run(case.input)
    else:
        assert case.expected == run(case.input)


def test_the_citation_stands_below_the_snippet():
    assert "text\n\nSource: MEMORY.md#L4" == cited("  text \n", "MEMORY.md", 4, 4)


@pytest.mark.parametrize("value", ["AUTO", True, 3, {}])
def test_any_other_value_is_auto(value):
    assert "auto" == mode_of(value)


@given(st.lists(st.text("aé数🎉", max_size=6)), st.integers(1, 20))
def test_what_is_kept_fits_and_is_a_prefix(snippets, budget):
    kept = clamp(snippets, budget)
    assert sum(map(len16, kept)) <= budget
    assert all(whole.startswith(part) for whole, part in zip(snippets, kept, strict=False))
