"""What of a branch is in the context of its leaf."""

from hypothesis import given
from hypothesis import strategies as st

from oc.session.context import context_entries

kinds = st.sampled_from(["message", "message", "message", "compaction", "branch_summary", "label", "model_change"])


@st.composite
def branches(draw):
    """A path from root to leaf; each compaction keeps from some entry before it on, as a sound one does."""
    path = []
    for number, kind in enumerate(draw(st.lists(kinds, min_size=1, max_size=14))):
        entry = {"type": kind, "id": f"e{number}", "parentId": f"e{number - 1}" if number else None}
        if kind == "message":
            entry["message"] = {"role": "user", "content": f"{number}"}
        elif kind != "label":
            entry["summary"] = f"{number}"
        if kind == "compaction":
            entry["firstKeptEntryId"] = f"e{draw(st.integers(0, max(0, number - 1)))}"
        path.append(entry)
    return path


@given(branches())
def test_an_entry_is_before_the_cut_or_in_the_context(path):
    """Nothing between the cut and the leaf is lost, and nothing stands there twice."""
    shown = [entry["id"] for entry in context_entries(path)]
    assert len(shown) == len(set(shown))
    newest = max((n for n, entry in enumerate(path) if entry["type"] == "compaction"), default=None)
    cut = 0
    if newest is not None:
        cut = next(n for n, entry in enumerate(path) if entry["id"] == path[newest]["firstKeptEntryId"])
        assert path[newest]["id"] == shown[0]
    silent = ("label", "model_change")
    due = {
        entry["id"]
        for n, entry in enumerate(path)
        if n >= cut and entry["type"] not in silent and (entry["type"] != "compaction" or n == newest)
    }
    assert due == set(shown)


@given(branches())
def test_the_context_ends_at_the_leaf(path):
    """Unless the leaf says nothing, or is the compaction that folds what is before it."""
    shown = context_entries(path)
    if path[-1]["type"] in ("message", "branch_summary"):
        assert path[-1]["id"] == shown[-1]["id"]
    elif path[-1]["type"] == "compaction":
        assert path[-1]["id"] == shown[0]["id"]
