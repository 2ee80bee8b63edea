"""Summaries by the built-in model: recognises what asks for one and hands the conversation to the extractor. Pure.

Three forms: the question that a compaction asks a model, a text after "Summarise:", and the conversation so far.
"""

from collections.abc import Iterator, Sequence

from oc.base.text import pattern
from oc.message.derived import SUMMARY_END, SUMMARY_LEAD
from oc.message.shapes import Message, text

_CONVERSATION = r"(?s)<conversation>\n(.*)\n</conversation>"
_PREVIOUS = r"(?s)<previous-summary>\n(.*)\n</previous-summary>"
_PART = r"(?m)(?:\A|\n\n)\[(User|Assistant|Assistant thinking|Assistant tool calls|Tool result)\]: "
_ROLES = {"User": "user", "Assistant": "assistant", "Tool result": "toolResult"}
_ASKED_EN = (
    r"(?is)^\s*(?:please\s+|can\s+you\s+|could\s+you\s+)?(?:summari[sz]e|sum\s+up|condense)\b[^\n:：]*[:：]?\s*(.*)$"
)
_ASKED_ZH = r"(?s)^\s*(?:请你?|帮我|请帮我)?(?:总结|概括|摘要|归纳)[^\n:：]*[:：]?\s*(.*)$"


def condensed(said: str, earlier: Sequence[Message]) -> str | None:
    """Returns the summary that a user message asks for, None when it asks for none.

    `earlier` is the conversation before that message: what is summarised when the message brings no text of its own.
    """
    conversation = pattern(_CONVERSATION).search(said)
    if conversation:
        return _of_question(conversation[1], said[conversation.end() :])
    asked = pattern(_ASKED_EN).match(said) or pattern(_ASKED_ZH).match(said)
    if asked is None:
        return None
    from oc.compaction import extract

    own = asked[1].strip()
    if own:
        return extract.summarise([{"role": "user", "content": own}])
    summaries = [text(message) for message in earlier if _is_summary(message)]
    previous = summaries[-1].removeprefix(SUMMARY_LEAD).removesuffix(SUMMARY_END) if summaries else None
    return extract.summarise([message for message in earlier if not _is_summary(message)], previous)


def _is_summary(message: Message) -> bool:
    return message.get("role") == "user" and text(message).startswith(SUMMARY_LEAD)


def _of_question(conversation: str, rest: str) -> str:
    from oc.compaction import extract, prompts

    messages = list(_messages(conversation))
    previous = pattern(_PREVIOUS).search(rest)
    if prompts.ORIGINAL_REQUEST in rest:
        return extract.summarise_prefix(messages)
    return extract.summarise(messages, previous[1] if previous else None)


def _messages(conversation: str) -> Iterator[Message]:
    """Yields the messages of a serialised conversation; what was thought and called is no message of its own."""
    parts = pattern(_PART).split(conversation)
    for name, said in zip(parts[1::2], parts[2::2], strict=True):
        if name in _ROLES:
            yield {"role": _ROLES[name], "content": [{"type": "text", "text": said}]}
