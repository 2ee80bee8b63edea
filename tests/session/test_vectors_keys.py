"""Session keys read and built as OpenClaw does."""

import pytest

from oc.session import keys
from oc.session.keys import Peer
from oc.session_key import chat_type, full_key, is_thread, normal_agent_id, parse, reset_type
from tests.support import vectors


@vectors("sessions-keys")
def test_key(case):
    key = case.input["sessionKey"]
    found, thread, group = parse(key), keys.thread_of(key), keys.group_of(key)
    info = {"baseSessionKey": thread.parent if thread.parent is not None else key}
    actual = {
        "parseAgentSessionKey": {"agentId": found.agent, "rest": found.rest} if found else None,
        "classifySessionKeyShape": keys.shape(key),
        "deriveSessionChatType": chat_type(key),
        "isCronSessionKey": keys.is_cron(key),
        "isCronRunSessionKey": keys.is_cron_run(key),
        "isSubagentSessionKey": keys.is_subagent(key),
        "subagentDepth": keys.subagent_depth(key),
        "isAcpSessionKey": keys.is_acp(key),
        "threadParent": thread.parent,
        "agentId": found.agent if found else "main",
        "requestKey": found.rest if found else key.strip() or None,
        "isThreadSessionKey": is_thread(key),
        "resetType": reset_type(key),
        "threadInfo": {**info, "threadId": thread.thread_id} if thread.thread_id else info,
        "gatewayKind": keys.gateway_kind(key),
        "toolKind": keys.tool_kind(key),
        "groupKey": group._asdict() if group else None,
        "isDirectSessionKey": keys.is_direct(key),
    }
    assert case.expected == actual


@vectors("sessions-keys-build", "dist/session-key-BFl8Ucce.js buildAgentPeerSessionKey")
def test_peer_key(case):
    given = case.input
    peer = Peer(
        given.get("peerKind", "direct"), given.get("peerId", ""), given.get("channel", ""), given.get("accountId", "")
    )
    actual = keys.peer_key(given["agentId"], peer, scope=given.get("dmScope", "main"), links=given.get("identityLinks"))
    assert case.expected == actual


@vectors("sessions-keys-build", "dist/session-key-BFl8Ucce.js resolveThreadSessionKeys")
def test_thread_key(case):
    given = case.input
    thread_id = given["threadId"] if given.get("useSuffix", True) else ""
    actual = {
        "sessionKey": keys.thread_key(given["baseSessionKey"], thread_id),
        "parentSessionKey": given["parentSessionKey"],
    }
    assert case.expected == actual


@vectors("sessions-keys-build", "dist/session-key-BFl8Ucce.js toAgentStoreSessionKey")
def test_store_key(case):
    given = case.input
    assert case.expected == full_key(given["requestKey"], given["agentId"], given.get("mainKey", "main"))


@vectors("sessions-keys-build", "dist/session-key-BFl8Ucce.js normalizeAgentId")
def test_ids(case):
    value = case.input["value"]
    actual = {
        "agentId": normal_agent_id(value),
        "valid": normal_agent_id(value) == value and value[:1].isalnum(),
        "accountId": keys.normal_account_id(value),
        "mainKey": value.strip().lower() or "main",
    }
    assert case.expected == actual


@vectors("sessions-keys-build", "dist/reply-Bm8VrLQh.js region src/config/sessions/session-key.ts")
def test_inbound(case):
    message = case.input["ctx"]
    group = keys.inbound_group(message)
    actual = {
        "sessionKey": keys.inbound_key(message, scope=case.input.get("scope", "per-sender")),
        "group": None
        if group is None
        else {"key": group.key, "channel": group.channel, "id": group.id, "chatType": group.kind},
    }
    assert case.expected == actual


@vectors("sessions-keys-build", "dist/reply-Bm8VrLQh.js region src/config/sessions/group.ts buildGroupDisplayName")
def test_group_name(case):
    given = case.input
    actual = keys.group_name(
        given["provider"],
        subject=given.get("subject", ""),
        room=given.get("groupChannel", ""),
        space=given.get("space", ""),
        fallback=given.get("id") or given["key"],
    )
    assert case.expected == actual


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("agent:main:main", "main"),
        ("agent:main:home", "main"),
        ("MAIN", "main"),
        ("agent:main:telegram:direct:42", "direct"),
        ("agent:main:telegram:dm:42:thread:1", "direct"),
        ("agent:main:telegram:group:-1:topic:4", "group"),
        ("agent:main:slack:channel:c1:thread:1.2", "channel"),
        ("agent:main:cron:nightly:run:7", "cron"),
        ("cron:nightly", "cron"),
        ("agent:main:subagent:a:subagent:b", "subagent"),
        ("agent:main:acp:z", "acp"),
        ("hook:6f", "hook"),
        ("node-7", "node"),
        ("global", "global"),
        ("unknown", "unknown"),
        ("agent:main:notes", "other"),
        ("agent:main:", "other"),
    ],
)
def test_a_key_is_of_one_class(key, kind):
    assert kind == keys.key_class(key, "home")
    assert kind in keys.CLASSES


def test_the_last_marker_parts_a_thread_from_its_session():
    """A topic inside a thread is the thread's own."""
    assert ("agent:a:x:thread:1", "2") == keys.thread_of("agent:a:x:thread:1:topic:2")
    assert ("agent:a:x:topic:2", "1") == keys.thread_of("agent:a:x:topic:2:thread:1")


@pytest.mark.parametrize("links", [{"alice": "no list"}, {"alice": [None, 5]}, {" ": ["42"]}])
def test_odd_links_link_nobody(links):
    """A configuration may hold anything below session.identityLinks."""
    assert "agent:main:direct:42" == keys.peer_key("main", Peer("direct", "42"), scope="per-peer", links=links)
