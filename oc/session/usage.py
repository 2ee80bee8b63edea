"""What model calls used, from the transcripts: tokens and cost, each response counted once. Pure.

A response may stand in several lines (a stream stored as it grew) and in several files (forks, branches, resumed
sessions, archives): the last one counts, for the session that had it first.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from oc.base.clock import iso, parse_iso
from oc.base.jsonl import parse
from oc.message.usage import PARTS, number, snapshot
from oc.session.entry import Entry

COUNTED = (*PARTS, "totalTokens")
MAX_MS = 253402300800000  # year 10000
_MOST = 1e15  # a bad line may state any number


class Call(NamedTuple):
    """One response of a model; `id` is its own, `used` its tokens by kind, `cost` None where nobody stated it."""

    id: str
    session_id: str
    key: str | None
    model: str
    time_ms: int
    used: dict[str, int]
    cost: float | None


def calls(lines: Iterable[bytes], session_id: str, key: str | None) -> Iterator[Call]:
    """Yields the responses in the lines of a transcript that tell what they used; zeros tell nothing."""
    for raw in lines:
        # Most of a transcript is what tools returned: a quote in there is escaped.
        if b'"usage"' not in raw:
            continue
        try:
            value = parse(raw)
        except ValueError:
            continue
        call = of_entry(value, session_id, key) if isinstance(value, dict) else None
        if call is not None:
            yield call


def of_entry(entry: Entry, session_id: str, key: str | None) -> Call | None:
    """Returns the response that an entry holds, None for every other entry."""
    message = entry.get("message")
    if not isinstance(message, dict) or message.get("role") != "assistant":
        return None
    usage = snapshot(message)
    used = {name: min(max(0, int(usage[name])), int(_MOST)) for name in COUNTED}
    if not any(used.values()):
        return None
    when = number(message.get("timestamp"))
    time_ms = int(when) if when is not None and 0 < when < MAX_MS else parse_iso(entry.get("timestamp")) or 0
    cost = usage.get("cost")
    model = "/".join(part for part in (message.get("provider"), message.get("model")) if isinstance(part, str) and part)
    return Call(
        _response_id(entry, message),
        session_id,
        key,
        model or "unknown",
        time_ms,
        used,
        None if cost is None else float(min(cost["total"], _MOST)),
    )


def _response_id(entry: Entry, message: dict[str, Any]) -> str:
    """Returns the provider's id of the response, else the entry's with its time, which forks and branches keep."""
    stated = [message.get("responseId") or message.get("id"), message.get("requestId") or entry.get("requestId")]
    named = [part for part in stated if isinstance(part, str) and part]
    if named:
        return "/".join(named)
    return f"{entry.get('id')}@{entry.get('timestamp')}"


class Ledger:
    """The responses seen so far, each once."""

    def __init__(self) -> None:
        self._calls: dict[str, Call] = {}

    def add(self, found: Iterable[Call]) -> None:
        """Adds responses in the order in which their sessions began; of two with one id the later one counts."""
        for call in found:
            first = self._calls.get(call.id)
            if first is None:
                self._calls[call.id] = call
            elif call.time_ms >= first.time_ms:
                self._calls[call.id] = call._replace(session_id=first.session_id, key=first.key or call.key)

    def between(self, since_ms: int | None, until_ms: int | None) -> list[Call]:
        """Returns the responses from `since_ms` on and before `until_ms`, oldest first."""
        chosen = [
            call
            for call in self._calls.values()
            if (since_ms is None or call.time_ms >= since_ms) and (until_ms is None or call.time_ms < until_ms)
        ]
        return sorted(chosen, key=lambda call: (call.time_ms, call.session_id, call.id))


def totals(found: Iterable[Call], name: Callable[[Call], dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns one row per group, in order of its name; `cost` is None where no response of it stated one."""
    groups: dict[tuple[Any, ...], dict[str, Any]] = {}
    for call in found:
        group = name(call)
        row = groups.setdefault(tuple(group.values()), {**group, "calls": 0, **dict.fromkeys(COUNTED, 0), "cost": None})
        row["calls"] += 1
        for part in COUNTED:
            row[part] += call.used[part]
        if call.cost is not None:
            row["cost"] = (row["cost"] or 0.0) + call.cost
    return [groups[names] for names in sorted(groups, key=lambda names: tuple(str(part or "") for part in names))]


def exported(call: Call) -> dict[str, Any]:
    """Returns the row of one response, from which `imported` makes it again."""
    return {
        "id": call.id,
        "sessionId": call.session_id,
        "key": call.key,
        "model": call.model,
        "timestamp": iso(call.time_ms),
        **call.used,
        "cost": call.cost,
    }


def imported(row: Any) -> Call | None:
    """Returns the response of an exported row; None for anything else."""
    if not isinstance(row, dict):
        return None
    time_ms = parse_iso(row.get("timestamp"))
    names = [row.get(name) for name in ("id", "sessionId", "model")]
    counts = {name: number(row.get(name)) for name in COUNTED}
    if (
        time_ms is None
        or not all(isinstance(n, str) for n in names)
        or any(n is None or n < 0 for n in counts.values())
    ):
        return None
    key, cost = row.get("key"), number(row.get("cost"))
    used = {name: int(count) for name, count in counts.items()}
    named = key if isinstance(key, str) else None
    return Call(str(names[0]), str(names[1]), named, str(names[2]), time_ms, used, cost)
