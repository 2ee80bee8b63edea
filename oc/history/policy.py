"""What each provider demands of a history: ids, turns, signatures. A table, read by the other modules of this room.

Behaviour follows OpenClaw 2026.3.13, resolveTranscriptPolicy (table: context-transcript-policy).
"""

from typing import NamedTuple

_GOOGLE_APIS = ("google-gemini-cli", "google-generative-ai")
_ANTHROPIC_APIS = ("anthropic-messages", "bedrock-converse-stream")
_ANTHROPIC_FAMILY = ("anthropic", "amazon-bedrock")
_OPENAI_PROVIDERS = ("openai", "openai-codex")
_OPENAI_APIS = ("openai", "openai-completions", "openai-responses", "openai-codex-responses")
_LENIENT_COMPLETIONS = ("openrouter", "opencode", "opencode-go")
_GEMINI_RELAYS = (*_LENIENT_COMPLETIONS, "kilocode")
_CLAUDE_WITHOUT_THINKING = (*_ANTHROPIC_FAMILY, "github-copilot")
RESPONSES_APIS = ("openai-responses", "openai-codex-responses")

_SAME_PROVIDER = {
    "aws-bedrock": "amazon-bedrock",
    "bedrock": "amazon-bedrock",
    "kimi-code": "kimi-coding",
    "opencode-zen": "opencode",
}
# The API that a provider's models speak when none is named.
_USUAL_API = {
    "amazon-bedrock": "bedrock-converse-stream",
    "anthropic": "anthropic-messages",
    "google": "google-generative-ai",
    "google-gemini-cli": "google-gemini-cli",
    "kilocode": "openai-completions",
    "kimi-coding": "anthropic-messages",
    "minimax": "anthropic-messages",
    "mistral": "mistral-conversations",
    "openai": "openai-responses",
    "openai-codex": "openai-codex-responses",
    "opencode": "openai-completions",
    "opencode-go": "openai-completions",
    "openrouter": "openai-completions",
}
# llm names many models without their provider, and Google's under `gemini/`.
_PROVIDER_OF_PREFIX = {"gemini": "google", "vertex": "google"}
_PROVIDER_OF_NAME = {
    "claude": "anthropic",
    "codestral": "mistral",
    "gemini": "google",
    "gpt-": "openai",
    "mistral": "mistral",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
}


class Model(NamedTuple):
    """For whom a history is made legal; empty texts are unknown."""

    provider: str = ""
    api: str = ""
    model: str = ""


class Policy(NamedTuple):
    """`id_mode`: strict (letters and digits, at most 40), strict9 (exactly nine), None (ids stay as they are).

    `full`: assistant messages are cleaned of blank texts and signatures, not only of bad images.
    `base64_signatures`: only signatures that are base64 may stay. `synthetic_results`: a missing result may be made up
    while a session is written (when it is washed, it always is).
    """

    full: bool
    rewrite_ids: bool
    id_mode: str | None
    preserve_signatures: bool
    base64_signatures: bool
    drop_thinking: bool
    user_first: bool
    merge_assistants: bool
    merge_users: bool
    synthetic_results: bool
    responses: bool
    google: bool


def normal_provider(provider: str) -> str:
    name = provider.strip().lower()
    return _SAME_PROVIDER.get(name, name)


def resolve(provider: str | None = None, api: str | None = None, model: str | None = None) -> Model:
    """Returns the model with what can be told of the parts that were not given.

    A model may be named `provider/model`; a bare name gives its provider away where its maker's names are known.
    """
    name = (model or "").strip()
    chosen = normal_provider(provider or "")
    if not chosen and "/" in name:
        prefix, _, rest = name.partition("/")
        chosen, name = normal_provider(prefix), rest
        chosen = _PROVIDER_OF_PREFIX.get(chosen, chosen)
    elif not chosen:
        lower = name.lower()
        chosen = next((known for start, known in _PROVIDER_OF_NAME.items() if lower.startswith(start)), "")
    spoken = (api or "").strip().lower()
    return Model(chosen, spoken or _USUAL_API.get(chosen, ""), name)


def policy(model: Model) -> Policy:
    """Returns the rules for exactly this provider, API and model; see `resolve` for filling in what is not known."""
    provider, api, name = normal_provider(model.provider), model.api, model.model.lower()
    google = api in _GOOGLE_APIS
    anthropic = api in _ANTHROPIC_APIS or provider in _ANTHROPIC_FAMILY
    openai = provider in _OPENAI_PROVIDERS or (not provider and api in _OPENAI_APIS)
    completions = api == "openai-completions"
    strict_completions = completions and not openai and provider not in _LENIENT_COMPLETIONS
    mistral = provider == "mistral"
    gemini_relay = provider in _GEMINI_RELAYS and "gemini" in name
    return Policy(
        full=not openai and (google or anthropic or mistral or gemini_relay),
        rewrite_ids=completions or (not openai and (google or mistral or anthropic)),
        id_mode="strict9" if mistral else "strict" if google or anthropic or completions else None,
        preserve_signatures=anthropic and provider != "kimi-coding",
        base64_signatures=not openai and (google or gemini_relay),
        drop_thinking=provider in _CLAUDE_WITHOUT_THINKING and "claude" in name,
        user_first=not openai and (google or strict_completions),
        merge_assistants=not openai and (google or strict_completions),
        merge_users=not openai and (anthropic or strict_completions),
        synthetic_results=not openai and (google or anthropic),
        responses=api in RESPONSES_APIS,
        google=google,
    )
