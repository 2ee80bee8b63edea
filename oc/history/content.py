"""What a message may hold: images that can be sent, no blank text, no reasoning or signatures that are refused. Pure.

Behaviour follows OpenClaw 2026.3.13, sanitizeSessionMessagesImages, dropThinkingBlocks, stripThoughtSignatures and
pruneProcessedHistoryImages (table: context-turns), except that a tool result whose content is a string keeps it.
"""

from collections.abc import Sequence
from typing import Any

from oc.base.text import js_trim, pattern
from oc.history.image import Limits, checked_image, is_image
from oc.history.policy import Policy
from oc.message.decision import Decision
from oc.message.shapes import Message

SEEN_IMAGE = "[image data removed - already processed by model]"
_SIGNATURE = r"[A-Za-z0-9+/]+|[A-Za-z0-9_-]+"


def clean_content(
    messages: Sequence[Message], policy: Policy, limits: Limits, *, thorough: bool
) -> tuple[list[Message], list[Decision]]:
    """Returns the history with images checked and, for a full policy, assistant messages cleaned.

    Full: signatures stripped unless preserved, blank texts dropped, and the message too when nothing is left.
    `thorough`: that holds for messages that ended in an error and for string contents as well.
    """
    out: list[Message] = []
    decisions: list[Decision] = []
    for message in messages:
        new: Message | None = message
        if policy.full and message.get("role") == "assistant" and (thorough or not _spared(message)):
            new = _cleaned(message, policy, decisions)
        if new is not None:
            out.append(_with_checked_images(new, limits, decisions))
    return out, decisions


def _spared(message: Message) -> bool:
    return message.get("stopReason") == "error" or isinstance(message.get("content"), str)


def _cleaned(message: Message, policy: Policy, decisions: list[Decision]) -> Message | None:
    content = message.get("content")
    if isinstance(content, str) and not js_trim(content):
        decisions.append(Decision("drop", "nothing-left", message, None))
        return None
    if not isinstance(content, list):
        return message
    signed = content
    if not policy.preserve_signatures:
        signed = strip_signatures(content, base64_only=policy.base64_signatures, camel_case=policy.base64_signatures)
    kept = [block for block in signed if not _is_blank(block)]
    if not kept:
        decisions.append(Decision("drop", "nothing-left", message, None))
        return None
    if len(kept) == len(content) and signed is content:
        return message
    after = {**message, "content": kept}
    rule = "blank-text" if len(kept) < len(content) else "signature"
    decisions.append(Decision("change", rule, message, after))
    return after


def _is_blank(block: Any) -> bool:
    return (
        isinstance(block, dict)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
        and not js_trim(block["text"])
    )


def _with_checked_images(message: Message, limits: Limits, decisions: list[Decision]) -> Message:
    content = message.get("content")
    role = message.get("role")
    if role == "toolResult" and not isinstance(content, str | list):
        after: Message = {**message, "content": []}
        decisions.append(Decision("change", "no-content", message, after))
        return after
    if role not in ("user", "assistant", "toolResult") or not isinstance(content, list):
        return message
    if not any(map(is_image, content)):
        return message
    checked = [checked_image(block, limits) if is_image(block) else block for block in content]
    if all(new is old for new, old in zip(checked, content, strict=True)):
        return message
    after = {**message, "content": checked}
    omitted = any(is_image(old) and not is_image(new) for new, old in zip(checked, content, strict=True))
    decisions.append(Decision("change", "image-omitted" if omitted else "image-kind", message, after))
    return after


def strip_signatures(content: list[Any], *, base64_only: bool, camel_case: bool) -> list[Any]:
    """Returns the blocks without the thought signatures that are refused; the same list when there are none.

    By default those that start with `msg_`; `base64_only`: all that are not base64. `camel_case` looks at
    `thoughtSignature` beside `thought_signature`.
    """
    keys = ("thought_signature", "thoughtSignature") if camel_case else ("thought_signature",)
    out = [_stripped(block, keys, base64_only=base64_only) for block in content]
    return content if all(new is old for new, old in zip(out, content, strict=True)) else out


def _stripped(block: Any, keys: tuple[str, ...], *, base64_only: bool) -> Any:
    if not isinstance(block, dict):
        return block
    refused = [key for key in keys if key in block and _refused(block[key], base64_only=base64_only)]
    return {key: value for key, value in block.items() if key not in refused} if refused else block


def _refused(signature: Any, *, base64_only: bool) -> bool:
    if not base64_only:
        return isinstance(signature, str) and signature.startswith("msg_")
    return not isinstance(signature, str) or not _is_base64(signature)


def _is_base64(text: str) -> bool:
    """Says whether the text is base64 or base64url, padded or not, in its canonical form."""
    from base64 import urlsafe_b64decode, urlsafe_b64encode

    body = "".join(text.split()).rstrip("=")
    if not pattern(_SIGNATURE).fullmatch(body) or len(body) % 4 == 1:
        return False
    body = body.replace("+", "-").replace("/", "_")
    return urlsafe_b64encode(urlsafe_b64decode(body + "=" * (-len(body) % 4))).decode().rstrip("=") == body


def drop_thinking(messages: Sequence[Message]) -> tuple[list[Message], list[Decision]]:
    """Returns the history without reasoning; an assistant message that was nothing else keeps one empty text."""
    out: list[Message] = []
    decisions: list[Decision] = []
    for message in messages:
        content = message.get("content")
        new = message
        if message.get("role") == "assistant" and isinstance(content, list):
            kept = [b for b in content if not (isinstance(b, dict) and b.get("type") == "thinking")]
            if len(kept) < len(content):
                new = {**message, "content": kept or [{"type": "text", "text": ""}]}
                decisions.append(Decision("change", "thinking", message, new))
        out.append(new)
    return out, decisions


def drop_details(messages: Sequence[Message]) -> tuple[list[Message], list[Decision]]:
    """Returns the history without the `details` of tool results, which are for screens and not for models."""
    out: list[Message] = []
    decisions: list[Decision] = []
    for message in messages:
        new = message
        if message.get("role") == "toolResult" and "details" in message:
            new = {key: value for key, value in message.items() if key != "details"}
            decisions.append(Decision("change", "details", message, new))
        out.append(new)
    return out, decisions


def drop_seen_images(messages: Sequence[Message]) -> tuple[list[Message], list[Decision]]:
    """Returns the history with a text instead of each image that an assistant message has followed."""
    last = max((i for i, message in enumerate(messages) if message.get("role") == "assistant"), default=-1)
    out: list[Message] = []
    decisions: list[Decision] = []
    for index, message in enumerate(messages):
        content = message.get("content")
        new = message
        if index < last and message.get("role") in ("user", "toolResult") and isinstance(content, list):
            shown = [{"type": "text", "text": SEEN_IMAGE} if _is_any_image(block) else block for block in content]
            if shown != content:
                new = {**message, "content": shown}
                decisions.append(Decision("change", "seen-image", message, new))
        out.append(new)
    return out, decisions


def _is_any_image(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "image"
