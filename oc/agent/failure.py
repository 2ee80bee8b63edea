"""What a failed model call is called: one kind, one line without secrets, one hint. Pure; imports no llm.

Providers' plugins raise whatever their client raises, so an exception is judged by its status, its code, its class
name and its words. Patterns of overflow are those of Pi 0.58 and OpenClaw 2026.3.13.
"""

import re
from collections.abc import Iterable

from oc.base.text import cut16, pattern
from oc.base.typed import Any, NamedTuple

MAX_TEXT_CHARS = 600

_OVERFLOW = (
    r"prompt is too long",
    r"input is too long for (the )?requested model",
    r"exceeds the context window",
    r"input token count.*exceeds the maximum",
    r"maximum prompt length is \d+",
    r"reduce the length of the messages",
    r"maximum context length is \d+ tokens",
    r"exceeds the limit of \d+",
    r"exceeds the available context size",
    r"greater than the context length",
    r"context window exceeds limit",
    r"exceeded model token limit",
    r"too large for model with \d+ maximum context length",
    r"model_context_window_exceeded",
    r"context[_ ]length[_ ]exceeded",
    r"too many tokens",
    r"token limit exceeded",
    r"request_too_large",
    r"\b413\b.*too large",
    r"exceeds? (the )?context limit",
    r"context overflow",
    r"上下文过长|上下文超出|超出最大上下文|请压缩上下文",
)
_NO_BODY = r"^4(00|13)\s*(status code)?\s*\(no body\)"
# Words of overflow also occur where a shorter request does not help: quotas by the minute, billing, a model's demands.
_NOT_OVERFLOW = (
    r"rate.?limit|tokens per minute|\btpm\b|quota|billing|context window (is )?too small"
    r"|reasoning (is )?(required|mandatory)|requires reasoning"
)
_KEY_LIKE = (
    r"\b(?:sk|pk|rk|gsk|xai|key)-[\w*.-]{6,}|\bAIza[\w-]{20,}|(?i:\bbearer\s+)\S+|(?i:api[_-]?key[\"'=:\s]+)[\w*.-]{6,}"
)


class Failure(NamedTuple):
    """`kind`: overflow, key, rate, server, refused, timeout, cut, length, filter, unknown or other."""

    kind: str
    message: str
    hint: str | None = None


def is_overflow_text(text: str) -> bool:
    """Says whether a provider's words mean that the request does not fit its window."""
    if pattern(f"(?i){_NOT_OVERFLOW}").search(text):
        return False
    return bool(pattern(f"(?is){'|'.join(_OVERFLOW)}").search(text) or pattern(f"(?i){_NO_BODY}").search(text))


def is_overflow_message(message: dict[str, Any], window_tokens: int | None = None) -> bool:
    """Says whether a stored assistant message ended in an overflow, told by its error or by its usage.

    Some providers cut the input without a word: a good answer that read more than the window holds is one too.
    """
    if message.get("stopReason") == "error":
        return is_overflow_text(str(message.get("errorMessage") or ""))
    if not window_tokens or message.get("stopReason") != "stop":
        return False
    usage = message.get("usage") or {}
    return (usage.get("input") or 0) + (usage.get("cacheRead") or 0) > window_tokens


def failure_of(error: Exception, model: str, secrets: Iterable[str] = ()) -> Failure:
    """Returns what an exception out of a provider's client means; its text is kept, without anything secret."""
    status, code, text = _status(error), str(getattr(error, "code", None) or ""), _words(error)
    kind = _kind(error, status, f"{code} {text}")
    lead = {
        "overflow": "the request does not fit the model's window",
        "key": "the key was refused" if status else "no key",
        "rate": "too many requests",
        "server": "the provider failed",
        "refused": "cannot connect",
        "timeout": "no answer in time",
        "cut": "the answer broke off",
        "unknown": "the provider does not know the model",
    }.get(kind, type(error).__name__)
    number = f" ({status})" if status else ""
    detail = f": {text}" if text else ""
    return Failure(kind, without_secrets(f"{model}: {lead}{number}{detail}", secrets), _HINTS.get(kind))


_HINTS = {
    "overflow": "`oc compact` shortens the session; a model with a larger window takes it as it is",
    "key": "`llm keys set NAME` stores a key",
    "rate": "try again later",
    "server": "try again later",
    "timeout": "--timeout sets how long to wait",
}


def _status(error: Exception) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        status = getattr(holder, "status_code", None)
        if isinstance(status, int):
            return status
    return None


def _words(error: Exception) -> str:
    """Returns the provider's own sentence where its client keeps it apart, else the exception's text."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    said = inner.get("message") if isinstance(inner, dict) else None
    text = said if isinstance(said, str) and said.strip() else str(error)
    return " ".join(text.split()).rstrip(".")


def _kind(error: Exception, status: int | None, text: str) -> str:
    name = type(error).__name__
    if status in (None, 400, 413, 422) and is_overflow_text(text.strip()):
        return "overflow"
    if status is not None:
        known = {401: "key", 403: "key", 404: "unknown", 408: "timeout", 429: "rate"}
        return known.get(status, "server" if status >= 500 else "other")
    if name == "NeedsKeyException":
        return "key"
    if isinstance(error, TimeoutError) or "Timeout" in name:
        return "timeout"
    if name in ("RemoteProtocolError", "IncompleteRead", "ReadError", "ChunkedEncodingError"):
        return "cut"
    if isinstance(error, ConnectionError) or "Connect" in name:
        return "refused"
    return "other"


def without_secrets(text: str, secrets: Iterable[str] = ()) -> str:
    """Returns the text, at most MAX_TEXT_CHARS long, with keys and tokens replaced by stars."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= 8:
            text = text.replace(secret, "***")
    text = re.sub(_KEY_LIKE, "***", text)
    return text if len(text) <= MAX_TEXT_CHARS else cut16(text, MAX_TEXT_CHARS) + "..."
