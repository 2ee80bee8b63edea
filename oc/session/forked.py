"""Transcripts made from another one: the path to an entry, or everything, under a header that names the source.

The source is only read. Lines that need no change keep their bytes.
"""

import os
from typing import NamedTuple

from oc.base import files
from oc.base.clock import Ids
from oc.base.jsonl import dump, dump_line
from oc.errors import BadInput
from oc.session import transcript
from oc.session.entry import Entry
from oc.session.fork import branch_entries
from oc.session.tree import entry_named


class Source(NamedTuple):
    """What is forked: the path to an entry, or with `everything` all entries of all branches.

    `leaf_id` is its id, the start of one or its label; None is the leaf.
    """

    path: str
    leaf_id: str | None = None
    everything: bool = False


def write_fork(source: Source, target: str, header: Entry, *, ids: Ids, lock_timeout_ms: int = 10_000) -> int:
    """Writes the fork, whole or not at all, and returns how many entries it has.

    A source without entries gives a header alone. BadInput when the target is there already, NotFound for an unknown
    leaf.
    """
    whole = transcript.read(source.path)
    entries: list[Entry] = whole.entries
    if not source.everything and entries:
        chosen = source.leaf_id
        leaf_id = str(whole.leaf_id) if chosen is None else entry_named(entries, chosen, source.path)
        entries = branch_entries(entries, leaf_id, ids=ids, timestamp=header["timestamp"])
    raws = whole.raws_of(entries)
    lines = [dump(entry) if raw is None else raw for raw, entry in zip(raws, entries, strict=True)]
    named = {**header, "parentSession": os.path.abspath(source.path)}
    files.make_folder(os.path.dirname(os.path.abspath(target)))
    with files.lock(target, timeout_ms=lock_timeout_ms):
        if os.path.lexists(target):
            raise BadInput("there is a file of that name already", path=target)
        files.replace(target, dump_line(named) + b"".join(line + b"\n" for line in lines), 0o600)
    return len(entries)
