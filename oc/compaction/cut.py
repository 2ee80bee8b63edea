"""Where a compaction cuts a branch: what stays as it is and what is summarised. Pure.

Behaviour follows Pi 0.58's findCutPoint (table: tests/vectors/sessions-cutpoint.json); `find_whole_cut` is ours.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from oc.base.tokens import Counter
from oc.message.shapes import ROLES, calls, result_id
from oc.message.size import message_tokens

Entry = dict[str, Any]
_NOTES = ("branch_summary", "custom_message")


class Cut(NamedTuple):
    """`first_kept` is the index of the first entry that stays; `turn_start` that of the turn it splits, or -1."""

    first_kept: int
    turn_start: int = -1

    @property
    def is_split(self) -> bool:
        return self.turn_start >= 0


def find_cut(entries: Sequence[Entry], start: int, end: int, keep_recent_tokens: int, counter: Counter) -> Cut:
    """Returns the cut in [start, end) that leaves about `keep_recent_tokens` of the newest messages.

    A cut never lands on a tool result. When only a result that crosses the limit is left at the end, nothing is cut
    off: the first possible cut stands.
    """
    points = cut_points(entries, start, end)
    if not points:
        return Cut(start)
    crossed = _crossing(entries, start, end, keep_recent_tokens, counter)
    place = points[0] if crossed is None else next((i for i in points if i >= crossed), points[0])
    return finish_cut(entries, start, place)


def cut_points(entries: Sequence[Entry], start: int, end: int) -> list[int]:
    return [index for index in range(start, end) if _is_cut_point(entries[index])]


def _is_cut_point(entry: Entry) -> bool:
    if entry.get("type") in _NOTES:
        return True
    role = _role(entry)
    return role in ROLES and role != "toolResult"


def _role(entry: Entry) -> Any:
    message = entry.get("message")
    return message.get("role") if entry.get("type") == "message" and isinstance(message, dict) else None


def _crossing(entries: Sequence[Entry], start: int, end: int, keep_tokens: int, counter: Counter) -> int | None:
    """Returns the index at which the messages from there to the end reach the limit; None when they never do."""
    tokens = 0
    for index in range(end - 1, start - 1, -1):
        entry = entries[index]
        if entry.get("type") == "message" and isinstance(entry.get("message"), dict):
            tokens += message_tokens(entry["message"], counter)
            if tokens >= keep_tokens:
                return index
    return None


def finish_cut(entries: Sequence[Entry], start: int, place: int) -> Cut:
    """Returns the cut at a place with the settings just before it drawn in, and the start of the turn it splits."""
    while place > start and entries[place - 1].get("type") not in ("compaction", "message"):
        place -= 1
    if _role(entries[place]) == "user":
        return Cut(place)
    for index in range(place, start - 1, -1):
        if entries[index].get("type") in _NOTES or _role(entries[index]) in ("user", "bashExecution"):
            return Cut(place, index)
    return Cut(place)


def find_whole_cut(entries: Sequence[Entry], start: int, keep_recent_tokens: int, counter: Counter) -> Cut:
    """Returns the reference's cut of the entries from `start` on, moved so that every kept result has its call.

    And one that the reference does not find: when only a huge result at the end is over the limit, the message that
    called for it is kept with it and the rest summarised, since a session that cannot be compacted is lost.
    """
    end = len(entries)
    cut = find_cut(entries, start, end, keep_recent_tokens, counter)
    crossed = _crossing(entries, start, end, keep_recent_tokens, counter)
    points = cut_points(entries, start, end)
    if crossed is not None and points and points[-1] < crossed:
        cut = finish_cut(entries, start, points[-1])
    place = _with_calls(entries, start, cut.first_kept)
    return cut if place == cut.first_kept else finish_cut(entries, start, place)


def _with_calls(entries: Sequence[Entry], start: int, place: int) -> int:
    """Returns the place or the nearest one before it from which no result is without its call."""
    called_at: dict[str, int] = {}
    needed: list[tuple[int, int]] = []  # (index of a result, index of its call)
    for index in range(start, len(entries)):
        message = entries[index].get("message")
        if entries[index].get("type") != "message" or not isinstance(message, dict):
            continue
        called_at.update({call["id"]: index for call in calls(message) if isinstance(call.get("id"), str)})
        ident = result_id(message) if message.get("role") == "toolResult" else None
        if ident is not None and ident in called_at:
            needed.append((index, called_at[ident]))
    for at, source in reversed(needed):
        if at >= place:
            place = min(place, source)
    return place
