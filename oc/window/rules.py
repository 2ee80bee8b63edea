"""What pruning may touch and how far it goes: the numbers of `contextPruning`, tool globs, the cache's life time. Pure.

Behaviour follows openclaw 2026.3.13, context-pruning and cache-ttl; table: tests/vectors/context-pruning-config.json.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from oc.base.clock import duration_ms, parse_iso
from oc.base.text import js_trim, pattern
from oc.base.typed import Any, NamedTuple

PLACEHOLDER = "[Old tool result content cleared]"
DEFAULT_TTL_MS = 300_000
CACHE_ENTRY = "openclaw.cache-ttl"


class PruneRules(NamedTuple):
    """Ratios are shares of the window; `keep_last_turns` None does not count turns."""

    keep_last_assistants: int = 3
    keep_last_turns: int | None = None
    soft_trim_ratio: float = 0.3
    hard_clear_ratio: float = 0.5
    min_prunable_tool_chars: int = 50_000
    max_chars: int = 4000
    head_chars: int = 1500
    tail_chars: int = 1500
    hard_clear: bool = True
    placeholder: str = PLACEHOLDER
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    images: bool = False
    ttl_ms: int = DEFAULT_TTL_MS


def rules_from(get: Callable[[str], Any]) -> PruneRules:
    """Returns the rules that `get` gives for keys below contextPruning; what is out of range is brought into it."""
    known = PruneRules._field_defaults
    ttl = get("ttl")
    parsed = duration_ms(ttl, "m") if isinstance(ttl, str) else None
    placeholder = get("hardClear.placeholder")
    enabled = get("hardClear.enabled")
    return PruneRules(
        keep_last_assistants=_count(get("keepLastAssistants"), known["keep_last_assistants"]),
        soft_trim_ratio=_ratio(get("softTrimRatio"), known["soft_trim_ratio"]),
        hard_clear_ratio=_ratio(get("hardClearRatio"), known["hard_clear_ratio"]),
        min_prunable_tool_chars=_count(get("minPrunableToolChars"), known["min_prunable_tool_chars"]),
        max_chars=_count(get("softTrim.maxChars"), known["max_chars"]),
        head_chars=_count(get("softTrim.headChars"), known["head_chars"]),
        tail_chars=_count(get("softTrim.tailChars"), known["tail_chars"]),
        hard_clear=enabled if isinstance(enabled, bool) else True,
        placeholder=(js_trim(placeholder) if isinstance(placeholder, str) else "") or PLACEHOLDER,
        allow=tuple(get("tools.allow") or ()),
        deny=tuple(get("tools.deny") or ()),
        ttl_ms=DEFAULT_TTL_MS if parsed is None else parsed,
    )


def _count(value: Any, default: int) -> int:
    return max(0, math.floor(value)) if _is_number(value) else default


def _ratio(value: Any, default: float) -> float:
    return min(1.0, max(0.0, value)) if _is_number(value) else default


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def tool_filter(allow: Sequence[str], deny: Sequence[str]) -> Callable[[str], bool] | None:
    """Returns a test of tool names by globs: `*` only, whatever the case; deny wins. None when all names pass."""
    allowed, denied = _globs(allow), _globs(deny)
    if not allowed and not denied:
        return None

    def passes(name: str) -> bool:
        lower = js_trim(name).lower()
        if any(glob(lower) for glob in denied):
            return False
        return not allowed or any(glob(lower) for glob in allowed)

    return passes


def _globs(names: Iterable[str]) -> list[Callable[[str], object]]:
    import re

    wanted = [js_trim(name).lower() for name in names]
    return [pattern("(?s)" + ".*".join(map(re.escape, name.split("*"))) + r"\Z").match for name in wanted if name]


def caches_prompts(provider: str, model: str) -> bool:
    """Says whether a provider's prompt cache has the life time that pruning waits for."""
    provider, model = provider.lower(), model.lower()
    if provider in ("anthropic", "moonshot", "zai"):
        return True
    if provider == "openrouter":
        return model.startswith(("anthropic/", "moonshot/", "moonshotai/", "zai/"))
    return provider == "kilocode" and model.startswith("anthropic/")


def last_touch(entries: Iterable[Mapping[str, Any]]) -> int | float | None:
    """Returns the epoch ms of the newest cache mark among the entries; None when there is none."""
    found = None
    for entry in entries:
        if entry.get("type") == "custom" and entry.get("customType") == CACHE_ENTRY:
            data = entry.get("data")
            stamp = data.get("timestamp") if isinstance(data, dict) else None
            found = stamp if _is_number(stamp) else found
    return found


def last_request(entries: Iterable[Mapping[str, Any]]) -> int | float | None:
    """Returns the epoch ms of the newest cache mark or answer among entries or messages; None when none has a time."""
    entries = list(entries)
    found = [last_touch(entries)]
    for entry in entries:
        message = entry.get("message")
        shown = message if isinstance(message, dict) else entry
        if shown.get("role") == "assistant":
            stamp = shown.get("timestamp")
            found.append(stamp if _is_number(stamp) else parse_iso(entry.get("timestamp")))
    return max((stamp for stamp in found if stamp is not None), default=None)


def is_expired(touched_ms: float | None, ttl_ms: int, now_ms: int) -> bool:
    """Says whether the cache is gone; never with a life time of zero or when no request is known."""
    return touched_ms is not None and ttl_ms > 0 and now_ms - touched_ms >= ttl_ms
