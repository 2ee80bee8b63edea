"""The tree that entries form by id and parentId, and the path from its root to a leaf. Pure.

Behaviour follows Pi 0.58 (table: sessions-context), except that a cycle ends the path instead of hanging.
"""

from collections.abc import Collection, Mapping, Sequence

from oc.errors import NotFound
from oc.session.entry import Entry

_SHORTEST_ID = 4  # of the start of one that is taken for it


def by_id(entries: Sequence[Entry]) -> dict[str, Entry]:
    """Returns the entries by id; of two with one id the later one counts."""
    return {entry["id"]: entry for entry in entries if isinstance(entry.get("id"), str)}


def leaf_path(entries: Sequence[Entry], leaf_id: str | None = None) -> list[Entry]:
    """Returns the path from the root to the leaf: the entry with that id, else the last of the list.

    A parent that is not there ends the path; so does one that was passed before.
    """
    if not entries:
        return []
    if leaf_id is None and _is_chain(entries):
        return list(entries)
    index = by_id(entries)
    entry: Entry | None = index.get(leaf_id, entries[-1]) if leaf_id is not None else entries[-1]
    path: list[Entry] = []
    passed: set[int] = set()
    while entry is not None and id(entry) not in passed:
        passed.add(id(entry))
        path.append(entry)
        parent = entry.get("parentId")
        entry = index.get(parent) if isinstance(parent, str) else None
    path.reverse()
    return path


def _is_chain(entries: Sequence[Entry]) -> bool:
    """Says whether each entry hangs on the one before, as in a session without branches, and no id comes twice."""
    ids = [entry.get("id") for entry in entries]
    parents = [entry.get("parentId") for entry in entries]
    if parents[0] is not None or parents[1:] != ids[:-1]:
        return False
    return all(type(entry_id) is str for entry_id in ids) and len(set(ids)) == len(ids)


def need_path(entries: Sequence[Entry], leaf_id: str | None, name: str) -> list[Entry]:
    """Returns the path to a leaf (None: the last entry); raises NotFound when no entry has that id."""
    if leaf_id is not None and not any(entry.get("id") == leaf_id for entry in entries):
        raise NotFound(f"no entry {leaf_id}", path=name)
    return leaf_path(entries, leaf_id)


def labels(entries: Sequence[Entry]) -> dict[str, str]:
    """Returns the label of each labelled entry, set, overwritten and cleared in file order."""
    found: dict[str, str] = {}
    for entry in entries:
        note_label(found, entry)
    return found


def note_label(found: dict[str, str], entry: Entry) -> None:
    """Puts a label into, or takes it out of, the labels so far; other entries change nothing."""
    target = entry.get("targetId")
    if entry.get("type") == "label" and isinstance(target, str):
        label = entry.get("label")
        if isinstance(label, str) and label:
            found[target] = label
        else:
            found.pop(target, None)


def session_name(entries: Sequence[Entry]) -> str | None:
    """Returns the newest name that was given, on whatever branch."""
    for entry in reversed(entries):
        name = entry.get("name")
        if entry.get("type") == "session_info" and isinstance(name, str) and name:
            return name
    return None


def entry_named(entries: Sequence[Entry], text: str, path: str) -> str:
    """Returns the id that a text means: an id, the start of one, or a label."""
    return id_named(by_id(entries), labels(entries), text, path)


def id_named(known: Collection[str], marks: Mapping[str, str], text: str, path: str) -> str:
    """Returns the id that a text means; raises NotFound when it means none, or more than one."""
    if text in known:
        return text
    marked = [target for target, label in marks.items() if label == text and target in known]
    found = marked or [entry_id for entry_id in known if len(text) >= _SHORTEST_ID and entry_id.startswith(text)]
    if len(found) == 1:
        return found[0]
    what = "more than one entry is" if found else "no entry"
    hint = f"near: {', '.join(found[:3])}" if found else None
    raise NotFound(f"{what} {text}", path=path, hint=hint)
