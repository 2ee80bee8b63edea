"""The last resort of the reference: stored results shortened on a new branch (table context-session-truncate)."""

from itertools import count

from oc.agent.failure import is_overflow_text
from oc.base.text import len16
from oc.session.tree import leaf_path
from oc.window.overflow import blames_compaction, is_oversized, observed_tokens, shorten_stored
from tests.forms import expand, same
from tests.support import deviations, vectors

SHOWN = ("message", "customType", "data", "summary", "firstKeptEntryId")


def rewritten(given):
    """Returns what the reference's runner tells: the branch afterwards and the number of entries in the file."""
    entries = [entry for entry in given["entries"] if entry["type"] != "session"]
    numbers = count(1)
    path = leaf_path(entries)
    done = shorten_stored(
        path, window_tokens=given["contextWindowTokens"], new_id=lambda: f"new{next(numbers)}", measure=len16
    )
    if done is not None:
        parent = done.parent_id
        for entry in done.entries:
            assert entry["parentId"] == parent
            parent = entry["id"]
        entries += done.entries
    known = {entry["id"] for entry in path}
    branch = [
        {"type": e["type"], "kept": e["id"] in known, **{k: e[k] for k in SHOWN if k in e}} for e in leaf_path(entries)
    ]
    result = {"truncated": done is not None, "truncatedCount": len(done.rows) if done else 0}
    if done is None:
        result["reason"] = "no oversized tool results" if entries else "empty session"
    return {"result": result, "fileEntryCount": len(entries) + 1, "branch": branch}


@vectors("context-session-truncate", "truncateOversizedInSession")
def test_rewrite(case):
    assert same(case.expected, rewritten(expand(case.input)))


@vectors("context-session-truncate", "sessionLikelyOversized")
def test_likely(case):
    given = expand(case.input)
    found = any(is_oversized(message, given["contextWindowTokens"], len16) for message in given["messages"])
    assert case.expected is found


@vectors("context-session-truncate", "classifyOverflow")
def test_words_of_providers(case):
    text = case.input["text"]
    overflow = is_overflow_text(text)
    assert case.expected == {
        "overflow": overflow,
        "compactionFailure": overflow and blames_compaction(text),
        "observedTokens": observed_tokens(text),
    }


def test_d21_what_a_compaction_kept_stays_kept():
    """The reference's copy of the compaction points to an entry that is not on its branch."""
    import json

    from tests.support import VECTORS

    name = "session-truncate/compaction-entry-kept"
    assert f"context-session-truncate:{name}" in deviations()
    row = next(r for r in json.loads((VECTORS / "context-session-truncate.json").read_text()) if r["name"] == name)
    branch = rewritten(expand(row["input"]))["branch"]
    assert [entry.get("firstKeptEntryId") for entry in branch] == [None, None, None, "new1", None]
    expected = row["expected"]["branch"]
    expected[3]["firstKeptEntryId"] = "new1"
    assert same(expected, branch)


def test_every_function_of_the_table_is_run():
    import json

    from tests.support import VECTORS

    known = {"truncateOversizedInSession", "sessionLikelyOversized", "classifyOverflow"}
    assert known == {row["fn"] for row in json.loads((VECTORS / "context-session-truncate.json").read_text())}
