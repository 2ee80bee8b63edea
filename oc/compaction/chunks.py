"""How messages are parted so that a summariser can take them. Pure.

Behaviour follows openclaw 2026.3.13, compaction (table: context-compact-chunk). All sizes are tokens by the counter
that is passed in; estimates are taken SAFETY_MARGIN times, since a counter may fall short of what a model takes.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from oc.base.tokens import Counter
from oc.message.pairs import pair
from oc.message.shapes import Message
from oc.message.size import message_tokens, total_tokens

SAFETY_MARGIN = 1.2
DEFAULT_PARTS = 2
BASE_RATIO, MIN_RATIO = 0.4, 0.15
# A message of more than this share of the window is too large to be summarised at all.
OVERSIZED_SHARE = 0.5


def split_by_share(messages: Sequence[Message], counter: Counter, *, parts: int = DEFAULT_PARTS) -> list[list[Message]]:
    """Returns the messages in at most `parts` runs of about equal size, none of them empty."""
    if not messages:
        return []
    parts = min(max(1, parts), len(messages))
    target = total_tokens(messages, counter) / parts
    chunks: list[list[Message]] = [[]]
    size = 0
    for message in messages:
        tokens = message_tokens(message, counter)
        if chunks[-1] and len(chunks) < parts and size + tokens > target:
            chunks.append([])
            size = 0
        chunks[-1].append(message)
        size += tokens
    return chunks


def chunk_by_tokens(messages: Sequence[Message], counter: Counter, *, max_tokens: int) -> list[list[Message]]:
    """Returns the messages in runs that each fit; one that fits nowhere ends its run at once."""
    most = max(1, math.floor(max_tokens / SAFETY_MARGIN))
    chunks: list[list[Message]] = []
    current: list[Message] = []
    size = 0
    for message in messages:
        tokens = message_tokens(message, counter)
        if current and size + tokens > most:
            chunks.append(current)
            current, size = [], 0
        current.append(message)
        size += tokens
        if tokens > most:
            chunks.append(current)
            current, size = [], 0
    return [*chunks, current] if current else chunks


def chunk_ratio(messages: Sequence[Message], counter: Counter, *, window_tokens: int) -> float:
    """Returns which share of the window a chunk may take: the larger the messages are, the less."""
    if not messages:
        return BASE_RATIO
    share = total_tokens(messages, counter) / len(messages) * SAFETY_MARGIN / window_tokens
    if share <= 0.1:
        return BASE_RATIO
    return max(MIN_RATIO, BASE_RATIO - min(share * 2, BASE_RATIO - MIN_RATIO))


def is_oversized(message: Message, counter: Counter, *, window_tokens: int) -> bool:
    return message_tokens(message, counter) * SAFETY_MARGIN > window_tokens * OVERSIZED_SHARE


def history_budget(window_tokens: int, share: float) -> int:
    """Returns the tokens that history may take of a window."""
    return max(1, math.floor(window_tokens * share))


class Dropped(NamedTuple):
    """`dropped` are the messages that went with their chunk; results that lost their call are only counted."""

    kept: list[Message]
    dropped: list[Message]
    dropped_chunks: int
    dropped_messages: int
    dropped_tokens: int
    kept_tokens: int


def drop_oldest(
    messages: Sequence[Message],
    counter: Counter,
    *,
    budget_tokens: int,
    now_ms: int,
    parts: int = DEFAULT_PARTS,
) -> Dropped:
    """Returns the messages without the oldest chunks that keep them from fitting the budget.

    What is left is paired anew. The last chunk always stays.
    """
    parts = min(max(1, parts), max(1, len(messages)))
    kept, gone = list(messages), list[Message]()
    chunks = orphans = 0
    while kept and total_tokens(kept, counter) > budget_tokens:
        first, *rest = split_by_share(kept, counter, parts=parts)
        if not rest:
            break
        paired = pair([message for chunk in rest for message in chunk], now_ms=now_ms)
        chunks += 1
        orphans += paired.dropped_orphans
        gone += first
        kept = paired.messages
    return Dropped(
        kept=kept,
        dropped=gone,
        dropped_chunks=chunks,
        dropped_messages=len(gone) + orphans,
        dropped_tokens=total_tokens(gone, counter),
        kept_tokens=total_tokens(kept, counter),
    )
