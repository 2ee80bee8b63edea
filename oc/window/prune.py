"""Soft-trim and hard-clear of old tool results in the view sent to the model.

The transcript on disk is never changed here, nor is the text of a user or an assistant. Behaviour follows
openclaw 2026.3.13, context-pruning (table: tests/vectors/context-pruning.json), with three differences of `OURS`:
wide characters weigh what they cost in tokens, no result gets longer, and what was trimmed once stays as it is.
"""

from collections.abc import Callable, Sequence

from oc.base.jsonl import js_text
from oc.base.text import len16, pattern, slice16, weight16, whole16
from oc.base.typed import Any, NamedTuple
from oc.message.shapes import CALL_TYPES, Message, call_arguments, image_count, texts
from oc.window.rules import PruneRules, tool_filter

IMAGE_CHARS = 8000
OTHER_CHARS = 256
_MEASURED = ("user", "assistant", "toolResult")
IMAGE_MARKER = "[image removed during context pruning]"
_TRIMMED = r"\n\n\[Tool result trimmed: kept first (\d+) chars and last (\d+) chars of \d+ chars\.\]\Z"
_JOINT = "\n...\n"
Row = dict[str, Any]


class Manner(NamedTuple):
    """How text is weighed (in quarter tokens) and cut. `settled`: never longer, never trimmed twice."""

    measure: Callable[[str], int]
    piece: Callable[[str, int, int | None], str]
    settled: bool


OURS = Manner(weight16, whole16, settled=True)
REFERENCE = Manner(len16, slice16, settled=False)


def prune(
    messages: Sequence[Message], *, window_tokens: int | None, rules: PruneRules, manner: Manner = OURS
) -> tuple[list[Message], list[Row]]:
    """Returns the view and a row per tool result that was trimmed, cleared or spared, and per gate that stopped it.

    Messages that are not touched are the very objects given. `index` in a row counts from 0; sizes called tokens are
    quarter tokens rounded up, images included.
    """
    view = _View(messages, rules, manner)
    gate = _closed_gate(view, window_tokens)
    if gate is None and window_tokens is not None:
        view.trim()
        gate = view.clear(window_tokens * 4)
    return view.messages, view.rows(gate)


def _closed_gate(view: "_View", window_tokens: int | None) -> Row | None:
    """Returns the row of the first gate that stops pruning before it starts."""
    if window_tokens is None:
        return _gate("window", view.total)
    if view.start is None:
        return _gate("firstUser", view.total)
    if view.cutoff is None:
        return _gate("keepLastAssistants", view.total)
    if view.total < view.rules.soft_trim_ratio * window_tokens * 4:
        return _gate("softTrimRatio", view.total)
    return None


def stopped(messages: Sequence[Message], rule: str, manner: Manner = OURS) -> list[Row]:
    """Returns the rows of a run that a gate outside of it has stopped."""
    view = _View(messages, PruneRules(), manner)
    return view.rows(_gate(rule, view.total))


def _gate(rule: str, total: int) -> Row:
    return {"action": "gate", "rule": rule, "tokens_before": -(-total // 4)}


class _View:
    """The messages while they are pruned, with their sizes kept up to date."""

    def __init__(self, messages: Sequence[Message], rules: PruneRules, manner: Manner) -> None:
        self.given = messages
        self.messages = list(messages)
        self.rules = rules
        self.manner = manner
        self.given_sizes = [_size(message, manner.measure) for message in messages]
        self.sizes = list(self.given_sizes)
        self.total = sum(self.sizes)
        self.start = next((i for i, m in enumerate(messages) if m.get("role") == "user"), None)
        self.cutoff = _cutoff(messages, rules)
        self.candidates: list[int] = []
        self.decided: dict[int, Row] = {}

    def trim(self) -> None:
        """Shortens every prunable result that is over the limit, and notes those that a rule spares."""
        rules = self.rules
        wanted = tool_filter(rules.allow, rules.deny)
        for index in range(self.start or 0, self.cutoff or 0):
            message = self.messages[index]
            if message.get("role") != "toolResult":
                continue
            # A small size rules out images and text over the limit, whatever the number of blocks.
            small = self.sizes[index] + len(message.get("content") or ()) <= min(rules.max_chars, IMAGE_CHARS)
            if wanted is not None and not wanted(str(message.get("toolName") or "")):
                self._decide(index, "spare", "tools")
            elif not small and not rules.images and image_count(message):
                self._decide(index, "spare", "images")
            else:
                self.candidates.append(index)
                text = None if small else _trimmed(message, rules, self.manner)
                if text is not None:
                    self._replace(index, text, "trim", "softTrim.maxChars")

    def clear(self, window_chars: int) -> Row | None:
        """Replaces results by the placeholder, oldest first, until the view is small enough; returns the gate."""
        rules = self.rules
        if self.total < rules.hard_clear_ratio * window_chars:
            return _gate("hardClearRatio", self.total)
        if not rules.hard_clear:
            return _gate("hardClear.enabled", self.total)
        if sum(self.sizes[index] for index in self.candidates) < rules.min_prunable_tool_chars:
            return _gate("minPrunableToolChars", self.total)
        for index in self.candidates:
            if self.total < rules.hard_clear_ratio * window_chars:
                return _gate("hardClearRatio", self.total)
            self._replace(index, rules.placeholder, "clear", "hardClearRatio")
        return None

    def _replace(self, index: int, text: str, action: str, rule: str) -> None:
        old = self.messages[index]
        if self.manner.settled and not _shorter(text, old, self.sizes[index], self.manner):
            return
        content = text if isinstance(old.get("content"), str) else [{"type": "text", "text": text}]
        self.messages[index] = {**old, "content": content}
        size = self.manner.measure(text)
        self.total += size - self.sizes[index]
        self.sizes[index] = size
        self._decide(index, action, rule)

    def _decide(self, index: int, action: str, rule: str) -> None:
        self.decided[index] = {"action": action, "rule": rule}

    def rows(self, gate: Row | None) -> list[Row]:
        """Returns the decisions in the order of the messages, the gate that closed, and the sum of all."""
        rows = [self._row(index, self.decided[index]) for index in sorted(self.decided)]
        done = [row["action"] for row in rows]
        summary = {
            "action": "summary",
            "messages": len(self.messages),
            "trimmed": done.count("trim"),
            "cleared": done.count("clear"),
            "tokens_before": -(-sum(self.given_sizes) // 4),
            "tokens_after": -(-self.total // 4),
        }
        return [*rows, *([gate] if gate else []), summary]

    def _row(self, index: int, decision: Row) -> Row:
        old, new = self.given[index], self.messages[index]
        return {
            "action": decision["action"],
            "index": index,
            "role": "toolResult",
            "tool": old.get("toolName"),
            "chars_before": sum(map(len16, texts(old))),
            "chars_after": sum(map(len16, texts(new))),
            "tokens_before": -(-self.given_sizes[index] // 4),
            "tokens_after": -(-self.sizes[index] // 4),
            "rule": decision["rule"],
        }


def _cutoff(messages: Sequence[Message], rules: PruneRules) -> int | None:
    """Returns the index from which messages are protected; None when there are too few to prune anything."""
    marks = [_nth_last(messages, "assistant", rules.keep_last_assistants)]
    if rules.keep_last_turns is not None:
        marks.append(_nth_last(messages, "user", rules.keep_last_turns))
    return None if None in marks else min(mark for mark in marks if mark is not None)


def _nth_last(messages: Sequence[Message], role: str, count: int) -> int | None:
    if count <= 0:
        return len(messages)
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].get("role") == role:
            count -= 1
            if count == 0:
                return index
    return None


def _size(message: Message, measure: Callable[[str], int]) -> int:
    """Returns the size in quarter tokens as the reference sums it; details and unknown blocks are left out."""
    role = message.get("role")
    if role not in _MEASURED:
        return OTHER_CHARS
    content = message.get("content")
    if isinstance(content, str):
        return measure(content)
    size = 0
    for block in content if isinstance(content, list) else ():
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text":
            said = block.get("text")
            size += measure(said) if isinstance(said, str) else 0
        elif role != "assistant":
            size += IMAGE_CHARS if kind == "image" else 0
        elif kind == "thinking":
            size += measure(str(block.get("thinking") or ""))
        elif kind in CALL_TYPES:
            arguments = call_arguments(block)
            size += measure(js_text({} if arguments is None else arguments))
    return size


def _trimmed(message: Message, rules: PruneRules, manner: Manner) -> str | None:
    """Returns the shortened text of a result, None where it stays as it is."""
    parts, had_images = _parts(message)
    raw_chars = sum(map(len16, parts)) + max(0, len(parts) - 1)
    if raw_chars <= rules.max_chars or rules.head_chars + rules.tail_chars >= raw_chars:
        return "\n".join(parts) if had_images else None
    text = "\n".join(parts)
    if manner.settled and not had_images and _is_trimmed(text, raw_chars, rules):
        return None
    head = manner.piece(text, 0, rules.head_chars)
    tail = manner.piece(text, -rules.tail_chars, None) if rules.tail_chars else ""
    kept = f"kept first {rules.head_chars} chars and last {rules.tail_chars} chars of {raw_chars} chars"
    return f"{head}{_JOINT}{tail}\n\n[Tool result trimmed: {kept}.]"


def _parts(message: Message) -> tuple[list[str], bool]:
    """Returns the texts of a result, each image as a marker, and whether there was one."""
    content = message.get("content")
    if not image_count(message) or not isinstance(content, list):
        return texts(message), False
    parts = []
    for block in content:
        if isinstance(block, dict) and block.get("type") == "image":
            parts.append(IMAGE_MARKER)
        elif isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str):
            parts.append(block["text"])
    return parts, True


def _is_trimmed(text: str, raw_chars: int, rules: PruneRules) -> bool:
    """Says whether the text is what a trim with these numbers leaves, and not one that merely ends like it."""
    notice = pattern(_TRIMMED).search(text, max(0, len(text) - 200))
    if notice is None:
        return False
    head_chars, tail_chars = int(notice[1]), int(notice[2])
    longest = head_chars + tail_chars + len(_JOINT) + len(notice[0])
    return head_chars <= rules.head_chars and tail_chars <= rules.tail_chars and raw_chars <= longest


def _shorter(text: str, old: Message, old_size: int, manner: Manner) -> bool:
    """Says whether the text is shorter than the result by the measure and, images apart, in chars."""
    if manner.measure(text) >= old_size:
        return False
    return image_count(old) > 0 or len16(text) < sum(map(len16, texts(old)))
