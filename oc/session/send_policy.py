"""Whether a session may send to its chat: what the row says, else the rules of `session.sendPolicy`. Pure.

`oc` sends nothing itself; scripts that do can ask. Behaviour follows OpenClaw 2026.3.13 (table: sessions-settings).
"""

from collections.abc import Mapping
from typing import Any

from oc.session_key import channel_of, chat_type, parse

ALLOW, DENY = "allow", "deny"


def send_policy(policy: Mapping[str, Any] | None, key: str, row: Mapping[str, Any] | None = None) -> str:
    """Returns `allow` or `deny`: the row's own word, a rule that denies, a rule that allows, the policy's default."""
    own = _action((row or {}).get("sendPolicy"))
    if own or not policy:
        return own or ALLOW
    rules = policy.get("rules")
    hits = [rule for rule in (rules if isinstance(rules, list) else ()) if _matches(rule, key, row or {})]
    actions = {_action(rule.get("action")) or ALLOW for rule in hits}
    return DENY if DENY in actions else ALLOW if actions else _action(policy.get("default")) or ALLOW


def _action(value: Any) -> str | None:
    word = value.strip().lower() if isinstance(value, str) else ""
    return word if word in (ALLOW, DENY) else None


def _matches(rule: Any, key: str, row: Mapping[str, Any]) -> bool:
    if not isinstance(rule, dict):
        return False
    match = rule.get("match")
    wanted = {
        name: value.strip().lower()
        for name, value in (match.items() if isinstance(match, dict) else ())
        if isinstance(value, str) and value.strip()
    }
    raw = key.strip().lower()
    named = parse(raw)
    found = {
        "channel": row.get("channel") or row.get("lastChannel") or channel_of(key),
        "chatType": row.get("chatType") or chat_type(key),
    }
    if any(name in wanted and wanted[name] != str(value or "").lower() for name, value in found.items()):
        return False
    rest = named.rest if named else raw
    return rest.startswith(wanted.get("keyPrefix", "")) and raw.startswith(wanted.get("rawKeyPrefix", ""))
