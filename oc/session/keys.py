"""What a session key says, and which key a message gets. Pure text.

Behaviour follows OpenClaw 2026.3.13 (tables: sessions-keys, sessions-keys-build).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from oc.base.text import js_trim, pattern
from oc.session_key import DEFAULT_AGENT, DEFAULT_MAIN_KEY, AgentKey, chat_type, is_thread, normal_agent_id, parse

CHANNELS = frozenset(
    {
        "bluebubbles",
        "discord",
        "feishu",
        "googlechat",
        "imessage",
        "irc",
        "line",
        "matrix",
        "mattermost",
        "msteams",
        "nextcloud-talk",
        "nostr",
        "signal",
        "slack",
        "synology-chat",
        "telegram",
        "tlon",
        "twitch",
        "webchat",
        "whatsapp",
        "zalo",
        "zalouser",
    }
)
CLASSES = (
    "main",
    "direct",
    "group",
    "channel",
    "cron",
    "subagent",
    "acp",
    "hook",
    "node",
    "global",
    "unknown",
    "other",
)
_GROUPS = ("group", "channel")
_DIRECT = ("direct", "dm")
_BLOCKED = frozenset({"__proto__", "constructor", "prototype"})


class Thread(NamedTuple):
    """A key split at its last thread or topic marker; both are None in a key that has none."""

    parent: str | None
    thread_id: str | None


class Group(NamedTuple):
    """A group or channel (`kind`) of a messaging channel."""

    channel: str
    kind: str
    id: str

    @property
    def key(self) -> str:
        return f"{self.channel}:{self.kind}:{self.id}"


def key_class(key: str, main_key: str = DEFAULT_MAIN_KEY) -> str:
    """Returns what a session is for, one of CLASSES: by that it is listed, kept or removed."""
    rest = _rest(key)
    if rest in (DEFAULT_MAIN_KEY, main_key.strip().lower()):
        return "main"
    if rest in ("global", "unknown"):
        return rest
    for name in ("cron", "subagent", "acp", "hook"):
        if rest.startswith(f"{name}:"):
            return name
    if rest.startswith(("node-", "node:")):
        return "node"
    kind = chat_type(key)
    return "other" if kind == "unknown" else kind


def _rest(key: str) -> str:
    found = parse(key)
    return found.rest if found else key.strip().lower()


def shape(key: str) -> str:
    """Returns missing, agent, malformed_agent or legacy_or_alias."""
    if not key.strip():
        return "missing"
    if parse(key):
        return "agent"
    return "malformed_agent" if key.strip().lower().startswith("agent:") else "legacy_or_alias"


def is_cron(key: str) -> bool:
    found = parse(key)
    return found is not None and found.rest.startswith("cron:")


def is_cron_run(key: str) -> bool:
    """Says whether the key is of one run of a scheduled job."""
    found = parse(key)
    return found is not None and pattern(r"cron:[^:]+:run:[^:]+").fullmatch(found.rest) is not None


def is_subagent(key: str) -> bool:
    return _rest(key).startswith("subagent:")


def subagent_depth(key: str) -> int:
    return key.lower().count(":subagent:")


def is_acp(key: str) -> bool:
    return _rest(key).startswith("acp:")


def thread_of(key: str) -> Thread:
    """Returns the key of which this one is a thread, as it is written here, and the thread's id."""
    text, lowered = key.strip(), key.strip().lower()
    found = [(at, marker) for marker in (":thread:", ":topic:") if (at := lowered.rfind(marker)) > 0]
    if not found:
        return Thread(None, None)
    at, marker = max(found)
    return Thread(text[:at], text[at + len(marker) :] or None)


def group_of(key: str) -> Group | None:
    """Returns the group or channel that a key names."""
    parts = _rest(key).split(":")
    if len(parts) < 3 or parts[1] not in _GROUPS:
        return None
    return Group(parts[0], parts[1], ":".join(parts[2:]))


def gateway_kind(key: str) -> str:
    """Returns global, unknown, group or direct, as OpenClaw's gateway sorts rows: by the letters as they stand."""
    if key in ("global", "unknown"):
        return key
    return "group" if ":group:" in key or ":channel:" in key else "direct"


def is_direct(key: str) -> bool:
    """Says strictly whether a key is of one peer, of a channel and account or not, with a thread or not."""
    parts = _rest(key).split(":")
    if parts[0] in _DIRECT:
        at = 0
    elif len(parts) > 1 and parts[1] in _DIRECT and parts[0] in CHANNELS:
        at = 1
    elif len(parts) > 2 and parts[2] in _DIRECT:
        at = 2
    else:
        return False
    peer = parts[at + 1 :]
    return len(peer) == 1 or (len(peer) == 3 and peer[1] in ("thread", "topic") and bool(peer[2]))


def normal_account_id(text: str) -> str:
    """Returns an account's id as it stands in keys; what cannot be one becomes `default`."""
    trimmed = text.strip()
    if not pattern(r"[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}").fullmatch(trimmed):
        trimmed = pattern(r"[^a-z0-9_-]+").sub("-", trimmed.lower()).strip("-")[:64]
    lowered = trimmed.lower()
    return lowered if lowered and lowered not in _BLOCKED else "default"


def thread_of_key(key: str, thread_id: str) -> str:
    """Returns the key of a thread of a session, which for a group of Telegram is a topic.

    A key that is of that thread already stays as it is.
    """
    group = group_of(key)
    marker = "topic" if group is not None and (group.channel, group.kind) == ("telegram", "group") else "thread"
    suffix = f":{marker}:{thread_id.strip().lower()}"
    return key if key.endswith(suffix) else key + suffix


class Peer(NamedTuple):
    """Whom a message is from: a person (`direct`), a group or a channel, on a messaging channel's account."""

    kind: str
    id: str
    channel: str = ""
    account: str = ""


def peer_key(
    agent: str,
    peer: Peer,
    *,
    scope: str = "main",
    links: Mapping[str, Sequence[str]] | None = None,
    main_key: str = DEFAULT_MAIN_KEY,
) -> str:
    """Returns the key of a peer's session; `scope` (session.dmScope) and `links` (session.identityLinks) are of people.

    Where people share the main session, or none is named, it is the main key.
    """
    agent_id = normal_agent_id(agent)
    channel = peer.channel.strip().lower() or "unknown"
    name = peer.id.strip().lower()
    if peer.kind != "direct":
        return str(AgentKey(agent_id, f"{channel}:{peer.kind}:{name or 'unknown'}"))
    name = _canonical(name, channel, links or {}) if scope != "main" else name
    rests = {
        "per-peer": f"direct:{name}",
        "per-channel-peer": f"{channel}:direct:{name}",
        "per-account-channel-peer": f"{channel}:{normal_account_id(peer.account)}:direct:{name}",
    }
    main = main_key.strip().lower() or DEFAULT_MAIN_KEY
    return str(AgentKey(agent_id, rests.get(scope, main) if name else main))


def _canonical(name: str, channel: str, links: Mapping[str, Sequence[str]]) -> str:
    """Returns the one name of a person who is known under several."""
    for canonical, ids in links.items():
        known = {str(one).strip().lower() for one in ids} if isinstance(ids, Sequence) else set()
        if canonical.strip() and known & {name, f"{channel}:{name}"}:
            return canonical.strip().lower()
    return name


def thread_key(base: str, thread_id: str) -> str:
    """Returns the key of a thread of a session; without an id it is the session's own."""
    name = thread_id.strip().lower()
    return f"{base}:thread:{name}" if name else base


def inbound_group(message: Mapping[str, Any]) -> Group | None:
    """Returns the group or channel that a message (`From`, `ChatType`, `Provider`) came from."""
    source = js_trim(str(message.get("From") or ""))
    kind = js_trim(str(message.get("ChatType") or "")).lower()
    jid = source.lower().endswith("@g.us")
    if not source or not (kind in _GROUPS or ":group:" in source or ":channel:" in source or jid):
        return None
    parts = [part for part in source.split(":") if part]
    head, second = parts[0].lower(), parts[1].lower() if len(parts) > 1 else ""
    known = head in CHANNELS
    channel = head if known else str(message.get("Provider") or "").strip().lower() or ("whatsapp" if jid else "")
    name = ":".join(parts[2 if second in _GROUPS else 1 :]) if known else source
    if not channel or not name.strip():
        return None
    found = second if second in _GROUPS else "channel" if ":channel:" in source or kind == "channel" else "group"
    return Group(channel, found, name.strip().lower())


def inbound_key(message: Mapping[str, Any], *, scope: str = "per-sender", main_key: str = DEFAULT_MAIN_KEY) -> str:
    """Returns the key of the session that a message belongs to; one that the message names wins."""
    explicit = js_trim(str(message.get("SessionKey") or "")).lower()
    if explicit:
        return pattern(r"^((?:agent:[^:]+:)?discord):dm:").sub(r"\1:direct:", explicit)
    if scope == "global":
        return "global"
    group = inbound_group(message)
    return str(AgentKey(DEFAULT_AGENT, group.key if group else main_key.strip().lower() or DEFAULT_MAIN_KEY))


def group_name(channel: str, *, subject: str = "", room: str = "", space: str = "", fallback: str = "") -> str:
    """Returns the name under which a group is listed: room and space, subject, or what it falls back on."""
    room, space = room.strip(), space.strip()
    detail = (
        f"{space}{'' if room.startswith('#') else '#'}{room}" if room and space else room or subject.strip() or space
    )
    token = _token(detail or fallback) or _token(_short(detail or fallback))
    token = token if room else token.lstrip("#")
    if token and "#" not in token and not token.startswith(("@", "g-")):
        token = f"g-{token}"
    name = channel.strip().lower() or "group"
    return f"{name}:{token}" if token else name


def _token(text: str) -> str:
    dashed = pattern(r"[^a-z0-9#@._+-]+").sub("-", text.strip().lower())
    return pattern(r"-{2,}").sub("-", dashed).strip("-.")


def _short(text: str) -> str:
    return text if len(text) <= 14 else f"{text[:6]}...{text[-4:]}"


def tool_kind(key: str, main_key: str = DEFAULT_MAIN_KEY) -> str:
    """Returns main, cron, hook, node, group or other, as OpenClaw's session tools sort keys."""
    if key in (DEFAULT_MAIN_KEY, main_key):
        return "main"
    for prefixes, kind in ((("cron:",), "cron"), (("hook:",), "hook"), (("node-", "node:"), "node")):
        if key.startswith(prefixes):
            return kind
    return "group" if gateway_kind(key) == "group" else "other"


def describe(key: str, main_key: str = DEFAULT_MAIN_KEY) -> dict[str, Any]:
    """Returns what a key says, for people and programs; None for what it does not say."""
    found, thread, group = parse(key), thread_of(key), group_of(key)
    return {
        "key": key.strip().lower(),
        "agent": found.agent if found else None,
        "class": key_class(key, main_key),
        "chatType": chat_type(key),
        "channel": group.channel if group else None,
        "group": group.id if group else None,
        "parentKey": thread.parent if is_thread(key) else None,
        "threadId": thread.thread_id,
        "subagentDepth": subagent_depth(key),
    }
