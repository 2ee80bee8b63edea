"""The tree of a damaged transcript made whole: ids that are there once, parents that are there, no cycles. Pure.

An entry whose parent is lost follows the entry before it in the file: files only grow, so that is what its writer saw,
unless a branch began just there. Only ids and parents are ever changed, and the lines of other entries are not.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from oc.session.entry import Entry, derived_id


class Place(NamedTuple):
    """An entry's envelope: `id` and `parent` as they stand (`has_parent` tells an absent key from null)."""

    number: int
    raw: bytes
    id: Any
    parent: Any
    has_parent: bool


class Change(NamedTuple):
    """New values for the envelope of the entry `at` an index; `drop` for the second copy of a line."""

    at: int
    code: str
    message: str
    fields: Entry
    drop: bool = False


def retree(places: Sequence[Place], gone: dict[str, Any]) -> list[Change]:
    """Returns the changes that make a tree of the entries; `gone` are the parents of entries that were dropped."""
    work = _Tree(places, gone)
    for index, place in enumerate(places):
        work.add(index, place)
    work.join_late()
    work.break_cycles()
    return work.changes


class _Tree:
    def __init__(self, places: Sequence[Place], gone: dict[str, Any]) -> None:
        self.places = places
        self.gone = gone
        self.all_ids = {place.id for place in places if isinstance(place.id, str)}
        self.taken = set(self.all_ids)
        self.changes: list[Change] = []
        self.ids: dict[int, str] = {}  # of the entries that stay, by index
        self.now: dict[str, str] = {}  # what a parentId means at this line of the file
        self.first: dict[str, int] = {}
        self.parents: dict[int, int | None] = {}
        self.late: list[tuple[int, str]] = []
        self.before: dict[int, int | None] = {}  # the entry that stays before this one
        self.previous: int | None = None

    def add(self, index: int, place: Place) -> None:
        entry_id = self._id(index, place)
        if entry_id is None:
            return
        self.before[index] = self.previous
        self.parents[index] = self._parent(index, place)
        self.ids[index] = entry_id
        self.first.setdefault(entry_id, index)
        self.now[entry_id] = entry_id
        if isinstance(place.id, str):
            self.now[place.id] = entry_id
        self.previous = index

    def _id(self, index: int, place: Place) -> str | None:
        """Returns the id that the entry has from now on; None for the second copy of one."""
        if isinstance(place.id, str) and place.id not in self.first:
            return place.id
        if isinstance(place.id, str) and self.places[self.first[place.id]].raw.strip() == place.raw.strip():
            self._change(index, "duplicate-id", "the line stands there twice; the second one is dropped", drop=True)
            return None
        new = derived_id(place.raw, f"{index:08x}", self.taken)
        self.taken.add(new)
        if isinstance(place.id, str):
            text = f"the id {place.id} is taken; the entry and what hangs on it get the id {new}"
            self._change(index, "duplicate-id", text, id=new)
        else:
            self._change(index, "no-id", f"the entry gets the id {new}", id=new)
        return new

    def _parent(self, index: int, place: Place) -> int | None:
        """Returns the index of the entry's parent, None for a root; what is found further down is settled later."""
        name = place.parent
        if not place.has_parent:
            return self.previous
        if name is None:
            return None
        if not isinstance(name, str):
            return self._hang("bad-parent", index, self.previous)
        if name == place.id and name not in self.first:
            return index
        if name in self.now:
            parent = self.first[self.now[name]]
            if self.now[name] != name:
                self._change(index, "duplicate-id", f"the parent is now {self.now[name]}", parentId=self.now[name])
            return parent
        if name in self.all_ids:
            self.late.append((index, name))
            return None
        return self._lost(index, name)

    def _lost(self, index: int, name: str) -> int | None:
        """Hangs an entry whose parent is not in the file on the parent of what was dropped, else on the one before."""
        passed = set()
        wanted: Any = name
        while isinstance(wanted, str) and wanted in self.gone and wanted not in passed:
            passed.add(wanted)
            wanted = self.gone[wanted]
        if wanted is None:
            return self._hang("missing-parent", index, None)
        known = self.now.get(wanted) if isinstance(wanted, str) else None
        return self._hang("missing-parent", index, self.previous if known is None else self.first[known])

    def _hang(self, code: str, index: int, parent: int | None) -> int | None:
        parent_id = None if parent is None else self.ids[parent]
        text = "the entry becomes a root" if parent_id is None else f"the entry follows {parent_id} now"
        self._change(index, code, text, parentId=parent_id)
        return parent

    def _change(self, index: int, code: str, message: str, *, drop: bool = False, **fields: Any) -> None:
        self.changes.append(Change(index, code, message, fields, drop))

    def join_late(self) -> None:
        for index, name in self.late:
            self.parents[index] = self.first[name]

    def break_cycles(self) -> None:
        """Hangs the first entry of each cycle on the entry before it, or makes it a root where that closes another."""
        done: set[int] = set()
        for start in self.parents:
            passed: dict[int, None] = {}
            at: int | None = start
            while at is not None and at not in done and at not in passed:
                passed[at] = None
                at = self.parents[at]
            if at is not None and at not in done:
                ring = list(passed)[list(passed).index(at) :]
                first = min(ring)
                before = self.before[first]
                self.parents[first] = self._hang("cycle", first, None if self._leads_to(before, first) else before)
            done.update(passed)

    def _leads_to(self, start: int | None, wanted: int) -> bool:
        passed = set()
        while start is not None and start != wanted and start not in passed:
            passed.add(start)
            start = self.parents[start]
        return start is not None
