"""The messages that entries yield, and the form in which a model sees them. Pure.

Behaviour follows Pi 0.58: buildSessionContext and convertToLlm (tables: sessions-context, sessions-serialize).
"""

from collections.abc import Iterable

from oc.base.clock import parse_iso
from oc.base.typed import Any
from oc.message.shapes import Message

Entry = dict[str, Any]

_DERIVED_KINDS = ("custom_message", "branch_summary", "compaction")
SUMMARY_LEAD = (
    "The earlier part of this conversation was folded into the summary below. "
    "What follows it was said after that part.\n\n<summary>\n"
)
SUMMARY_END = "\n</summary>"
BRANCH_LEAD = "The conversation left another branch to come here. A summary of that branch:\n\n<summary>\n"
BRANCH_END = "</summary>"


def from_entry(entry: Entry) -> Message | None:
    """Returns the message an entry puts into the context, None for entries that put none there.

    Derived messages carry the entry's time in epoch ms, null when it cannot be read.
    """
    kind = entry.get("type")
    if kind == "message":
        message = entry.get("message")
        return message if isinstance(message, dict) else None
    if kind not in _DERIVED_KINDS:
        return None
    timestamp = parse_iso(entry.get("timestamp"))
    if kind == "custom_message":
        kept: Message = {k: entry[k] for k in ("customType", "content", "display", "details") if k in entry}
        return {"role": "custom", **kept, "timestamp": timestamp}
    if kind == "branch_summary" and entry.get("summary"):
        return {
            "role": "branchSummary",
            "summary": entry["summary"],
            "fromId": entry.get("fromId"),
            "timestamp": timestamp,
        }
    if kind == "compaction":
        return {
            "role": "compactionSummary",
            "summary": entry.get("summary"),
            "tokensBefore": entry.get("tokensBefore"),
            "timestamp": timestamp,
        }
    return None


def for_model(messages: Iterable[Message]) -> list[Message]:
    """Returns the messages as a model is shown them: only user, assistant and toolResult remain."""
    return [shown for message in messages if (shown := _shown(message)) is not None]


def _shown(message: Message) -> Message | None:
    role = message.get("role")
    if role in ("user", "assistant", "toolResult"):
        return message
    if role == "bashExecution":
        return None if message.get("excludeFromContext") else _user(bash_text(message), message)
    if role == "custom":
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        return {"role": "user", "content": blocks, "timestamp": message.get("timestamp")}
    if role == "branchSummary":
        return _user(BRANCH_LEAD + str(message.get("summary")) + BRANCH_END, message)
    if role == "compactionSummary":
        return _user(SUMMARY_LEAD + str(message.get("summary")) + SUMMARY_END, message)
    return None


def _user(text: str, message: Message) -> Message:
    return {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": message.get("timestamp")}


def bash_text(message: Message) -> str:
    """Returns a shell command that the user ran, with its output, as text."""
    output = message.get("output")
    text = f"Ran `{message.get('command')}`\n" + (f"```\n{output}\n```" if output else "(no output)")
    code = message.get("exitCode")
    if message.get("cancelled"):
        text += "\n\n(command cancelled)"
    elif code is not None and code != 0:
        text += f"\n\nCommand exited with code {code}"
    if message.get("truncated") and message.get("fullOutputPath"):
        text += f"\n\n[Output truncated. Full output: {message['fullOutputPath']}]"
    return text
