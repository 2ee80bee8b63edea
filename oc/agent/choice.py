"""Which model a session gets, and why; which names llm may know it by. Imports no llm.

Nobody's default is ever called: without a name from the user or their configuration the choice is `oc-offline`.
"""

from collections.abc import Mapping

from oc.base.typed import Any, NamedTuple
from oc.config.load import Config
from oc.errors import Usage

OFFLINE = "oc-offline"
# As `-m default`: the model that llm itself is set to. Never taken without being asked for.
LLM_DEFAULT = "default"

# OpenClaw's provider -> the prefixes under which llm's plugins register that provider's models ("" = the bare name).
_PREFIXES: dict[str, tuple[str, ...]] = {
    "anthropic": ("anthropic/", ""),
    "deepseek": ("deepseek/", ""),
    "google": ("gemini/", ""),
    "groq": ("groq/", "groq-"),
    "mistral": ("mistral/",),
    "oc": ("",),
    "ollama": ("",),
    "openai": ("openai/", ""),
    "openai-codex": ("",),
    "openrouter": ("openrouter/",),
    "xai": ("xai/", ""),
}


class Choice(NamedTuple):
    """`model` is the name as it was given; `origin`: flag, session, oc.json, openclaw.json or default."""

    model: str
    origin: str

    @property
    def offline(self) -> bool:
        return OFFLINE in self.ids

    @property
    def ids(self) -> tuple[str, ...]:
        return llm_ids(self.model)


def choose_model(flag: str | None, row: Mapping[str, Any] | None, config: Config) -> Choice:
    """Returns the model of a turn: the flag, else the session row's override, else the agent's, else `oc-offline`.

    An alias of `agents.defaults.models` is replaced by what it stands for. Raises Usage for a blank flag.
    """
    if flag is not None:
        if not flag.strip():
            raise Usage("-m names no model")
        return Choice(_unalias(flag.strip(), config), "flag")
    override = _override(row or {})
    if override:
        return Choice(_unalias(override, config), "session")
    named = config.explain("agents.defaults.model")
    primary = named.value.get("primary") if isinstance(named.value, dict) else named.value
    if isinstance(primary, str) and primary.strip():
        return Choice(_unalias(primary.strip(), config), named.origin)
    return Choice(OFFLINE, "default")


def choose_summariser(flag: str | None, row: Mapping[str, Any] | None, config: Config) -> Choice:
    """Returns the model that writes a compaction summary: the flag, `compaction.model`, else the session's model."""
    named = config.explain("agents.defaults.compaction.model")
    if flag is None and isinstance(named.value, str) and named.value.strip():
        return Choice(_unalias(named.value.strip(), config), named.origin)
    return choose_model(flag, row, config)


def _override(row: Mapping[str, Any]) -> str:
    """Returns the row's own model; `default`, by which OpenClaw takes an override back, is none."""
    model, provider = row.get("modelOverride"), row.get("providerOverride")
    if not isinstance(model, str) or model.strip().lower() in ("", LLM_DEFAULT):
        return ""
    model = model.strip()
    if isinstance(provider, str) and provider.strip() and not model.startswith(f"{provider.strip()}/"):
        return f"{provider.strip()}/{model}"
    return model


def _unalias(name: str, config: Config) -> str:
    for full, settings in (config.get("agents.defaults.models") or {}).items():
        alias = settings.get("alias") if isinstance(settings, dict) else None
        if isinstance(alias, str) and alias.strip().lower() == name.lower():
            return str(full)
    return name


def llm_ids(name: str) -> tuple[str, ...]:
    """Returns the llm ids under which a `provider/model` name may be installed, the name itself first.

    Only for providers whose plugins are known: a bare model name of another provider could be anybody's.
    """
    provider, slash, model = name.partition("/")
    found = [name]
    if slash and model:
        found += [prefix + model for prefix in _PREFIXES.get(provider.lower(), ())]
    return tuple(dict.fromkeys(found))
