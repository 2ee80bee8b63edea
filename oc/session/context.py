"""The context of a leaf: its path with the newest compaction folded. Pure.

Behaviour follows Pi 0.58's buildSessionContext (table: sessions-context); nothing is repaired here.
"""

from collections.abc import Iterable, Sequence

from oc.base.typed import Any, NamedTuple
from oc.message.derived import from_entry
from oc.message.shapes import Message
from oc.session.entry import Entry
from oc.session.tree import leaf_path


class Context(NamedTuple):
    """`model` is {"provider", "modelId"} or None; `thinking_level` is `off` unless set on the path."""

    messages: list[Message]
    thinking_level: str
    model: dict[str, Any] | None


def context_entries(path: Sequence[Entry]) -> list[Entry]:
    """Returns the context of a path as entries that each hold a message.

    First the summary of the newest compaction, then what it kept, then what came after. A derived message stands in
    an entry of type `message` with the id of the entry it comes from; entries without a message are left out. The
    summary of an older compaction is never shown again.
    """
    cut = next((i for i in range(len(path) - 1, -1, -1) if path[i].get("type") == "compaction"), None)
    if cut is None:
        return _with_message(path)
    compaction = path[cut]
    first_kept = compaction.get("firstKeptEntryId")
    start = next((i for i in range(cut) if path[i].get("id") == first_kept), cut) if first_kept is not None else cut
    kept = (entry for entry in path[start:cut] if entry.get("type") != "compaction")
    return [*_with_message([compaction]), *_with_message(kept), *_with_message(path[cut + 1 :])]


def _with_message(entries: Iterable[Entry]) -> list[Entry]:
    found = []
    for entry in entries:
        if entry.get("type") == "message":
            if isinstance(entry.get("message"), dict):
                found.append(entry)
            continue
        message = from_entry(entry)
        if message is not None:
            envelope = {key: entry.get(key) for key in ("id", "parentId", "timestamp")}
            found.append({"type": "message", **envelope, "message": message})
    return found


def build_context(entries: Sequence[Entry], leaf_id: str | None = None) -> Context:
    """Returns what the reference's buildSessionContext does: messages, thinking level and model of a leaf.

    Thinking level and model are taken from the whole path, also from before a compaction's cut.
    """
    path = leaf_path(entries, leaf_id)
    level, model = settings(path)
    return Context([entry["message"] for entry in context_entries(path)], level or "off", model)


def settings(path: Sequence[Entry]) -> tuple[str | None, dict[str, Any] | None]:
    """Returns the newest thinking level and model of a path, None where it sets none."""
    level: str | None = None
    model: dict[str, Any] | None = None
    for entry in reversed(path):
        kind = entry.get("type")
        if level is None and kind == "thinking_level_change":
            level = entry.get("thinkingLevel")
        elif model is None:
            model = _model(entry)
        if level is not None and model is not None:
            break
    return level, model


def _model(entry: Entry) -> dict[str, Any] | None:
    if entry.get("type") == "model_change":
        return {"provider": entry.get("provider"), "modelId": entry.get("modelId")}
    message = entry.get("message")
    if entry.get("type") == "message" and isinstance(message, dict) and message.get("role") == "assistant":
        return {"provider": message.get("provider"), "modelId": message.get("model")}
    return None
