"""What `oc session gc` would do in a sessions folder, step by step, with the bytes of each. Pure.

A step takes a row out of sessions.json, puts a transcript away (`<name>.deleted.<time>`), or deletes what was put away
long ago or what nobody owns any more. Transcripts that no row names are orphans, unless another one was forked from
them: then they are its history.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from oc.session import maintain
from oc.session.archive import archive_name, archived_at, is_primary, is_rotated
from oc.session.maintain import File, Settings, referenced
from oc.session.store import Store, store_text


class Folder(NamedTuple):
    """What is known of a folder.

    `dead` are lock and temporary files without an owner, with the reason; `forked` are transcripts that others name as
    what they were forked from; `protected` are keys in lower case.
    """

    store: Store
    files: Sequence[File]
    store_bytes: int = 0
    dead: Mapping[str, str] = {}
    forked: frozenset[str] = frozenset()
    protected: frozenset[str] = frozenset()


class Step(NamedTuple):
    """`action`: remove a row, archive a transcript, delete a file, rotate the store, keep a row that would go.

    `name` is a key or a file, `target` what it is renamed to.
    """

    action: str
    kind: str
    name: str
    bytes: int
    reason: str
    target: str | None = None


class Plan(NamedTuple):
    """`store` is what sessions.json is to hold; `total_bytes` what the folder holds now, `freed_bytes` what goes."""

    steps: list[Step]
    store: Store
    total_bytes: int
    freed_bytes: int
    budget: maintain.Budget | None

    @property
    def acts(self) -> bool:
        return any(step.action != "keep" for step in self.steps)


def plan(folder: Folder, rules: Settings, now_ms: int, *, all_orphans: bool = False) -> Plan:
    """Returns the steps in the order in which they are taken; `all_orphans` takes young ones too."""
    work = _Tidying(folder, rules, now_ms)
    work.rows()
    work.transcripts()
    work.archives()
    work.orphans(all_orphans=all_orphans)
    work.ownerless()
    work.budget()
    work.rotation()
    total = folder.store_bytes + sum(file.bytes for file in folder.files if file.name != "sessions.json")
    freed = sum(step.bytes for step in work.steps if step.action == "delete")
    return Plan(work.steps, work.store, total, freed, work.spent)


class _Tidying:
    def __init__(self, folder: Folder, rules: Settings, now_ms: int) -> None:
        self.folder = folder
        self.rules = rules
        self.now_ms = now_ms
        self.steps: list[Step] = []
        self.store = dict(folder.store)
        self.files = {file.name: file for file in folder.files}
        self.removed: list[str] = []
        self.spent: maintain.Budget | None = None

    def rows(self) -> None:
        """Takes out rows by age, then by number; names the protected ones that would have gone."""
        kept = self.folder.protected
        for key in maintain.stale_keys(self.store, self.rules, self.now_ms, kept):
            self._remove(key, "cron run" if maintain.is_cron_run(key) else "row", "not used for longer than its time")
        for key in maintain.capped_keys(self.store, self.rules.max_entries, kept):
            self._remove(key, "row", f"beyond the newest {self.rules.max_entries}")
        for key in self.store:
            if key.lower() in kept and maintain.stale_keys({key: self.store[key]}, self.rules, self.now_ms):
                self.steps.append(Step("keep", "row", key, 0, "protected; not used for longer than its time"))

    def _remove(self, key: str, kind: str, reason: str) -> None:
        size = len(store_text({key: self.store.pop(key)}))
        self.steps.append(Step("remove", kind, key, size, reason))
        self.removed.append(key)

    def transcripts(self) -> None:
        """Puts away the transcripts of removed rows that no other row uses."""
        gone = referenced([self.folder.store[key] for key in self.removed], self.files)
        for name in sorted(gone - referenced(self.store.values(), self.files)):
            self._archive(name, "transcript", "its row is removed")

    def _archive(self, name: str, kind: str, reason: str) -> None:
        file = self.files.pop(name)
        target, count = archive_name(name, "deleted", self.now_ms), 1
        while target in self.files:
            count += 1
            target = archive_name(name, "deleted", self.now_ms, count)
        self.files[target] = file._replace(name=target)
        self.steps.append(Step("archive", kind, name, file.bytes, reason, target))

    def archives(self) -> None:
        """Deletes archives that are older than their time by their name."""
        for reason, keep_ms in (("deleted", self.rules.prune_after_ms), ("reset", self.rules.reset_archive_ms)):
            if keep_ms is None:
                continue
            for name in sorted(self.files):
                since = archived_at(name, reason)
                if since is not None and self.now_ms - since > keep_ms:
                    self._delete(name, "archive", f"{reason} longer ago than archives are kept")

    def _delete(self, name: str, kind: str, reason: str) -> None:
        self.steps.append(Step("delete", kind, name, self.files.pop(name).bytes, reason))

    def orphans(self, *, all_orphans: bool) -> None:
        """Puts away transcripts without a row that were not written to for as long as a row would be kept.

        Without a store every transcript looks like one: then only when that is asked for.
        """
        if not self.folder.store_bytes and not all_orphans:
            return
        used = referenced(self.store.values(), self.files) | self.folder.forked
        oldest = self.now_ms - self.rules.prune_after_ms
        for name in sorted(self.files):
            if is_primary(name) and name not in used and (all_orphans or self.files[name].modified_ms < oldest):
                self._archive(name, "orphan", "no row names it, nothing was forked from it")

    def ownerless(self) -> None:
        for name in sorted(self.folder.dead):
            if name in self.files:
                self._delete(name, "lock" if name.endswith(".lock") else "temporary", self.folder.dead[name])

    def budget(self) -> None:
        """Deletes until the folder fits the budget, if one is set."""
        if self.rules.max_disk_bytes is None:
            return
        self.spent = maintain.budget(self.store, self.files.values(), self.rules, self.folder.protected)
        for key in self.spent.keys:
            self._remove(key, "row", "over the disk budget")
        for file in self.spent.files:
            self._delete(file.name, "transcript" if is_primary(file.name) else "archive", "over the disk budget")

    def rotation(self) -> None:
        """Keeps the bytes of a large store beside it when it is written, and no more than three such copies."""
        if not self.removed or self.folder.store_bytes <= self.rules.rotate_bytes:
            return
        target = f"sessions.json.bak.{self.now_ms}"
        self.steps.append(Step("rotate", "store", "sessions.json", self.folder.store_bytes, "large", target))
        rotated = sorted((name for name in self.files if is_rotated(name)), key=_rotated_at, reverse=True)
        for name in rotated[2:]:
            self._delete(name, "store", "three copies are kept")


def _rotated_at(name: str) -> int:
    return int(name.rpartition(".")[2])
