"""The effective `memorySearch` configuration of one agent, normalised as openclaw 2026.3.13 does. Pure.

Where the index lies is not in here: config/paths.py decides it. Table: tests/vectors/memory-config.json.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from oc.config.load import Config
from oc.errors import BadConfig

PREFIX = "agents.defaults.memorySearch."
SOURCES = ("memory", "sessions")
MODALITIES = ("image", "audio")
# What a provider embeds with when no model is named; `auto`, `local` and `llm` choose for themselves.
DEFAULT_MODELS = {
    "gemini": "gemini-embedding-001",
    "mistral": "mistral-embed",
    "ollama": "nomic-embed-text",
    "openai": "text-embedding-3-small",
    "voyage": "voyage-4-large",
}
_MULTIMODAL_MODEL = "gemini-embedding-2-preview"
_DEFAULT_WEIGHTS = (0.7, 0.3)


class Settings(NamedTuple):
    """Names are those of the keys; `model` "" leaves the choice to the provider, `cache_max_entries` None is no cap."""

    enabled: bool
    provider: str
    model: str
    fallback: str
    sources: tuple[str, ...]
    extra_paths: tuple[str, ...]
    local_model_path: str | None
    output_dimensionality: int | None
    remote_base_url: str | None
    remote_api_key: Any
    remote_headers: dict[str, str]
    batch: bool
    batch_wait: bool
    batch_concurrency: int
    batch_poll_ms: int
    batch_timeout_minutes: float
    modalities: tuple[str, ...]
    max_file_bytes: int
    vector_enabled: bool
    extension_path: str | None
    chunk_tokens: int
    chunk_overlap: int
    on_session_start: bool
    on_search: bool
    watch: bool
    watch_debounce_ms: int
    interval_minutes: float
    delta_bytes: int
    delta_messages: int
    post_compaction_force: bool
    max_results: float
    min_score: float
    hybrid: bool
    vector_weight: float
    text_weight: float
    candidate_multiplier: int
    mmr: bool
    mmr_lambda: float
    decay: bool
    half_life_days: int
    cache: bool
    cache_max_entries: int | None

    @property
    def candidates(self) -> int:
        """How many hits each half of a search contributes: the limit times the multiplier, 1 to 200."""
        return min(200, max(1, math.floor(self.max_results * self.candidate_multiplier)))


def settings(config: Config) -> Settings:
    """Returns the settings of the configuration's agent; raises BadConfig where keys contradict each other."""
    shared = Config(config.layers).get(PREFIX + "extraPaths")
    own = config.get(PREFIX + "extraPaths")
    return normalised(lambda path: [*shared, *own] if path == "extraPaths" else config.get(PREFIX + path))


def normalised(value: Callable[[str], Any]) -> Settings:
    """Returns settings from `value(path below memorySearch)`, which knows the defaults; numbers are clamped.

    Chunk sizes are in tokens; an overlap is at most one token less than the chunk.
    """
    provider, fallback = value("provider"), value("fallback")
    chunk_tokens = value("chunking.tokens")
    vector_weight, text_weight = _weights(value("query.hybrid.vectorWeight"), value("query.hybrid.textWeight"))
    cap = value("cache.maxEntries")
    model = (value("model") or "").strip() or DEFAULT_MODELS.get(provider, "")
    return Settings(
        enabled=value("enabled"),
        provider=provider,
        model=model,
        fallback=fallback,
        sources=_sources(value("sources"), sessions=value("experimental.sessionMemory")),
        extra_paths=tuple(_distinct(value("extraPaths"))),
        local_model_path=value("local.modelPath"),
        output_dimensionality=value("outputDimensionality"),
        remote_base_url=(value("remote.baseUrl") or "").strip() or None,
        remote_api_key=value("remote.apiKey"),
        remote_headers=headers_of(value("remote.headers")),
        batch=value("remote.batch.enabled"),
        batch_wait=value("remote.batch.wait"),
        batch_concurrency=max(1, math.floor(value("remote.batch.concurrency"))),
        batch_poll_ms=value("remote.batch.pollIntervalMs"),
        batch_timeout_minutes=value("remote.batch.timeoutMinutes"),
        modalities=_modalities(value, provider, model, fallback),
        max_file_bytes=max(1, math.floor(value("multimodal.maxFileBytes"))),
        vector_enabled=value("store.vector.enabled"),
        extension_path=value("store.vector.extensionPath"),
        chunk_tokens=max(1, math.floor(chunk_tokens)),
        chunk_overlap=math.floor(_clamped(value("chunking.overlap"), 0, max(0, chunk_tokens - 1))),
        on_session_start=value("sync.onSessionStart"),
        on_search=value("sync.onSearch"),
        watch=value("sync.watch"),
        watch_debounce_ms=value("sync.watchDebounceMs"),
        interval_minutes=value("sync.intervalMinutes"),
        delta_bytes=max(0, math.floor(value("sync.sessions.deltaBytes"))),
        delta_messages=max(0, math.floor(value("sync.sessions.deltaMessages"))),
        post_compaction_force=value("sync.sessions.postCompactionForce"),
        max_results=value("query.maxResults"),
        min_score=_clamped(value("query.minScore"), 0, 1),
        hybrid=value("query.hybrid.enabled"),
        vector_weight=vector_weight,
        text_weight=text_weight,
        candidate_multiplier=math.floor(_clamped(value("query.hybrid.candidateMultiplier"), 1, 20)),
        mmr=value("query.hybrid.mmr.enabled"),
        mmr_lambda=_clamped(value("query.hybrid.mmr.lambda"), 0, 1),
        decay=value("query.hybrid.temporalDecay.enabled"),
        half_life_days=max(1, math.floor(value("query.hybrid.temporalDecay.halfLifeDays"))),
        cache=value("cache.enabled"),
        cache_max_entries=None if cap is None else max(1, math.floor(cap)),
    )


def _clamped(number: float, low: float, high: float) -> float:
    return min(high, max(low, number))


def _weights(vector: float, text: float) -> tuple[float, float]:
    vector, text = _clamped(vector, 0, 1), _clamped(text, 0, 1)
    total = vector + text
    return (vector / total, text / total) if total else _DEFAULT_WEIGHTS


def _sources(named: Iterable[str], *, sessions: bool) -> tuple[str, ...]:
    kept = [s for s in dict.fromkeys(named) if s in SOURCES and (sessions or s != "sessions")]
    return tuple(kept) or ("memory",)


def _distinct(paths: Iterable[str]) -> Iterable[str]:
    return dict.fromkeys(trimmed for path in paths if (trimmed := path.strip()))


def headers_of(given: Any) -> dict[str, str]:
    """Returns the headers of a configured object, nothing for anything else."""
    return {str(k): v for k, v in given.items() if isinstance(v, str)} if isinstance(given, dict) else {}


def _modalities(value: Callable[[str], Any], provider: str, model: str, fallback: str) -> tuple[str, ...]:
    """Returns the enabled kinds of media, none when the feature is off; raises BadConfig when nothing embeds them."""
    if not value("multimodal.enabled"):
        return ()
    named = value("multimodal.modalities")
    kinds = MODALITIES if not named or "all" in named else tuple(k for k in dict.fromkeys(named) if k in MODALITIES)
    bare = model
    for prefix in ("models/", "gemini/", "google/"):
        bare = bare.removeprefix(prefix)
    if kinds and (provider != "gemini" or bare != _MULTIMODAL_MODEL):
        raise BadConfig(f"{PREFIX}multimodal needs provider gemini and model {_MULTIMODAL_MODEL}")
    if kinds and fallback != "none":
        raise BadConfig(f'{PREFIX}multimodal needs fallback "none"')
    return kinds
