"""Which embedder serves an agent: the configured one, else a local one; a remote one only where somebody named it.

Nothing is sent anywhere by default: a key in the environment alone chooses no server. What is missing is told as a
reason, and search by keywords goes on.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from oc.config.load import Config
from oc.errors import BadConfig
from oc.memory.chunk import max_input_tokens
from oc.memory.embed.interface import Embedder, Failure
from oc.memory.embed.local import MODELS, local_embedder
from oc.memory.embed.source import OFFICIAL, Source, identity, source
from oc.memory.settings import DEFAULT_MODELS, PREFIX, Settings

# The order in which openclaw 2026.3.13 looks for a key; Ollama is never chosen unasked.
_AUTO = ("openai", "gemini", "voyage", "mistral")
_MAX_BYTES = 8000
_WORKERS = 4


@dataclass(frozen=True, slots=True)
class Selection:
    """`embedder` None: keywords alone. `reasons` say why not another; `fallback_from` which provider was replaced."""

    embedder: Embedder | None
    requested: str
    reasons: tuple[str, ...] = ()
    fallback_from: str | None = None


def choose(settings: Settings, config: Config, environ: Mapping[str, str]) -> Selection:
    """Returns the embedder of the settings, unopened: no model is loaded and nobody is asked.

    Raises BadConfig for an address that is none and for a size that the model has not.
    """
    requested = settings.provider
    if requested == "none":
        return Selection(None, requested, ('the provider is "none"',))
    if requested == "auto":
        return _auto(settings, config, environ)
    try:
        return Selection(_opened(requested, settings, config, environ), requested, _unused(settings))
    except Failure as failure:
        return fallback(settings, config, environ, _reason(failure))


def fallback(settings: Settings, config: Config, environ: Mapping[str, str], reason: str) -> Selection:
    """Returns the fallback embedder once the configured one has failed for that reason, or none.

    It gets nothing of memorySearch.remote: key and address there are the other's. Its model is its own default.
    """
    requested, name = settings.provider, settings.fallback
    if name in ("none", requested):
        return Selection(None, requested, (reason,))
    try:
        return Selection(_opened(name, _bare(settings, name), config, environ), requested, (reason,), requested)
    except Failure as failure:
        return Selection(None, requested, (reason, _reason(failure)))


def _auto(settings: Settings, config: Config, environ: Mapping[str, str]) -> Selection:
    """Chooses a local embedder, else the server of memorySearch.remote, which speaks OpenAI's format.

    The providers with a key come last, and only where a file says "auto": it is the default, and no consent.
    """
    try:
        name = settings.model if settings.model in (*MODELS, *MODELS.values()) else ""
        return Selection(local_embedder(name), "auto", _unused(settings))
    except Failure as failure:
        reasons = [_reason(failure)]
    if settings.remote_base_url or settings.remote_api_key:
        named = settings._replace(provider="openai", model=settings.model or DEFAULT_MODELS["openai"])
        try:
            return Selection(_opened("openai", named, config, environ), "auto", tuple(reasons))
        except Failure as failure:
            reasons.append(_reason(failure))
    elif config.explain(PREFIX + "provider").origin == "default":
        reasons.append(f"no remote one is configured in {PREFIX}provider")
    else:
        for provider in _AUTO:
            try:
                found = _opened(provider, _bare(settings, provider), config, environ)
            except Failure as failure:
                reasons.append(_reason(failure))
            else:
                return Selection(found, "auto", tuple(reasons))
    return Selection(None, "auto", tuple(reasons))


def _bare(settings: Settings, provider: str) -> Settings:
    """Returns the settings for a provider that memorySearch does not speak of: no address, no key, its own model."""
    model = DEFAULT_MODELS.get(provider, "")
    return settings._replace(
        provider=provider, model=model, remote_base_url=None, remote_api_key=None, remote_headers={}
    )


def _unused(settings: Settings) -> tuple[str, ...]:
    """Returns what is configured and has no effect."""
    reasons = []
    if settings.local_model_path:
        reasons.append(f"{PREFIX}local.modelPath is not used: no GGUF model can be run")
    if settings.batch:
        reasons.append(f"{PREFIX}remote.batch is not used: texts are sent at once, not as jobs for the night")
    if settings.modalities:
        reasons.append(f"{PREFIX}multimodal is not used: images and sounds are not indexed")
    return tuple(reasons)


def _reason(failure: Failure) -> str:
    return f"{failure.message} ({failure.hint})" if failure.hint else failure.message


def _opened(provider: str, settings: Settings, config: Config, environ: Mapping[str, str]) -> Embedder:
    if provider == "local":
        return local_embedder(settings.model)
    if provider == "llm":
        from oc.memory.embed.plugin import plugin_embedder

        return plugin_embedder(settings.model)
    if provider not in OFFICIAL:
        known = ", ".join(sorted({*OFFICIAL, "llm", "local"}))
        hint = f'there are {known}; "llm" with a model serves the plugins of llm'
        raise Failure(f"no embedder is called {provider!r}", hint=hint)
    where = source(provider, settings, config, environ)
    official = OFFICIAL[provider]
    if official.needs_key and not where.custom and where.key is None:
        hint = f"{PREFIX}remote.apiKey, `llm keys set {official.names[0]}` or {official.variables[0]}"
        raise Failure(f"no key for {provider}", hint=hint)
    return _remote(provider, settings, where)


def _remote(provider: str, settings: Settings, where: Source) -> Embedder:
    from oc.memory.embed.http import Server
    from oc.memory.embed.remote import GEMINI_BATCH, Gemini, Ollama, OpenAILike

    model = _bare_name(settings.model or DEFAULT_MODELS[provider], provider)
    dims = _gemini_size(model, settings) if provider == "gemini" else None
    key = {} if where.key is None else _key_header(provider, where.key)
    # OpenClaw's own address of Ollama may be that of its OpenAI-like side.
    base_url = where.base_url.removesuffix("/v1") if provider == "ollama" else where.base_url
    server = Server(provider, base_url, {**key, **where.headers})
    own = identity(provider=provider, baseUrl=base_url, model=model, dims=dims)
    embedder = Embedder(
        provider,
        model,
        own,
        OpenAILike(server, model),
        dims,
        max_bytes=min(_MAX_BYTES, max_input_tokens(provider, model)),
        workers=_WORKERS,
    )
    if provider == "gemini":
        embedder.engine, embedder.batch_texts = Gemini(server, model, dims), GEMINI_BATCH
    elif provider == "ollama":
        embedder.engine, embedder.batch_texts = Ollama(server, model), 1
    elif provider == "voyage":
        embedder.engine = OpenAILike(server, model, {"input_type": "query"}, {"input_type": "document"})
    return embedder


def _bare_name(model: str, provider: str) -> str:
    """Returns the name without the prefix that OpenClaw's configuration may give it."""
    for prefix in ("models/", "gemini/", "google/") if provider == "gemini" else (f"{provider}/",):
        model = model.removeprefix(prefix)
    return model


def _gemini_size(model: str, settings: Settings) -> int | None:
    from oc.memory.embed.remote import GEMINI_SIZED, GEMINI_SIZES

    if model != GEMINI_SIZED:
        return None
    size = settings.output_dimensionality or GEMINI_SIZES[-1]
    if size not in GEMINI_SIZES:
        sizes = ", ".join(map(str, GEMINI_SIZES))
        raise BadConfig(f"{PREFIX}outputDimensionality: {model} has {sizes}, not {size}")
    return size


def _key_header(provider: str, key: str) -> dict[str, str]:
    return {"x-goog-api-key": key} if provider == "gemini" else {"Authorization": f"Bearer {key}"}
