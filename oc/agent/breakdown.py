"""Where the window goes: each part of a request with its tokens. The parts add up to the request, to the token."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from oc.agent.answer import Request
from oc.agent.look import Look
from oc.agent.request import request_tokens, tool_tokens
from oc.base.text import js_trim
from oc.base.tokens import Counter
from oc.message.derived import BRANCH_LEAD, SUMMARY_LEAD
from oc.message.shapes import Message, blocks
from oc.message.size import message_tokens
from oc.workspace.prompt import Section

GROUPS = ("system", "tools", "summary", "history", "prompt")


class Part(NamedTuple):
    """`messages` is how many of the history it stands for; `path` is set for a workspace file."""

    group: str
    name: str
    tokens: int
    messages: int = 0
    path: str | None = None


class Breakdown(NamedTuple):
    """`free_tokens` is what the window has left; below 0 the request is too large for it."""

    parts: tuple[Part, ...]
    tokens: int
    window_tokens: int

    @property
    def free_tokens(self) -> int:
        return self.window_tokens - self.tokens


def breakdown(look: Look, counter: Counter) -> Breakdown:
    request = look.request
    folder = look.session.places.workspace + "/"
    parts = [
        part._replace(name=part.name.removeprefix(folder))
        for part in _system(request.system, look.parts.sections, counter)
    ]
    parts += [Part("tools", tool.name, tool_tokens(tool, counter)) for tool in request.tools]
    parts += _said(request, look.prompt, counter)
    return Breakdown(tuple(parts), request_tokens(request, counter), look.window.tokens)


def _system(text: str, sections: Sequence[Section], counter: Counter) -> Iterator[Part]:
    """Yields the sections; what hooks put around them, or in their place, is a part of its own.

    A part is what the text up to its end counts more than the text up to its beginning.
    """
    before = 0
    for name, path, tokens_so_far in _counted(text, _ends(text, sections), counter):
        yield Part("system", name, tokens_so_far - before, path=path)
        before = tokens_so_far


def _ends(text: str, sections: Sequence[Section]) -> list[tuple[str, str | None, int]]:
    """Returns name, path and end of each piece of the text."""
    base = "\n".join(section.text for section in sections)
    kept = base if text == base else js_trim(base)
    start = text.find(kept)
    if start < 0 or not sections:
        return [("hooks", None, len(text))]
    pieces: list[tuple[str, str | None, int]] = [("hooks", None, start)] if start else []
    at = start - base.find(kept)
    for section in sections:
        at += len(section.text) + 1
        pieces.append((section.path or section.title, section.path, min(at, start + len(kept))))
    return pieces if pieces[-1][2] == len(text) else [*pieces, ("hooks", None, len(text))]


def _counted(
    text: str, pieces: Iterable[tuple[str, str | None, int]], counter: Counter
) -> Iterator[tuple[str, str | None, int]]:
    start = units = 0
    for name, path, end in pieces:
        # Only a counter of whole tokens sees more in a text than in its pieces.
        units = counter.units(text[:end]) if counter.units_per_token == 1 else units + counter.units(text[start:end])
        yield name, path, -(-units // counter.units_per_token)
        start = end


def _said(request: Request, prompt: str | None, counter: Counter) -> list[Part]:
    """Returns summary, history by role and tool, largest first, and the prompt."""
    sums: dict[tuple[str, str], list[int]] = {}
    last = max((i for i, m in enumerate(request.messages) if m.get("role") == "user"), default=-1)
    for index, message in enumerate(request.messages):
        for group, name, tokens in _pieces(message, prompt if index == last else None, counter):
            found = sums.setdefault((group, name), [0, 0])
            found[0] += tokens
            found[1] += 1
    parts = [Part(group, name, tokens, count) for (group, name), (tokens, count) in sums.items()]
    return sorted(parts, key=lambda part: (GROUPS.index(part.group), -part.tokens, part.name))


def _pieces(message: Message, prompt: str | None, counter: Counter) -> Iterator[tuple[str, str, int]]:
    """Yields what a message holds; a user's may be several that were merged."""
    role = str(message.get("role"))
    if role != "user":
        name = f"result of {message.get('toolName') or 'a tool'}" if role == "toolResult" else role
        yield "history", name, message_tokens(message, counter)
        return
    content = list(blocks(message))
    before = 0
    for end in range(1, len(content) + 1):
        tokens = message_tokens({**message, "content": content[:end]}, counter)
        said = content[end - 1].get("text")
        group = "history"
        if isinstance(said, str):
            is_summary = said.startswith((SUMMARY_LEAD, BRANCH_LEAD))
            group = "summary" if is_summary else "prompt" if end == len(content) and said == prompt else "history"
        yield group, {"history": "user"}.get(group, group), tokens - before
        before = tokens


def change_rows(then: Look, now: Look, counter: Counter) -> list[dict[str, Any]]:
    """Returns what of the request is new, gone or changed since, in the order of then and after that of now."""
    old, new = _by_entry(then), _by_entry(now)
    why = {row["entry_id"]: f"{row['stage']}:{row['rule']}" for row in now.seen.rows if _ended(row)}
    on_path = {entry.get("id") for entry in now.path}
    folded = any(entry.get("type") == "compaction" for entry in now.path)
    rows = []
    for entry_id in dict.fromkeys([*old, *new]):
        before, after = old.get(entry_id), new.get(entry_id)
        if before == after:
            continue
        change = "added" if before is None else "gone" if after is None else "changed"
        cause = why.get(entry_id)
        if change == "gone" and cause is None:
            cause = "branch" if entry_id in on_path or not folded else "compaction"
        shown: Message = before or after or {}
        sizes = [None if message is None else message_tokens(message, counter) for message in (before, after)]
        rows.append(
            {
                "change": change,
                "entryId": entry_id,
                "role": shown.get("role"),
                "tool": shown.get("toolName"),
                "tokensBefore": sizes[0],
                "tokensAfter": sizes[1],
                "cause": cause,
            }
        )
    return rows


def _ended(row: dict[str, Any]) -> bool:
    return row.get("entry_id") is not None and row["action"] not in ("gate", "summary", "spare")


def _by_entry(look: Look) -> dict[str, Message]:
    seen = look.seen
    return {
        entry_id: message for entry_id, message in zip(seen.ids, seen.messages, strict=True) if entry_id is not None
    }
