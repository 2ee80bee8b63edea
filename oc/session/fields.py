"""Which fields of a session's row a person may set, and what they may hold. Names and values are OpenClaw's."""

from collections.abc import Mapping
from typing import Any

from oc.base.jsonl import parse
from oc.errors import Usage

LEVELS = ("off", "minimal", "low", "medium", "high", "xhigh")
_SWITCH = ("off", "on")
_TEXT = "text"
_COUNT = "count"
_FLAG = "flag"
FIELDS: Mapping[str, Any] = {
    "authProfileOverride": _TEXT,
    "contextTokens": _COUNT,
    "displayName": _TEXT,
    "elevatedLevel": ("off", "on", "ask", "full"),
    "execAsk": ("off", "on-miss", "always"),
    "execHost": ("sandbox", "gateway", "node"),
    "execNode": _TEXT,
    "execSecurity": ("deny", "allowlist", "full"),
    "fastMode": _FLAG,
    "groupActivation": ("mention", "always"),
    "label": _TEXT,
    "modelOverride": _TEXT,
    "providerOverride": _TEXT,
    "queueCap": _COUNT,
    "queueDebounceMs": _COUNT,
    "queueDrop": ("old", "new", "summarize"),
    "queueMode": ("steer", "followup", "collect", "steer-backlog", "steer+backlog", "queue", "interrupt"),
    "reasoningLevel": ("off", "on", "stream"),
    "responseUsage": ("on", "off", "tokens", "full"),
    "sendPolicy": ("allow", "deny"),
    "subject": _TEXT,
    "thinkingLevel": LEVELS,
    "ttsAuto": ("off", "always", "inbound", "tagged"),
    "verboseLevel": (*_SWITCH, "full"),
}
# By these the session is found, or they are counted: wrong, they lose it.
_NEVER = ("sessionId", "sessionFile", "updatedAt")


def assignment(text: str, *, any_name: bool = False) -> tuple[str, Any]:
    """Returns (name, value) of `name=value`; an empty value is None, and takes the field away.

    With `any_name` a field that is not known is taken too, its value as JSON if it is that, else as text. Raises Usage.
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise Usage(f"name=value is expected, not {text!r}")
    if name in _NEVER:
        raise Usage(f"{name} cannot be set")
    kind = FIELDS.get(name)
    if kind is None and not any_name:
        raise Usage(f"no field {name!r} to be set", hint=_hint(name))
    if not value:
        return name, None
    return name, _loose(value) if kind is None else _typed(name, value, kind)


def _typed(name: str, value: str, kind: Any) -> Any:
    if kind is _COUNT:
        if not (value.isascii() and value.isdigit()):
            raise Usage(f"{name} is a whole number, not {value!r}")
        return int(value)
    if kind is _FLAG:
        if value not in ("true", "false"):
            raise Usage(f"{name} is true or false, not {value!r}")
        return value == "true"
    if kind is not _TEXT and value not in kind:
        raise Usage(f"{name} is one of {', '.join(kind)}, not {value!r}")
    return value


def _loose(value: str) -> Any:
    try:
        return parse(value)
    except ValueError:
        return value


def _hint(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, FIELDS, n=3)
    return f"near: {', '.join(near)}" if near else "--force sets any field"
