"""`oc tokens`: how many messages and tokens there are, by role, tool or entry."""

from collections.abc import Iterable, Sequence

from oc.base.tokens import Counter, counter
from oc.base.typed import Any
from oc.cli.app import App
from oc.cli.plain import ALL_ENTRIES, Option
from oc.cli.stream import Item, read_items
from oc.message.shapes import Message, image_count
from oc.message.size import message_tokens

_SIZES = ("messages", "tokens", "images", "count")
_FIELDS = {
    "role": ("role", *_SIZES),
    "tool": ("role", "tool", *_SIZES),
    "entry": ("id", "role", "tool", *_SIZES),
}
Row = dict[str, Any]


OPTIONS = (
    Option("--count", metavar="C", help="Counter: estimate (default), chars4, tiktoken[:ENCODING]."),
    Option("--by", kind="choice", choices=("role", "tool", "entry"), help="Count each of these apart."),
    ALL_ENTRIES,
)


def run(app: App, sources: tuple[str, ...], *, count: str | None, by: str | None, all_entries: bool) -> None:
    """Count messages and tokens."""
    measure = counter(count or "estimate")
    stream = read_items(sources, app, all_entries=all_entries)
    rows = [_row(item, message, measure) for item in stream.items if (message := item.message) is not None]
    total = _sum(rows, measure.name)
    out = app.out
    if by is not None:
        groups = rows if by == "entry" else _grouped(rows, _FIELDS[by][: -len(_SIZES)])
        closing = [{_FIELDS[by][0]: "total", **total}] if out.format == "text" else []
        out.rows("groups", [*groups, *closing], _FIELDS[by], {"by": by, **total})
    elif out.format == "json":
        out.document(total)
    elif out.format == "text":
        out.rows("total", [{"name": name, "value": total[name]} for name in _SIZES], ("name", "value"))
    else:
        out.rows("total", [total], _SIZES)


def _row(item: Item, message: Message, measure: Counter) -> Row:
    role = message.get("role")
    return {
        "id": item.value.get("id") if "message" in item.value else None,
        "role": role,
        "tool": message.get("toolName") if role == "toolResult" else None,
        "messages": 1,
        "tokens": message_tokens(message, measure),
        "images": image_count(message),
        "count": measure.name,
    }


def _grouped(rows: Iterable[Row], names: Sequence[str]) -> list[Row]:
    """Returns a row per group, the largest first, and of two equal ones the first by name."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(str(row[name] or "") for name in names), []).append(row)
    made = [
        {name: group[0][name] for name in names} | _sum(group, group[0]["count"]) for _, group in sorted(groups.items())
    ]
    return sorted(made, key=lambda row: -row["tokens"])


def _sum(rows: Sequence[Row], method: str) -> Row:
    sums = {name: sum(row[name] for row in rows) for name in ("messages", "tokens", "images")}
    return {**sums, "count": method}


def __getattr__(name: str) -> Any:
    if name != "command":
        raise AttributeError(name)
    from oc.cli.options import filter_command

    return filter_command("tokens", run, OPTIONS)
