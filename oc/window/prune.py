"""Soft-trim and hard-clear of old tool results in the view sent to the model.

The transcript on disk is never changed here, nor is the text of a user or an assistant. Behaviour follows
openclaw 2026.3.13, context-pruning (table: tests/vectors/context-pruning.json), with three differences of `OURS`:
wide characters weigh what they cost in tokens, no result gets longer, and what was trimmed once stays as it is.
"""

from collections.abc import Callable, Sequence

from oc.base.jsonl import js_text
from oc.base.text import len16, pattern, slice16, weight16, whole16
from oc.base.tokens import ESTIMATE
from oc.base.typed import Any, NamedTuple
from oc.message.shapes import CALL_TYPES, Message, call_arguments, image_count, texts
from oc.message.size import total_tokens
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
    pruned = view(messages, window_tokens=window_tokens, rules=rules, manner=manner)
    return pruned.messages, pruned.rows()


def view(
    messages: Sequence[Message], *, window_tokens: int | None, rules: PruneRules, manner: Manner = OURS
) -> "Pruned":
    """Returns what `prune` does with its rows still to be made, for those who want none."""
    pruned = Pruned(messages, rules, manner)
    pruned.gate = pruned.closed_gate(window_tokens)
    if pruned.gate is None and window_tokens is not None:
        pruned.trim()
        pruned.gate = pruned.clear(window_tokens * 4)
    return pruned


def stopped(messages: Sequence[Message], rule: str, manner: Manner = OURS) -> list[Row]:
    """Returns the rows of a run that a gate outside of it has stopped."""
    pruned = Pruned(messages, PruneRules(), manner)
    pruned.gate = rule
    return pruned.rows()


class Pruned:
    """The messages while they are pruned, with their sizes kept up to date; `gate` names the rule that stopped it."""

    def __init__(self, messages: Sequence[Message], rules: PruneRules, manner: Manner) -> None:
        self.gate: str | None = None
        self.messages = list(messages)
        self._given = messages
        self._rules = rules
        self._manner = manner
        self._before = [_size(message, manner.measure) for message in messages]
        self._sizes = list(self._before)
        self._total = sum(self._sizes)
        self._start = next((i for i, m in enumerate(messages) if m.get("role") == "user"), None)
        self._cutoff, self._scarce = _cutoff(messages, rules)
        self._candidates: list[int] = []
        self._decided: dict[int, tuple[str, str]] = {}

    def closed_gate(self, window_tokens: int | None) -> str | None:
        """Returns the first gate that stops pruning before it starts."""
        if window_tokens is None:
            return "window"
        if self._start is None:
            return "firstUser"
        if self._scarce is not None:
            return self._scarce
        return "softTrimRatio" if self._total < self._rules.soft_trim_ratio * window_tokens * 4 else None

    def trim(self) -> None:
        """Shortens every prunable result that is over the limit, and notes those that a rule spares."""
        rules = self._rules
        wanted = tool_filter(rules.allow, rules.deny)
        small = min(rules.max_chars, IMAGE_CHARS)
        for index in range(self._start or 0, self._cutoff):
            message = self.messages[index]
            if message.get("role") != "toolResult":
                continue
            # A small size rules out images and text over the limit, whatever the number of blocks.
            is_small = self._sizes[index] + len(message.get("content") or ()) <= small
            if wanted is not None and not wanted(str(message.get("toolName") or "")):
                self._decided[index] = ("spare", "tools")
            elif not is_small and not rules.images and image_count(message):
                self._decided[index] = ("spare", "images")
            else:
                self._candidates.append(index)
                text = None if is_small else _trimmed(message, rules, self._manner)
                if text is not None:
                    self._replace(index, text, self._manner.measure(text), ("trim", "softTrim.maxChars"))

    def clear(self, window_chars: int) -> str | None:
        """Replaces results by the placeholder, oldest first, until the view is small enough; returns the gate."""
        rules = self._rules
        enough = rules.hard_clear_ratio * window_chars
        if self._total < enough:
            return "hardClearRatio"
        if not rules.hard_clear:
            return "hardClear.enabled"
        if sum(self._sizes[index] for index in self._candidates) < rules.min_prunable_tool_chars:
            return "minPrunableToolChars"
        size = self._manner.measure(rules.placeholder)
        for index in self._candidates:
            if self._total < enough:
                return "hardClearRatio"
            self._replace(index, rules.placeholder, size, ("clear", "hardClearRatio"))
        return None

    def _replace(self, index: int, text: str, size: int, decision: tuple[str, str]) -> None:
        old = self.messages[index]
        if self._manner.settled and not _is_shorter(text, size, old, self._sizes[index]):
            return
        content = text if isinstance(old.get("content"), str) else [{"type": "text", "text": text}]
        self.messages[index] = {**old, "content": content}
        self._total += size - self._sizes[index]
        self._sizes[index] = size
        self._decided[index] = decision

    def rows(self) -> list[Row]:
        """Returns the decisions in the order of the messages, the gate that closed, and the sum of all.

        The tokens of all are counted as everywhere else; the ratios weigh a little otherwise (images, names of calls).
        """
        after = total_tokens(self.messages, ESTIMATE)
        rows = [self._row(index, *self._decided[index]) for index in sorted(self._decided)]
        if self.gate is not None:
            rows.append({"action": "gate", "rule": self.gate, "tokens_before": after})
        done = [action for action, _ in self._decided.values()]
        summary = {
            "action": "summary",
            "messages": len(self.messages),
            "trimmed": done.count("trim"),
            "cleared": done.count("clear"),
            "tokens_before": total_tokens(self._given, ESTIMATE),
            "tokens_after": after,
        }
        return [*rows, summary]

    def _row(self, index: int, action: str, rule: str) -> Row:
        old, new = self._given[index], self.messages[index]
        return {
            "action": action,
            "index": index,
            "role": "toolResult",
            "tool": old.get("toolName"),
            "chars_before": sum(map(len16, texts(old))),
            "chars_after": sum(map(len16, texts(new))),
            "tokens_before": -(-self._before[index] // 4),
            "tokens_after": -(-self._sizes[index] // 4),
            "rule": rule,
        }


def _cutoff(messages: Sequence[Message], rules: PruneRules) -> tuple[int, str | None]:
    """Returns the index from which messages are protected, and the rule that protects all since there are too few."""
    marks = {"keepLastAssistants": _nth_last(messages, "assistant", rules.keep_last_assistants)}
    if rules.keep_last_turns is not None:
        marks["keepLastTurns"] = _nth_last(messages, "user", rules.keep_last_turns)
    scarce = next((rule for rule, mark in marks.items() if mark is None), None)
    return min((mark for mark in marks.values() if mark is not None), default=0), scarce


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


def _is_shorter(text: str, size: int, old: Message, old_size: int) -> bool:
    """Says whether the text is shorter than the result by its size and, images apart, in chars."""
    if size >= old_size:
        return False
    # No char is more than four quarter tokens, so a large size needs no counting.
    if len(text) * 8 < old_size < IMAGE_CHARS:
        return True
    return image_count(old) > 0 or len16(text) < sum(map(len16, texts(old)))
