"""From a preparation to a compaction entry: what to ask, how the answers are joined, what is stored. Pure.

Behaviour follows Pi 0.58's compact (table: tests/vectors/sessions-compact.json).
"""

from collections.abc import Sequence
from typing import NamedTuple

from oc.base.tokens import Counter
from oc.compaction.cut import Entry
from oc.compaction.files import file_lists, file_section, without_files
from oc.compaction.prepare import Preparation
from oc.compaction.prompts import NO_HISTORY, SPLIT_TURN, SYSTEM, history_prompt, prefix_prompt
from oc.compaction.serialise import serialise
from oc.message.shapes import Message


class Question(NamedTuple):
    """One call of a model; `part` is `history` or `prefix`, `max_tokens` what the answer may take."""

    part: str
    system: str
    prompt: str
    max_tokens: int


class Material(NamedTuple):
    """What goes into the summary: messages of the history and of a split turn's first part; None: no such part."""

    history: list[Message] | None
    prefix: list[Message] | None
    previous_summary: str | None


def material(preparation: Preparation) -> Material:
    """Returns what is to be summarised.

    When a turn longer than the window is all there is since the last compaction, its first part updates the previous
    summary as history does: the reference puts "No prior history." in that summary's place.
    """
    history, prefix = preparation.messages, preparation.prefix_messages
    previous = preparation.previous_summary
    if previous is not None:
        previous = without_files(previous)
    if not prefix:
        return Material(history, None, previous)
    if history:
        return Material(history, prefix, previous)
    return Material(prefix, None, previous) if previous else Material(None, prefix, None)


def questions(preparation: Preparation, *, reserve_tokens: int, instructions: str | None = None) -> list[Question]:
    """Returns what a model has to be asked: for the history, for the first part of a split turn, or for both."""
    asked = []
    history, prefix, previous = material(preparation)
    if history is not None:
        prompt = history_prompt(serialise(history), previous, instructions)
        asked.append(Question("history", SYSTEM, prompt, reserve_tokens * 8 // 10))
    if prefix is not None:
        asked.append(Question("prefix", SYSTEM, prefix_prompt(serialise(prefix)), reserve_tokens // 2))
    return asked


def joined(preparation: Preparation, history: str | None, prefix: str | None) -> str:
    """Returns the whole summary: the history's, that of the split turn, and the file lists."""
    summary = NO_HISTORY if history is None else history
    if prefix is not None:
        summary += f"\n\n---\n\n{SPLIT_TURN}\n\n{prefix}"
    return summary + file_section(*file_lists(preparation.files))


def entry_of(preparation: Preparation, summary: str, *, summariser: str, timestamp: str) -> Entry:
    """Returns the entry to append, without id and parent; `summariser` names who wrote the summary."""
    read, modified = file_lists(preparation.files)
    return {
        "type": "compaction",
        "timestamp": timestamp,
        "summary": summary,
        "firstKeptEntryId": preparation.first_kept_entry_id,
        "tokensBefore": preparation.tokens_before,
        "details": {"readFiles": read, "modifiedFiles": modified, "summariser": summariser},
    }


def counted_after(preparation: Preparation, summary: str, counter: Counter) -> int:
    """Returns the tokens of the context once the summary stands for what it summarises."""
    return counter.tokens([summary]) + preparation.counted_kept


def models_of(messages: Sequence[Message]) -> list[str]:
    """Returns the models that wrote turns of the messages, as provider/model, in the order of their first turn."""
    found: dict[str, None] = {}
    for message in messages:
        model = message.get("model")
        if message.get("role") == "assistant" and isinstance(model, str) and model:
            provider = message.get("provider")
            found[f"{provider}/{model}" if isinstance(provider, str) and provider else model] = None
    return list(found)
