"""What the next compaction of a branch would summarise and keep. Pure; asks no model.

Behaviour follows Pi 0.58's prepareCompaction (table: tests/vectors/sessions-prepare.json). With
`from_previous_kept` the window begins where the previous compaction began to keep, so that what it kept is either
summarised now or kept again; the reference leaves it out of both (design D3).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from oc.base.tokens import Counter
from oc.compaction.cut import Cut, Entry, find_cut, find_whole_cut
from oc.compaction.files import FileOps, file_ops
from oc.message.derived import from_entry
from oc.message.shapes import Message
from oc.message.size import context_size, total_tokens

_SUMMARISED = ("message", "custom_message", "branch_summary")


class Preparation(NamedTuple):
    """`summarised` and `prefix` (of a split turn) are entries that go into the summary, `kept` those that stay.

    `tokens_before` is the context's size as the provider counted it, where that is known; `counted_before` and
    `counted_kept` are by the counter alone, so that they can be compared.
    """

    first_kept_entry_id: str
    summarised: tuple[Entry, ...]
    prefix: tuple[Entry, ...]
    kept: tuple[Entry, ...]
    is_split_turn: bool
    tokens_before: int
    counted_before: int
    counted_kept: int
    previous_summary: str | None
    files: FileOps

    @property
    def messages(self) -> list[Message]:
        """The messages of the history that is summarised."""
        return messages_of(self.summarised)

    @property
    def prefix_messages(self) -> list[Message]:
        """The messages of the turn that is split, up to the cut."""
        return messages_of(self.prefix)

    @property
    def kept_messages(self) -> int:
        """How many messages stay."""
        return len(messages_of(self.kept))

    @property
    def is_empty(self) -> bool:
        """Says whether there is nothing that a summary could hold."""
        return not self.messages and not self.prefix_messages


def prepare(
    path: Sequence[Entry], *, keep_recent_tokens: int, counter: Counter, from_previous_kept: bool
) -> Preparation | None:
    """Returns what a compaction of the path (root to leaf) would do; None when its last entry is one, or has no id."""
    if not path or path[-1].get("type") == "compaction":
        return None
    previous = next((i for i in range(len(path) - 1, -1, -1) if path[i].get("type") == "compaction"), -1)
    start = kept_since(path, previous) if from_previous_kept else previous + 1
    cut = (
        find_whole_cut(path, start, keep_recent_tokens, counter)
        if from_previous_kept
        else find_cut(path, start, len(path), keep_recent_tokens, counter)
    )
    ident = path[cut.first_kept].get("id")
    if not isinstance(ident, str) or not ident:
        return None
    return _prepared(path, previous, start, cut, counter)


def kept_since(path: Sequence[Entry], previous: int) -> int:
    """Returns the index from which the context shows entries: what a compaction kept, else what follows it."""
    kept = path[previous].get("firstKeptEntryId") if previous >= 0 else None
    if kept is None:
        return previous + 1
    return next((index for index in range(previous) if path[index].get("id") == kept), previous + 1)


def _prepared(path: Sequence[Entry], previous: int, start: int, cut: Cut, counter: Counter) -> Preparation:
    history_end = cut.turn_start if cut.is_split else cut.first_kept
    summarised, prefix = path[start:history_end], path[history_end : cut.first_kept]
    kept = messages_of(path[cut.first_kept :])
    old = path[previous] if previous >= 0 else None
    shown = [] if old is None else [message for message in (from_entry(old),) if message is not None]
    summary = old.get("summary") if old is not None else None
    return Preparation(
        first_kept_entry_id=path[cut.first_kept]["id"],
        summarised=tuple(summarised),
        prefix=tuple(prefix),
        kept=tuple(path[cut.first_kept :]),
        is_split_turn=cut.is_split,
        tokens_before=_tokens_before(path, previous, start, shown, counter),
        counted_before=total_tokens([*shown, *messages_of(path[start:])], counter),
        counted_kept=total_tokens(kept, counter),
        previous_summary=summary if isinstance(summary, str) and summary else None,
        files=file_ops(messages_of([*summarised, *prefix]), _own_details(old)),
    )


def _own_details(compaction: Entry | None) -> dict[str, Any] | None:
    """Returns the file lists of an earlier compaction, unless a hook wrote it: those mean what the hook wants."""
    details = compaction.get("details") if compaction is not None and not compaction.get("fromHook") else None
    return details if isinstance(details, dict) else None


def _tokens_before(path: Sequence[Entry], previous: int, start: int, shown: list[Message], counter: Counter) -> int:
    """Returns the context's size; a usage from before the previous compaction speaks of a context that is gone."""
    since = context_size([*shown, *messages_of(path[previous + 1 :])], counter)
    if since.last_usage_index is not None or start > previous:
        return since.tokens
    return since.tokens + total_tokens(messages_of(path[start:previous]), counter)


def messages_of(entries: Sequence[Entry]) -> list[Message]:
    """Returns the messages of the entries that a summary takes in: compactions, settings and labels have none."""
    found = (from_entry(entry) for entry in entries if entry.get("type") in _SUMMARISED)
    return [message for message in found if message is not None]
