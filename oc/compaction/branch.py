"""What is summarised of a branch that is left: which entries, within which budget, and how it is asked for. Pure.

Behaviour follows Pi 0.58 (table: sessions-branch); the wording is our own.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from oc.base.tokens import Counter
from oc.compaction.files import FileOps, file_lists, file_ops, file_section
from oc.compaction.plan import Question
from oc.compaction.prompts import BRANCH, SYSTEM
from oc.compaction.serialise import serialise
from oc.message.derived import for_model, from_entry
from oc.message.shapes import Message
from oc.message.size import message_tokens

Entry = dict[str, Any]
DEFAULT_WINDOW_TOKENS = 128_000
RESERVE_TOKENS = 16_384
MAX_TOKENS = 2048
# A summary that breaks the budget is taken all the same as long as less than this share of it is used.
_SUMMARY_SHARE = 0.9


class Left(NamedTuple):
    """The entries of the branch that is left, oldest first, and the id of the last one both branches have."""

    entries: list[Entry]
    common_id: str | None


def left_behind(old_path: Sequence[Entry], new_path: Sequence[Entry]) -> Left:
    """Returns what the path to the old leaf has that the path to the new one has not."""
    on_new = {entry["id"] for entry in new_path}
    for place in range(len(old_path) - 1, -1, -1):
        if old_path[place]["id"] in on_new:
            return Left(list(old_path[place + 1 :]), old_path[place]["id"])
    return Left(list(old_path), None)


class Branch(NamedTuple):
    """Messages to summarise, their tokens, and what the whole branch did to files."""

    messages: list[Message]
    tokens: int
    files: FileOps


def prepare_branch(entries: Sequence[Entry], budget_tokens: int, counter: Counter) -> Branch:
    """Returns the newest messages that fit into the budget (0: all); results of tools are left out.

    File lists of earlier branch summaries count whether they fit or not.
    """
    taken: list[Message] = []
    used = 0
    seen: list[Message] = []
    for entry in reversed(entries):
        message = from_entry(entry)
        if message is None or message.get("role") == "toolResult":
            continue
        seen.append(message)
        tokens = message_tokens(message, counter)
        if budget_tokens > 0 and used + tokens > budget_tokens:
            summary = entry.get("type") in ("compaction", "branch_summary")
            if summary and used < budget_tokens * _SUMMARY_SHARE:
                taken.append(message)
                used += tokens
            break
        taken.append(message)
        used += tokens
    return Branch(taken[::-1], used, _files(entries, seen))


def _files(entries: Sequence[Entry], messages: Sequence[Message]) -> FileOps:
    listed: dict[str, list[Any]] = {"readFiles": [], "modifiedFiles": []}
    for entry in entries:
        details = entry.get("details")
        if entry.get("type") == "branch_summary" and not entry.get("fromHook") and isinstance(details, dict):
            for name, paths in listed.items():
                found = details.get(name)
                paths.extend(found if isinstance(found, list) else ())
    return file_ops(messages, listed)


def question(branch: Branch) -> Question:
    """Returns what a model is asked for the summary."""
    conversation = serialise(for_model(branch.messages))
    prompt = f"<conversation>\n{conversation}\n</conversation>\n\n{BRANCH}"
    return Question("history", SYSTEM, prompt, MAX_TOKENS)


def summary_entry(branch: Branch, summary: str, *, from_id: str, summariser: str, timestamp: str) -> Entry:
    """Returns the entry to hang on the entry that is gone back to (`from_id`), without id and parent."""
    read, modified = file_lists(branch.files)
    return {
        "type": "branch_summary",
        "timestamp": timestamp,
        "fromId": from_id,
        "summary": summary + file_section(read, modified),
        "details": {"readFiles": read, "modifiedFiles": modified, "summariser": summariser},
    }
