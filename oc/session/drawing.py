"""A transcript's tree as it is drawn: roots, leaves, branches, what is on the leaf's path and what is dead. Pure.

Children stand in the order of their times, as Pi shows them; entries whose parent is not there are roots, and so is
one of each cycle.
"""

import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from oc.base.text import columns, cut16
from oc.message.shapes import calls, text
from oc.session.entry import Entry
from oc.session.tree import id_named, note_label

_SAID_CHARS = 120


class Node(NamedTuple):
    """An entry: `said` is the beginning of its text, on one line; `size` its line's bytes with the LF."""

    id: str
    parent_id: str | None
    kind: str
    said: str
    timestamp: str
    size: int
    on_path: bool = False
    label: str | None = None


class Tree(NamedTuple):
    """`children` are ids by parent; roots stand under None. `order` is the file's."""

    nodes: dict[str, Node]
    children: dict[str | None, list[str]]
    leaf_id: str | None


class Gathered:
    """Takes entries in the order of the file, each with its line's bytes, and keeps of each only what a tree shows."""

    def __init__(self) -> None:
        self.labels: dict[str, str] = {}
        self._nodes: dict[str, Node] = {}

    def add(self, entry: Entry, size: int) -> None:
        """Takes a linked entry; of two with one id the later one counts."""
        entry_id = entry["id"]
        self._nodes.pop(entry_id, None)
        self._nodes[entry_id] = _node(entry, size)
        note_label(self.labels, entry)

    def tree(self, leaf: str | None, name: str) -> Tree:
        """Returns the tree with the path to a leaf (None: the last entry); NotFound for a leaf that means no entry."""
        nodes = self._nodes
        leaf_id = next(reversed(nodes), None) if leaf is None else id_named(nodes, self.labels, leaf, name)
        path = set(_path(nodes, leaf_id))
        nodes = {
            entry_id: node._replace(on_path=entry_id in path, label=self.labels.get(entry_id))
            for entry_id, node in nodes.items()
        }
        children: dict[str | None, list[str]] = {None: []}
        for node in nodes.values():
            parent = node.parent_id if node.parent_id in nodes and node.parent_id != node.id else None
            children.setdefault(parent, []).append(node.id)
        _root_cycles(nodes, children)
        for siblings in children.values():
            siblings.sort(key=lambda entry_id: nodes[entry_id].timestamp)
        return Tree(nodes, children, leaf_id)


def _path(nodes: dict[str, Node], leaf_id: str | None) -> Iterator[str]:
    """Yields the ids from the leaf to its root; a cycle ends the path."""
    passed: set[str] = set()
    while leaf_id in nodes and leaf_id not in passed:
        yield leaf_id
        passed.add(leaf_id)
        leaf_id = nodes[leaf_id].parent_id


def _node(entry: Entry, size: int) -> Node:
    message = entry.get("message")
    role = message.get("role") if entry.get("type") == "message" and isinstance(message, dict) else None
    parent, stamp = entry.get("parentId"), entry.get("timestamp")
    kind = role if isinstance(role, str) else str(entry.get("type"))
    return Node(
        entry["id"],
        parent if isinstance(parent, str) else None,
        sys.intern(kind),
        _said(entry),
        stamp if isinstance(stamp, str) else "",
        size,
    )


def _said(entry: Entry) -> str:
    """Returns what an entry says in short: its text, else the tools it calls, else what it sets."""
    message = entry.get("message")
    if entry.get("type") == "message" and isinstance(message, dict):
        said = text(message, " ") or str(message.get("command") or "")
        called = [f"{call.get('name')}()" for call in calls(message)]
        said = said or " ".join(called)
    else:
        names = ("summary", "label", "name", "modelId", "thinkingLevel", "customType")
        said = next((value for name in names if isinstance(value := entry.get(name), str)), "")
    return " ".join(cut16(said, _SAID_CHARS).split())


def _root_cycles(nodes: dict[str, Node], children: dict[str | None, list[str]]) -> None:
    """Makes the first entry of each cycle a root, so that everything hangs on one."""
    reached = set(_below(children, children[None]))
    for entry_id, node in nodes.items():
        if entry_id not in reached:
            children[node.parent_id].remove(entry_id)
            children[None].append(entry_id)
            reached.update(_below(children, [entry_id]))


def _below(children: dict[str | None, list[str]], roots: Iterable[str]) -> Iterator[str]:
    waiting = list(roots)
    while waiting:
        entry_id = waiting.pop()
        yield entry_id
        waiting += children.get(entry_id, ())


def statistics(found: Tree) -> dict[str, Any]:
    """Returns counts and bytes: of all entries, and of those that no path to the leaf passes (dead)."""
    nodes = found.nodes.values()
    dead = [node for node in nodes if not node.on_path]
    leaves = [node for node in nodes if not found.children.get(node.id)]
    kinds: dict[str, int] = {}
    for node in nodes:
        kinds[node.kind] = kinds.get(node.kind, 0) + 1
    return {
        "entries": len(found.nodes),
        "bytes": sum(node.size for node in nodes),
        "roots": len(found.children[None]),
        "leaves": len(leaves),
        "branchPoints": sum(len(below) > 1 for parent, below in found.children.items() if parent is not None),
        "deadEntries": len(dead),
        "deadBytes": sum(node.size for node in dead),
        "kinds": dict(sorted(kinds.items())),
    }


def drawn(found: Tree, width: int, *, everything: bool = False) -> Iterator[str]:
    """Yields the tree as lines of at most `width` columns.

    A run of entries without a branch is its first and last one, with the number of those between, unless `everything`.
    The leaf is marked `*`, what is on its path `|`, what is dead has no mark.
    """
    waiting = [(root, "", "") for root in reversed(found.children[None])]
    while waiting:
        first, lead, follow = waiting.pop()
        run = _run(found, first)
        for place, entry_id in enumerate(run):
            if not everything and len(run) > 3 and 0 < place < len(run) - 1:
                if place == 1:
                    yield _fit(f"{follow}  ... {len(run) - 2} entries", width)
                continue
            yield _fit((lead if place == 0 else follow) + _line(found.nodes[entry_id], found.leaf_id), width)
        below = found.children.get(run[-1], [])
        for place, child in reversed(list(enumerate(below))):
            last = place == len(below) - 1
            waiting.append((child, follow + ("└─" if last else "├─"), follow + ("  " if last else "│ ")))


def _run(found: Tree, first: str) -> list[str]:
    """Returns the entries from one on up to where the tree branches or ends."""
    run = [first]
    while len(below := found.children.get(run[-1], [])) == 1:
        run.append(below[0])
    return run


def _line(node: Node, leaf_id: str | None) -> str:
    mark = "*" if node.id == leaf_id else "|" if node.on_path else " "
    label = f" [{node.label}]" if node.label else ""
    kind = node.kind + " " * max(0, 12 - columns(node.kind))
    return f"{mark} {node.id[:8]:8}  {kind} {node.said}{label}"


def _fit(line: str, width: int) -> str:
    """Cuts a line to that many terminal columns, wide characters counted as two."""
    if columns(line) <= width:
        return line.rstrip()
    used = 0
    for place, character in enumerate(line):
        used += columns(character)
        if used > width - 1:
            return line[:place].rstrip() + "…"
    return line
