"""What is summarised of a branch that is left."""

import io

import pytest

from oc.base.tokens import counter
from oc.compaction import branch, prompts
from oc.session.transcript import read_stream
from oc.session.tree import leaf_path
from tests.support import vectors

CHARS4 = counter("chars4")


@vectors("sessions-branch", "collectEntriesForBranchSummary")
def test_left_behind(case):
    entries = read_stream(io.BytesIO(case.input["file"].encode()), "x").entries
    old, new = (leaf_path(entries, case.input[name]) for name in ("oldLeafId", "targetId"))
    found = branch.left_behind(old, new)
    assert case.expected == {
        "entryIds": [entry["id"] for entry in found.entries],
        "commonAncestorId": found.common_id,
    }


@vectors("sessions-branch", "prepareBranchEntries")
def test_prepare(case):
    found = branch.prepare_branch(case.input["entries"], case.input["tokenBudget"], CHARS4)
    files = {name: sorted(paths) for name, paths in found.files._asdict().items()}
    expected = case.expected["fileOps"]
    assert case.expected["messages"] == found.messages
    assert case.expected["totalTokens"] == found.tokens
    assert {name: sorted(paths) for name, paths in expected.items()} == files


def message(entry_id, parent, role="user", content="x"):
    return {"type": "message", "id": entry_id, "parentId": parent, "message": {"role": role, "content": content}}


def test_branches_without_a_common_entry_are_left_whole():
    """Two roots share nothing."""
    old, new = [message("a", None), message("b", "a")], [message("c", None)]
    assert (old, None) == branch.left_behind(old, new)
    assert ([], None) == branch.left_behind([], new)


def test_a_question_has_the_branch_and_its_sections():
    """The last section of a compaction is left out: what cannot be done without is carried by the other branch."""
    found = branch.prepare_branch([message("a", None, content="try sqlite")], 0, CHARS4)
    asked = branch.question(found).prompt
    assert "[User]: try sqlite" in asked
    assert prompts.NEXT in asked
    assert prompts.CONTEXT not in asked


@pytest.mark.parametrize("details", [None, [], {"readFiles": "x"}, {"readFiles": [1, "a"]}])
def test_odd_details_are_no_files(details):
    """What other writers put there is not trusted."""
    entry = {"type": "branch_summary", "id": "a", "parentId": None, "summary": "S", "details": details}
    found = branch.prepare_branch([entry], 0, CHARS4)
    assert {"a"} >= set(found.files.read)
