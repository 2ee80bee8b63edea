"""Claude Code's session files as transcripts; ids and parents are their uuid and parentUuid. Pure.

A response comes in several lines, a block each, with one message id: they become one message. Sidechains (what
subagents did) stay trees of their own in the same file. A compaction is told by a boundary line and a user line with
the summary. The form is that of versions 1 and 2 of Claude Code; what is not known is left out, with a reason.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from oc.base.clock import iso, parse_iso
from oc.message.shapes import Block, Message
from oc.message.usage import PARTS, no_usage, snapshot
from oc.session.entry import Entry, derived_id, new_entry, new_header
from oc.session.incoming import Incoming, Note, kind_of

Json = dict[str, Any]
Line = tuple[int, bytes, Json]
_TYPES = ("ai-title", "custom-title", "file-history-snapshot", "progress", "queue-operation", "summary")
_STOPS = {"end_turn": "stop", "stop_sequence": "stop", "tool_use": "toolUse", "max_tokens": "length"}
_COUNTED = ("compaction", "toolResult", "user")  # by the lines of the source
BOUNDARY = "claude-code.compact_boundary"


def is_claude(value: Json) -> bool:
    """Says whether a line is one of Claude Code's."""
    return (isinstance(value.get("uuid"), str) and "parentUuid" in value) or value.get("type") in _TYPES


def convert(lines: Iterable[Line], source: str, session_id: str) -> Incoming:
    """Returns the session of a file (and of its subagents' files, if their lines are given too)."""
    session = _Session(source, session_id)
    ordered = list(_in_order(list(lines), session))
    for line in ordered:
        session.take(*line)
    made = session.finished()
    made.roles.update(_expected(value for _, _, value in ordered))
    return made


def _expected(values: Iterable[Json]) -> Iterator[str]:
    """Yields a role for each message of which the lines alone tell that it must be there."""
    for value in values:
        message = value.get("message")
        if not isinstance(value.get("uuid"), str) or not isinstance(message, dict):
            continue
        content = message.get("content")
        types = [b.get("type") for b in content if isinstance(b, dict)] if isinstance(content, list) else ["text"]
        if value.get("type") == "user" and value.get("isCompactSummary"):
            yield "compaction"
        elif value.get("type") == "user":
            results = types.count("tool_result")
            yield from ["toolResult"] * results
            if not results or "text" in types or "image" in types:
                yield "user"


def _in_order(lines: list[Line], session: "_Session") -> Iterator[Line]:
    """Yields the lines with every parent before its children; a second line with a uuid is left out."""
    known = {str(value["uuid"]) for _, _, value in lines if isinstance(value.get("uuid"), str)}
    done: set[str] = set()
    waiting: dict[str, list[Line]] = {}
    seen: set[str] = set()
    for line in lines:
        uuid, parent = line[2].get("uuid"), _parent_uuid(line[2])
        if isinstance(uuid, str) and uuid in seen:
            session.note(line[0], "dropped", f"a second line with the uuid {uuid}")
            continue
        if isinstance(uuid, str):
            seen.add(uuid)
        if isinstance(parent, str) and parent in known and parent not in done:
            waiting.setdefault(parent, []).append(line)
            continue
        ready = [line]
        while ready:
            current = ready.pop()
            yield current
            name = current[2].get("uuid")
            if isinstance(name, str):
                done.add(name)
                ready += reversed(waiting.pop(name, []))
    for line in sorted((line for group in waiting.values() for line in group), key=lambda line: line[0]):
        session.note(line[0], "changed", "it was its own ancestor; now a root")
        yield (line[0], line[1], {**line[2], "parentUuid": None, "logicalParentUuid": None})


def _parent_uuid(value: Json) -> Any:
    return value.get("parentUuid") or value.get("logicalParentUuid")


class _Session:
    """The state of one pass over the lines."""

    def __init__(self, source: str, session_id: str) -> None:
        self.made = Incoming(source, "claude", session_id, {})
        self.tips: dict[str, str | None] = {}  # uuid of a line: the entry on which its children hang
        self.owners: dict[str, str] = {}  # tool result: the entry with its call
        self.last_result: dict[str, str] = {}  # entry with calls: the last of their results
        self.calls: dict[str, tuple[str, str]] = {}  # id of a call: tool, entry
        self.answers: dict[str, Entry] = {}  # entry that holds a response: the entry
        self.by_message: dict[str, str] = {}  # message id of a response: its entry
        self.boundaries: dict[str, Json] = {}
        self.sidechains: list[str] = []
        self.names: list[tuple[int, str, Any]] = []  # line, name, uuid of a leaf
        self.leaf: str | None = None
        self.cwd = ""
        self.when = ""
        self.version: Any = None

    def note(self, line: int, action: str, reason: str) -> None:
        self.made.notes.append(Note(line, action, reason))

    def take(self, number: int, _: bytes, value: Json) -> None:
        kind = value.get("type")
        self.cwd = self.cwd or str(value.get("cwd") or "")
        self.version = value.get("version") or self.version
        if parse_iso(value.get("timestamp")) is not None:
            self.when = str(value["timestamp"])
            self.made.header = self.made.header or {"timestamp": self.when}
        if kind in ("summary", "custom-title", "ai-title"):
            name = value.get("summary") or value.get("customTitle") or value.get("aiTitle")
            self.names.append((number, str(name or ""), value.get("leafUuid")))
            return
        uuid, parent = value.get("uuid"), self._parent(number, value)
        tip = parent
        message = value.get("message")
        if not isinstance(uuid, str):
            self.note(number, "dropped", f"a line of type {kind!r}, which is not part of the conversation")
            return
        if kind == "user" and isinstance(message, dict):
            tip = self._user(number, value, message, parent)
        elif kind == "assistant" and isinstance(message, dict):
            tip = self._assistant(number, value, message, parent)
        elif kind == "system" and value.get("subtype") == "compact_boundary":
            tip = self._boundary(value, uuid, parent)
        else:
            subtype = f" {value['subtype']!r}" if isinstance(value.get("subtype"), str) else ""
            self.note(number, "dropped", f"a line of type {kind!r}{subtype}, which no model sees")
        self.tips[uuid] = tip
        if tip is not None and value.get("isSidechain"):
            if parent is None and kind in ("user", "assistant"):
                self.sidechains.append(tip)
        elif tip is not None:
            self.leaf = tip

    def _parent(self, number: int, value: Json) -> str | None:
        """Returns the entry that a line hangs on; behind a call that has results it is the last of them."""
        parent = _parent_uuid(value)
        if not isinstance(parent, str):
            return None
        if parent not in self.tips:
            if isinstance(value.get("uuid"), str):
                self.note(number, "changed", "its parent is not in the source; now a root")
            return None
        return self._behind(self.tips[parent])

    def _behind(self, tip: str | None) -> str | None:
        return tip if tip is None else self.last_result.get(self.owners.get(tip, tip), tip)

    def _add(self, kind: str, entry_id: str, parent: str | None, fields: Json) -> Entry:
        entry = new_entry(kind, entry_id, parent, self.when or iso(0), fields)
        self.made.entries.append(entry)
        return entry

    def _stamp(self) -> int:
        return parse_iso(self.when) or 0

    def _user(self, number: int, value: Json, message: Json, parent: str | None) -> str | None:
        content = message.get("content")
        uuid = str(value["uuid"])
        if value.get("isCompactSummary"):
            return self._summary(uuid, parent, _plain(content))
        blocks = content if isinstance(content, list) else [{"type": "text", "text": str(content or "")}]
        results = [b for b in blocks if isinstance(b, dict) and b.get("type") == "tool_result"]
        details = value.get("toolUseResult") if len(results) == 1 else None
        entry_id = uuid
        for block in results:
            parent = self._result(number, entry_id, parent, block, details)
            entry_id = f"{uuid}.{len(self.made.entries)}"
        said = self._blocks(number, [b for b in blocks if b not in results])
        if said or not results:
            body: Message = {"role": "user", "content": said, "timestamp": self._stamp()}
            parent = str(self._add("message", entry_id, parent, {"message": body})["id"])
        return parent

    def _result(self, number: int, entry_id: str, parent: str | None, block: Block, details: Any) -> str:
        call_id = str(block.get("tool_use_id") or "")
        tool, owner = self.calls.get(call_id, ("unknown", ""))
        content = block.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": str(content or "")}]
        body: Message = {
            "role": "toolResult",
            "toolCallId": call_id,
            "toolName": tool,
            "content": self._blocks(number, blocks),
            **({} if details is None else {"details": details}),
            "isError": bool(block.get("is_error")),
            "timestamp": self._stamp(),
        }
        self._add("message", entry_id, parent, {"message": body})
        if owner and parent is not None and self.owners.get(parent, parent) == owner:
            self.owners[entry_id] = owner
            self.last_result[owner] = entry_id
        return entry_id

    def _blocks(self, number: int, blocks: Iterable[Any]) -> list[Block]:
        """Returns text and images as a transcript has them."""
        found: list[Block] = []
        for block in blocks:
            kind = block.get("type") if isinstance(block, dict) else None
            source = block.get("source") if kind == "image" else None
            if kind == "text":
                found.append({"type": "text", "text": str(block.get("text") or "")})
            elif isinstance(source, dict) and isinstance(source.get("data"), str):
                found.append({"type": "image", "data": source["data"], "mimeType": str(source.get("media_type"))})
            else:
                self.note(number, "dropped", f"a content block of type {kind!r}, which a transcript has no form for")
        return found

    def _assistant(self, number: int, value: Json, message: Json, parent: str | None) -> str:
        uuid, name = str(value["uuid"]), message.get("id")
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": str(content or "")}]
        earlier = self.by_message.get(name) if isinstance(name, str) else None
        if earlier is not None and parent is not None and self.owners.get(parent, parent) == earlier:
            entry_id = earlier
        else:
            entry_id = uuid
            self.answers[uuid] = self._add("message", uuid, parent, {"message": _response(self._stamp())})
            if isinstance(name, str):
                self.by_message[name] = uuid
        answer: Message = self.answers[entry_id]["message"]
        answer["content"] += self._said(number, entry_id, blocks)
        _describe(answer, value, message)
        return str(self._behind(entry_id))

    def _said(self, number: int, entry_id: str, blocks: Iterable[Any]) -> Iterator[Block]:
        for block in blocks:
            kind = block.get("type") if isinstance(block, dict) else None
            if kind == "text":
                yield {"type": "text", "text": str(block.get("text") or "")}
            elif kind == "thinking":
                thought = {"type": "thinking", "thinking": str(block.get("thinking") or "")}
                signature = block.get("signature")
                yield {**thought, "thinkingSignature": signature} if signature else thought
            elif kind == "redacted_thinking":
                yield {"type": "thinking", "thinking": "", "thinkingSignature": block.get("data"), "redacted": True}
            elif kind == "tool_use":
                call_id, tool = str(block.get("id") or ""), str(block.get("name") or "unknown")
                self.calls[call_id] = (tool, entry_id)
                given = block.get("input")
                yield {"type": "toolCall", "id": call_id, "name": tool, "arguments": {} if given is None else given}
            else:
                self.note(number, "dropped", f"a content block of type {kind!r}, which a transcript has no form for")

    def _boundary(self, value: Json, uuid: str, parent: str | None) -> str:
        data = value.get("compactMetadata")
        self.boundaries[uuid] = data if isinstance(data, dict) else {}
        self._add("custom", uuid, parent, {"customType": BOUNDARY, "data": self.boundaries[uuid]})
        return uuid

    def _summary(self, uuid: str, parent: str | None, summary: str) -> str:
        """Adds a compaction that keeps nothing but the boundary, which no model sees."""
        boundary = parent if parent in self.boundaries else self._boundary({}, f"{uuid}.0", parent)
        before = self.boundaries[str(boundary)].get("preTokens")
        fields = {"summary": summary, "firstKeptEntryId": boundary, "tokensBefore": before or 0}
        return str(self._add("compaction", uuid, boundary, fields)["id"])

    def finished(self) -> Incoming:
        """Returns the session; its last entry says where it comes from and hangs on the leaf of the main chain."""
        made = self.made
        began = made.header.get("timestamp", iso(0))
        made.header = new_header(made.session_id, began, self.cwd)
        leaf = self._behind(self.leaf)
        taken = {entry["id"]: None for entry in made.entries}
        for number, name, of_leaf in self.names:
            if not name or (of_leaf is not None and str(of_leaf) not in self.tips):
                self.note(number, "dropped", "the name of another session")
                continue
            leaf = self._aside("session_info", leaf, taken, {"name": name.strip()})
        data = {"from": "claude-code", "version": self.version, "sidechains": self.sidechains}
        if made.entries:
            self._aside("custom", leaf, taken, {"customType": "oc.import", "data": data})
        made.raws = [None] * len(made.entries)
        made.roles.update(kind for kind in map(kind_of, made.entries) if kind not in _COUNTED)
        return made

    def _aside(self, kind: str, parent: str | None, taken: dict[str, None], fields: Json) -> str:
        entry_id = derived_id(f"{self.made.session_id} {kind}".encode(), None, taken)
        taken[entry_id] = None
        self._add(kind, entry_id, parent, fields)
        return entry_id


def _plain(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(b.get("text") or "") for b in content if isinstance(b, dict) and b.get("type") == "text")
    return str(content or "")


def _response(timestamp: int) -> Message:
    facts = {"api": "anthropic-messages", "provider": "anthropic", "model": "", "usage": no_usage()}
    return {"role": "assistant", "content": [], **facts, "stopReason": "stop", "timestamp": timestamp}


def _describe(answer: Message, value: Json, message: Json) -> None:
    """Sets model, usage and stop reason of a response; each of its lines may know more than the one before."""
    answer["model"] = message.get("model") or answer["model"]
    usage = snapshot(message)
    if usage["output"] >= answer["usage"]["output"]:
        answer["usage"] = {**{p: usage[p] for p in (*PARTS, "totalTokens")}, "cost": no_usage()["cost"]}
    has_calls = any(block["type"] == "toolCall" for block in answer["content"])
    given = message.get("stop_reason")
    answer["stopReason"] = _STOPS.get(str(given), "toolUse" if has_calls else "stop")
    if value.get("isApiErrorMessage"):
        answer["stopReason"] = "error"
        answer["errorMessage"] = _plain(message.get("content"))
