"""Summaries of more than a model takes at once: chunk after chunk, or in parts that are then merged. Pure.

Behaviour follows openclaw 2026.3.13, compaction (table: context-compact-stages), but for its last resort: a text that
says that there is no summary. Here the failure goes on to the caller, who writes nothing (design D12).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from oc.base.tokens import Counter
from oc.compaction.chunks import DEFAULT_PARTS, chunk_by_tokens, is_oversized, split_by_share
from oc.compaction.prompts import NO_HISTORY
from oc.errors import Unavailable
from oc.message.shapes import Message
from oc.message.size import message_tokens, total_tokens

MIN_MESSAGES_FOR_SPLIT = 4
_KEEP_EXACT = """\
Copy what identifies something exactly as it stands, never shortened or rebuilt: UUIDs, hashes, tokens, keys, ticket \
numbers, names of hosts, addresses with their ports, URLs, file names."""
MERGE = """\
These are summaries of successive parts of one conversation. Make one summary of them, in which nothing that is still \
open gets lost: tasks under way and how far they are, what the user asked for last, decisions with their reasons, \
promises, and what the agent was about to do."""

# (messages, previous summary, instructions) -> summary; raises Unavailable.
Ask = Callable[[Sequence[Message], str | None, str | None], str]


@dataclass(frozen=True, slots=True)
class Stages:
    """How one conversation is summarised: `ask` calls the model; a chunk takes at most `max_chunk_tokens`.

    `identifiers` is the wording on exact values, None for none; see `identifier_text`.
    """

    ask: Ask
    counter: Counter
    max_chunk_tokens: int
    window_tokens: int
    identifiers: str | None = _KEEP_EXACT
    parts: int = DEFAULT_PARTS
    min_messages: int = MIN_MESSAGES_FOR_SPLIT

    def summary(self, messages: Sequence[Message], previous: str | None = None, focus: str | None = None) -> str:
        """Returns the summary: in parts that are merged when the messages are more than one chunk takes.

        Raises Unavailable when the model fails on more than messages that are too large by themselves.
        """
        total = total_tokens(messages, self.counter)
        few = len(messages) < max(2, self.min_messages)
        if self.parts <= 1 or few or total <= self.max_chunk_tokens:
            return self._fallback(messages, previous, focus)
        split = [chunk for chunk in split_by_share(messages, self.counter, parts=self.parts) if chunk]
        if len(split) <= 1:
            return self._fallback(messages, previous, focus)
        partial = [self._fallback(chunk, None, focus) for chunk in split]
        merged = [{"role": "user", "content": text} for text in partial]
        whole = replace(self, parts=1)
        return whole.summary(merged, previous, f"{MERGE}\n\n{focus}" if focus else MERGE)

    def _fallback(self, messages: Sequence[Message], previous: str | None, focus: str | None) -> str:
        """Returns the summary of all messages, else that of those of a possible size, with a note of each other."""
        if not messages:
            return NO_HISTORY if previous is None else previous
        try:
            return self._chunked(messages, previous, focus)
        except Unavailable:
            large = [one for one in messages if is_oversized(one, self.counter, window_tokens=self.window_tokens)]
            small = [one for one in messages if one not in large]
            if not large or not small:
                raise
        return self._chunked(small, previous, focus) + "".join(f"\n\n{self._note(message)}" for message in large)

    def _note(self, message: Message) -> str:
        thousands = math.floor(message_tokens(message, self.counter) / 1000 + 0.5)
        return f"[Large {message.get('role') or 'message'} (~{thousands}K tokens) omitted from summary]"

    def _chunked(self, messages: Sequence[Message], previous: str | None, focus: str | None) -> str:
        """Returns the summary of the last chunk, each of them made on top of the one before."""
        summary = previous
        wanted = instructions(focus, self.identifiers)
        for chunk in chunk_by_tokens(messages, self.counter, max_tokens=self.max_chunk_tokens):
            shown = [{name: value for name, value in one.items() if name != "details"} for one in chunk]
            summary = self.ask(shown, summary, wanted)
        return NO_HISTORY if summary is None else summary


def identifier_text(policy: str, custom: str | None = None) -> str | None:
    """Returns the wording on exact values by `compaction.identifierPolicy`: strict, custom or off."""
    if policy == "off":
        return None
    own = (custom or "").strip()
    return own if policy == "custom" and own else _KEEP_EXACT


def instructions(focus: str | None, identifiers: str | None) -> str | None:
    """Returns what a model is told beside the form of a summary; None when there is nothing."""
    parts = [identifiers or "", f"Additional focus:\n{focus}" if focus else ""]
    return "\n\n".join(part for part in parts if part) or None
