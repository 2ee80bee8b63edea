"""Writing a branch anew: new ids, and compactions that still know what they kept."""

from oc.agent.recover import copies
from oc.base.clock import Ids


def entry(entry_id, kind="message", **fields):
    return {"type": kind, "id": entry_id, "parentId": "p", **fields}


def test_ids_are_new_and_a_compaction_keeps_from_the_copy():
    given = [entry("a"), entry("b"), entry("c", "compaction", firstKeptEntryId="b"), entry("d")]
    known = {"a", "b", "c", "d"}
    a, b, c, d = copies(given, Ids("1"), known)
    assert not {"a", "b", "c", "d"} & {e["id"] for e in (a, b, c, d)}
    assert b["id"] == c["firstKeptEntryId"]
    assert {"a", "b", "c", "d", *(e["id"] for e in (a, b, c, d))} == known


def test_labels_and_branch_summaries_stay_behind():
    given = [
        entry("a", "label"),
        entry("b", "branch_summary"),
        entry("c"),
        entry("d", "compaction", firstKeptEntryId="b"),
    ]
    c, d = copies(given, Ids("1"), set())
    assert ["message", "compaction"] == [c["type"], d["type"]]
    assert c["id"] == d["firstKeptEntryId"]


def test_what_a_compaction_kept_before_the_copies_is_still_on_the_path():
    (d,) = copies([entry("d", "compaction", firstKeptEntryId="earlier")], Ids("1"), set())
    assert "earlier" == d["firstKeptEntryId"]
