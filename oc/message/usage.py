"""What a provider reported about one call, under whichever names: input, output, cache and total tokens. Pure.

Behaviour follows OpenClaw 2026.3.13, normalizeUsage (tables: context-turns, context-usage-tail).
"""

import math
from collections.abc import Sequence
from typing import Any

from oc.message.shapes import Message

Usage = dict[str, Any]
PARTS = ("input", "output", "cacheRead", "cacheWrite")
# Per part its other names in the order in which they count; the first that is there decides, number or not.
_OTHER_NAMES = {
    "input": ("inputTokens", "input_tokens", "promptTokens", "prompt_tokens"),
    "output": ("outputTokens", "output_tokens", "completionTokens", "completion_tokens"),
    "cacheRead": ("cache_read", "cache_read_input_tokens", "cached_tokens"),
    "cacheWrite": ("cache_write", "cache_creation_input_tokens"),
    "total": ("totalTokens", "total_tokens"),
}


def normalised(usage: Any) -> Usage | None:
    """Returns the parts and the total that are known, None when none is; a negative input is 0."""
    if not isinstance(usage, dict):
        return None
    found = {}
    for part, others in _OTHER_NAMES.items():
        value = usage.get(part)
        if value is None:
            value = _otherwise(usage, part, others)
        if number(value) is not None:
            found[part] = value
    if "input" in found:
        found["input"] = max(0, found["input"])
    return found or None


def _otherwise(usage: Usage, part: str, names: Sequence[str]) -> Any:
    value = next((usage[name] for name in names if usage.get(name) is not None), None)
    if value is None and part == "cacheRead":
        details = usage.get("prompt_tokens_details")
        value = details.get("cached_tokens") if isinstance(details, dict) else None
    return value


def number(value: Any) -> Any:
    """Returns a finite number, None for anything else."""
    kind = type(value)
    return value if kind is int or (kind is float and math.isfinite(value)) else None


def prompt_tokens(usage: Usage | None) -> Any:
    """Returns what a call was sent, cached or not, None when that is nothing or not known."""
    total = sum(number((usage or {}).get(part)) or 0 for part in ("input", "cacheRead", "cacheWrite"))
    return total if total > 0 else None


def is_told(usage: Usage | None) -> bool:
    """Says whether a usage tells anything: a call that failed or was broken off has nothing but zeros."""
    return any(value > 0 for value in (usage or {}).values())


def no_usage() -> Usage:
    """Returns the usage of a call of which nothing is known: zeros."""
    return {**dict.fromkeys((*PARTS, "totalTokens"), 0), "cost": {**dict.fromkeys(PARTS, 0), "total": 0}}


def snapshot(message: Message) -> Usage:
    """Returns the usage of an assistant message in the transcripts' form: parts, total, and cost if there is any."""
    found = normalised(message.get("usage"))
    if found is None:
        return no_usage()
    parts = {part: found.get(part, 0) for part in PARTS}
    usage = {**parts, "totalTokens": found.get("total", sum(parts.values()))}
    cost = _cost(message["usage"].get("cost"))
    return {**usage, "cost": cost} if cost else usage


def _cost(given: Any) -> Usage | None:
    if not isinstance(given, dict):
        return None
    known = {part: number(given.get(part)) for part in (*PARTS, "total")}
    if all(value is None for value in known.values()):
        return None
    parts = {part: known[part] or 0 for part in PARTS}
    return {**parts, "total": sum(parts.values()) if known["total"] is None else known["total"]}
