"""What the filters that drop, merge and add messages share: which lines those become, and for which model."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from oc.base.clock import iso
from oc.cli.app import App
from oc.cli.stream import Item, Report, Stream
from oc.history.policy import Model, resolve
from oc.history.sanitize import Washed
from oc.message.shapes import Message
from oc.session.entry import derived_id
from oc.session_key import is_path

Work = Callable[[Sequence[Message]], Washed]


def rewrite(stream: Stream, work: Work, report: Report | None, now_ms: int) -> list[Item]:
    """Returns the lines of the changed history, and reports every decision if a report is wanted.

    A changed or merged message stands in the line of the (first) one it was made from; one that was put in gets an
    entry of its own. Lines without a message keep their place; a whole transcript stays one chain.
    """
    found = [(place, message) for place, item in enumerate(stream.items) if (message := item.message) is not None]
    places, given = [place for place, _ in found], [message for _, message in found]
    washed = work(given)
    if report is not None:
        _tell(report, stream, places, washed)
    if not washed.trail.changed:
        return stream.items
    items = _lines(stream, found, washed, iso(now_ms))
    if stream.header is None:
        return items
    ids = [item.value.get("id") for item in stream.items]
    merged = {ids[places[gone]]: ids[places[into]] for gone, into in washed.trail.merged.items()}
    return _chained(stream.items, items, merged)


def _tell(report: Report, stream: Stream, places: Sequence[int], washed: Washed) -> None:
    for stage in washed.skipped:
        report.add(stage, "gate", rule="policy")
    for row in washed.trail.rows():
        report.add(**row, entry_id=_entry_id(stream, places[row["index"]]))


def _entry_id(stream: Stream, place: int) -> str | None:
    entry_id = stream.items[place].value.get("id") if stream.kind == "entries" else None
    return entry_id if isinstance(entry_id, str) else None


def _lines(stream: Stream, found: Sequence[tuple[int, Message]], washed: Washed, timestamp: str) -> list[Item]:
    messages = {place for place, _ in found}
    out: list[Item] = []
    passed = 0
    for message in washed.messages:
        origin = washed.trail.origin(message)
        place, given = found[origin.place]
        item = stream.items[place]
        if origin.made:
            out.append(_made(item, message, out, timestamp) if stream.kind == "entries" else Item(None, message))
            continue
        out += [stream.items[i] for i in range(passed, place) if i not in messages]
        passed = max(passed, place)
        # The message of a compaction is made when it is asked for, so only here is it known to be the same.
        out.append(item if message is given else item.with_message(message))
    return out + [stream.items[i] for i in range(passed, len(stream.items)) if i not in messages]


def _made(cause: Item, message: Message, before: Sequence[Item], timestamp: str) -> Item:
    """Returns the entry of a message that was put in: its id is the same each time, made of what called for it."""
    named = f"{cause.value.get('id')} {message.get('toolCallId') or message.get('role')}"
    envelope: dict[str, Any] = {
        "type": "message",
        "id": derived_id(named.encode("utf-8", "surrogatepass"), None, ()),
        "parentId": before[-1].value.get("id") if before else None,
        "timestamp": timestamp,
    }
    return Item(None, {**envelope, "message": message})


def _chained(given: Sequence[Item], items: Sequence[Item], merged: Mapping[Any, Any]) -> list[Item]:
    """Returns the entries of a whole transcript with parents, and first kept entries, that are still there."""
    parents = {item.value.get("id"): item.value.get("parentId") for item in given}
    follows = {b.value.get("id"): a.value.get("id") for a, b in pairwise(given)}
    left = {item.value.get("id") for item in items}
    kept_after = _next_left([item.value.get("id") for item in given], left)
    out: list[Item] = []
    for item in items:
        value = item.value
        entry_id, parent = value.get("id"), value.get("parentId")
        if entry_id not in parents or follows.get(entry_id) == parent:
            parent = out[-1].value.get("id") if out else None
        else:
            parent = _nearest_left(parent, parents, left)
        changes = {} if parent == value.get("parentId") else {"parentId": parent}
        first_kept = value.get("firstKeptEntryId")
        if value.get("type") == "compaction" and isinstance(first_kept, str) and first_kept not in left:
            changes["firstKeptEntryId"] = merged.get(first_kept) or kept_after.get(first_kept, first_kept)
        out.append(Item(None, {**value, **changes}) if changes else item)
    return out


def _nearest_left(parent: Any, parents: Mapping[Any, Any], left: set[Any]) -> Any:
    """Returns the parent or the nearest one above it that is left; what never was there is no parent that went."""
    for _ in range(len(parents)):
        if not isinstance(parent, str) or parent in left or parent not in parents:
            return parent
        parent = parents[parent]
    return None


def _next_left(ids: Sequence[Any], left: set[Any]) -> dict[Any, Any]:
    """Returns for each id the first one from it on that is left."""
    found: dict[Any, Any] = {}
    after = None
    for entry_id in reversed(ids):
        after = entry_id if entry_id in left else after
        found[entry_id] = after
    return found


def model_of(
    app: App, sources: Sequence[str], provider: str | None, api: str | None, model: str | None
) -> tuple[Model, str]:
    """Returns for which model a history is washed, and who says so: the options, else the session's own model."""
    if provider or model or api:
        return _with_api(app, resolve(provider, api, model), api), "flag"
    from oc.agent.choice import choose_model

    row = None
    if sources and sources[0] != "-" and not is_path(sources[0]):
        from oc.cli.sessions import find_session

        found = find_session(app, sources[0])
        row, app = found.row, app.for_agent(found.agent)
    choice = choose_model(None, row, app.config)
    if choice.offline:
        return Model(), choice.origin
    return _with_api(app, resolve(None, None, choice.model), None), choice.origin


def _with_api(app: App, model: Model, api: str | None) -> Model:
    """Returns the model with the API that `models.providers` gives its provider, when none was named."""
    settings = app.config.merged("models.providers").get(model.provider)
    configured = settings.get("api") if isinstance(settings, dict) and api is None else None
    return Model(model.provider, configured, model.model) if isinstance(configured, str) else model
