"""A transcript of its own made from one branch of another. Pure.

Behaviour follows Pi 0.58's createBranchedSession (table: sessions-manager).
"""

import math
from collections.abc import Sequence

from oc.base.clock import Ids
from oc.config.load import Config
from oc.errors import NotFound
from oc.session.entry import Entry, new_entry
from oc.session.tree import by_id, labels, leaf_path

DEFAULT_FORK_TOKENS = 100_000


def branch_entries(entries: Sequence[Entry], leaf_id: str, *, ids: Ids, timestamp: str) -> list[Entry]:
    """Returns the path to the leaf, entries keeping their ids, with its labels made anew at the end.

    An entry whose parent stays the same is the very dict that was given. Labels of entries that are not on the path are
    left behind. Raises NotFound for an unknown leaf.
    """
    if leaf_id not in by_id(entries):
        raise NotFound(f"no entry {leaf_id}")
    found: list[Entry] = []
    parent_id: str | None = None
    for entry in leaf_path(entries, leaf_id):
        if entry.get("type") != "label":
            same = "parentId" in entry and entry["parentId"] == parent_id
            found.append(entry if same else {**entry, "parentId": parent_id})
            parent_id = entry["id"]
    taken = {entry["id"] for entry in found}
    on_path = set(taken)
    for target, label in labels(entries).items():
        if target in on_path:
            entry_id = ids.entry(taken)
            taken.add(entry_id)
            found.append(new_entry("label", entry_id, parent_id, timestamp, {"targetId": target, "label": label}))
            parent_id = entry_id
    return found


def fork_limit_tokens(config: Config) -> int:
    """Returns how large a parent session may be for a thread to begin with its messages; 0: however large."""
    limit = config.get("session.parentForkMaxTokens")
    return math.floor(limit) if math.isfinite(limit) and limit >= 0 else DEFAULT_FORK_TOKENS
