"""How many tokens fit into a request, where that number comes from, and when a context is too large. Pure.

Numbers follow openclaw 2026.3.13 (model catalog, contextTokens as a cap, 200000) and Pi 0.58 (shouldCompact).
"""

import math
from collections.abc import Iterator, Mapping

from oc.base.typed import Any, NamedTuple
from oc.config.load import Config

DEFAULT_WINDOW_TOKENS = 200_000
KEEP_RECENT_TOKENS = 20_000
DEFAULT_RESERVE = 16_384
DEFAULT_SOFT_TOKENS = 4000
DEFAULT_RESERVE_FLOOR = 20_000
_CAP = "agents.defaults.contextTokens"


class Window(NamedTuple):
    """`origin` names what decided: `--window`, `session`, a configuration key, or `default`."""

    tokens: int
    origin: str


def window(
    config: Config, *, tokens: int | None = None, model: str | None = None, row: Mapping[str, Any] | None = None
) -> Window:
    """Returns the window: `tokens` as given, else the model's, else the session row's, else the configuration's.

    `model` is the one asked for by name; without it the row's own, then the configured one. What the agent's
    contextTokens allow caps all but `tokens`.
    """
    if tokens is not None:
        return Window(tokens, "--window")
    found = next(_candidates(config, model, row or {}), None)
    cap = _positive(config.get(_CAP))
    if cap is not None and (found is None or cap < found.tokens):
        return Window(cap, _CAP)
    return found or Window(DEFAULT_WINDOW_TOKENS, "default")


def _candidates(config: Config, model: str | None, row: Mapping[str, Any]) -> Iterator[Window]:
    named = model
    if named is None:
        stored = _positive(row.get("contextTokens"))
        if stored is not None:
            yield Window(stored, "session")
        named = _joined(row.get("providerOverride"), row.get("modelOverride"))
        named = named or _joined(row.get("modelProvider"), row.get("model")) or _configured(config)
    if named:
        yield from _of_model(config, named)


def _joined(provider: Any, model: Any) -> str | None:
    if not isinstance(model, str) or not model:
        return None
    return f"{provider}/{model}" if isinstance(provider, str) and provider else model


def _configured(config: Config) -> str | None:
    model = config.get("agents.defaults.model")
    primary = model.get("primary") if isinstance(model, dict) else model
    return primary if isinstance(primary, str) else None


def _of_model(config: Config, name: str) -> Iterator[Window]:
    """Yields what models.providers says of a model, named with its provider or alone."""
    providers = config.get("models.providers")
    head, _, rest = name.partition("/")
    for provider, listed in providers.items() if isinstance(providers, dict) else ():
        models = listed.get("models") if isinstance(listed, dict) else None
        for model in models if isinstance(models, list) else ():
            if isinstance(model, dict) and (model.get("id") == name or (provider, model.get("id")) == (head, rest)):
                tokens = _positive(model.get("contextWindow"))
                if tokens is not None:
                    yield Window(tokens, f"models.providers.{provider}")


def _positive(value: Any) -> int | None:
    """Returns a number over zero as a whole one; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return math.floor(value) if value >= 1 else None


def reserve_tokens(config: Config) -> int:
    """Returns what is kept free for the answer: the configured reserve, but not less than the floor."""
    prefix = "agents.defaults.compaction"
    reserve = _whole(config.get(f"{prefix}.reserveTokens"), DEFAULT_RESERVE)
    return max(reserve, _whole(config.get(f"{prefix}.reserveTokensFloor"), DEFAULT_RESERVE_FLOOR))


def flush_tokens(config: Config) -> tuple[int, int]:
    """Returns how far below the reserve a flush is due, and that reserve: its floor alone, as the reference has it."""
    prefix = "agents.defaults.compaction"
    soft = _whole(config.get(f"{prefix}.memoryFlush.softThresholdTokens"), DEFAULT_SOFT_TOKENS)
    return soft, _whole(config.get(f"{prefix}.reserveTokensFloor"), DEFAULT_RESERVE_FLOOR)


def _whole(value: float | None, default: int) -> int:
    return default if value is None or not math.isfinite(value) or value < 0 else math.floor(value)


def flush_threshold(window_tokens: float, reserve_floor: float, soft_tokens: float) -> int:
    """Returns the size of context from which on a flush is due; 0: the window is too small for one."""
    return max(0, math.floor(window_tokens) - max(0, math.floor(reserve_floor)) - max(0, math.floor(soft_tokens)))


def compaction_trigger(window_tokens: int, reserve: int) -> int:
    """Returns the size of context above which it is time to compact."""
    return window_tokens - reserve


def run_limit(profiles: int = 1) -> int:
    """Returns how often a run may call a model before it is given up, by how many keys may be tried in turn."""
    return min(160, max(32, 24 + max(1, profiles) * 8))


def keep_recent_tokens(config: Config) -> int:
    """Returns how much of the newest conversation a compaction leaves as it is."""
    return _positive(config.get("agents.defaults.compaction.keepRecentTokens")) or KEEP_RECENT_TOKENS


def is_over(context_tokens: int, window_tokens: int, reserve: int) -> bool:
    """Says whether a context leaves less than the reserve free: then it is time to compact."""
    return context_tokens > compaction_trigger(window_tokens, reserve)
