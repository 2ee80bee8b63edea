"""Which server a provider is, and with which key: a key goes only to the origin it was configured for. No network."""

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from oc.base.jsonl import parse
from oc.config.load import Config
from oc.errors import BadConfig
from oc.memory.settings import PREFIX, Settings, headers_of


class Official(NamedTuple):
    """`names`: under which models.providers and `llm keys` may know the provider; `variables` of the environment."""

    base_url: str
    names: tuple[str, ...]
    variables: tuple[str, ...]
    needs_key: bool = True


OFFICIAL = {
    "gemini": Official(
        "https://generativelanguage.googleapis.com/v1beta", ("gemini", "google"), ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    ),
    "mistral": Official("https://api.mistral.ai/v1", ("mistral",), ("MISTRAL_API_KEY",)),
    "ollama": Official("http://127.0.0.1:11434", ("ollama",), ("OLLAMA_API_KEY",), needs_key=False),
    "openai": Official("https://api.openai.com/v1", ("openai",), ("OPENAI_API_KEY",)),
    "voyage": Official("https://api.voyageai.com/v1", ("voyage",), ("VOYAGE_API_KEY",)),
}


class Source(NamedTuple):
    """`key` None: none that may be sent there; `custom`: not the provider's own address."""

    base_url: str
    key: str | None
    headers: dict[str, str]
    custom: bool


def identity(**facts: Any) -> str:
    """Returns the hash of what vectors depend on."""
    return hashlib.sha256(json.dumps(facts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def source(provider: str, settings: Settings, config: Config, environ: Mapping[str, str]) -> Source:
    """Returns where a provider is asked: memorySearch.remote, else models.providers, else its own address.

    Keys of `llm keys` and of the environment belong to the provider's own address. Raises BadConfig for an address
    that is none.
    """
    official = OFFICIAL[provider]
    listed = _listed(config, official)
    listed_url = _text(listed.get("baseUrl")) or official.base_url
    base_url = settings.remote_base_url or listed_url
    origin = _origin(base_url)
    custom = origin != _origin(official.base_url)
    keys = [_secret(settings.remote_api_key, environ)]
    headers: dict[str, str] = {}
    if origin == _origin(listed_url):
        keys.append(_secret(listed.get("apiKey"), environ))
        headers |= headers_of(listed.get("headers"))
    if not custom:
        keys += [_stored_key(name, environ) for name in official.names]
        keys += [_text(environ.get(name)) for name in official.variables]
    key = next((key for key in keys if key), None)
    return Source(base_url.rstrip("/"), key, headers | settings.remote_headers, custom)


def _listed(config: Config, official: Official) -> dict[str, Any]:
    providers = config.get("models.providers") or {}
    return next((providers[name] for name in official.names if isinstance(providers.get(name), dict)), {})


def _origin(url: str) -> tuple[str, str, int]:
    """Returns scheme, host and port; raises BadConfig, whose message does not repeat what may hold a password."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        parts, port = urlsplit(""), 0
    if parts.scheme not in ("http", "https") or not parts.hostname or any(char <= " " for char in url):
        raise BadConfig("the baseUrl of an embedding provider must begin with http:// or https:// and a host")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise BadConfig(
            f"the baseUrl of an embedding provider at {parts.hostname} must hold no user, query or fragment",
            hint=f"keys go to {PREFIX}remote.apiKey or {PREFIX}remote.headers",
        )
    return parts.scheme, parts.hostname, port


def _text(value: Any) -> str | None:
    return (value.strip() or None) if isinstance(value, str) else None


def _secret(value: Any, environ: Mapping[str, str]) -> str | None:
    """Returns a key as it stands, or of the environment variable that OpenClaw's secret reference names."""
    if isinstance(value, dict) and value.get("source") == "env":
        return _text(environ.get(str(value.get("id"))))
    return _text(value)


def _stored_key(name: str, environ: Mapping[str, str]) -> str | None:
    """Returns a key of `llm keys`, read without llm, which takes 0.3 s to import."""
    folder = environ.get("LLM_USER_PATH")
    if not folder:
        from click import get_app_dir

        folder = get_app_dir("io.datasette.llm")
    try:
        with open(os.path.join(folder, "keys.json"), "rb") as file:
            keys = parse(file.read())
    except (OSError, ValueError):
        return None
    return _text(keys.get(name)) if isinstance(keys, dict) else None
