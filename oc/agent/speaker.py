"""Who will answer, as far as that can be told without llm: API, provider and model decide how a history is washed."""

from collections.abc import Sequence

from oc.agent.builtin import SPEAKER
from oc.agent.choice import LLM_DEFAULT, Choice
from oc.agent.wire import Speaker
from oc.errors import Usage
from oc.history.policy import resolve
from oc.message.shapes import Message

# Package of a plugin -> the api and provider that OpenClaw's transcripts name for it.
KNOWN = {
    "llm_anthropic": ("anthropic-messages", "anthropic"),
    "llm_deepseek": ("openai-completions", "deepseek"),
    "llm_gemini": ("google-generative-ai", "google"),
    "llm_grok": ("openai-completions", "xai"),
    "llm_groq": ("openai-completions", "groq"),
    "llm_mistral": ("openai-completions", "mistral"),
    "llm_ollama": ("ollama", "ollama"),
    "llm_openrouter": ("openai-completions", "openrouter"),
}
_APIS = {"openai": "openai-completions", **{provider: api for api, provider in KNOWN.values()}}


def expected_speaker(choice: Choice, messages: Sequence[Message]) -> tuple[Speaker, str]:
    """Returns the speaker and how it is known: `built-in`, `session` (its newest answer of that model) or `name`.

    Raises Usage for llm's own default, which llm alone knows.
    """
    if choice.offline:
        return SPEAKER, "built-in"
    if choice.model == LLM_DEFAULT and choice.origin == "flag":
        raise Usage("which model is llm's default is known to llm alone", hint="-m with the model's name")
    for message in reversed(messages):
        if message.get("role") == "assistant":
            spoke = Speaker(*(str(message.get(key) or "") for key in Speaker._fields))
            if spoke.api and {spoke.model, f"{spoke.provider}/{spoke.model}"} & {choice.model, *choice.ids}:
                return spoke, "session"
    known = resolve(None, None, choice.model)
    api = _APIS.get(known.provider, known.api or "llm")
    head, slash, rest = choice.model.partition("/")
    return (Speaker(api, head, rest) if slash and rest else Speaker(api, known.provider or "llm", choice.model)), "name"
