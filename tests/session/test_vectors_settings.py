"""Settings of sessions by the reference's table; those of compaction are in tests/window."""

import pytest

from oc.config.load import Config, Layer
from oc.session.fork import fork_limit_tokens
from oc.session.send_policy import send_policy
from tests.support import vectors


def cases(part):
    return [p for p in vectors("sessions-settings").args[1] if part in p.values[0].fn]


@pytest.mark.parametrize("case", cases("resolveParentForkMaxTokens"))
def test_fork_limit(case):
    config = Config((Layer("openclaw.json", "openclaw.json", {"session": case.input["session"]}),))
    assert case.expected == fork_limit_tokens(config)


@pytest.mark.parametrize("case", cases("resolveSendPolicy"))
def test_send_policy(case):
    given = case.input
    assert case.expected == send_policy(given["policy"], given["sessionKey"], given.get("entry"))


@pytest.mark.parametrize(
    ("policy", "key", "row", "expected"),
    [
        ({"rules": [{"match": {"channel": "discord"}, "action": "deny"}]}, "agent:main:discord:group:1", None, "deny"),
        ({"rules": [{"match": {"channel": "discord"}, "action": "deny"}]}, "x", {"lastChannel": "discord"}, "deny"),
        ({"rules": [{"match": {"chatType": "group"}}], "default": "deny"}, "agent:main:discord:group:1", {}, "allow"),
        ({"rules": [{"action": "deny"}]}, "anything", {"sendPolicy": "perhaps"}, "deny"),
        ({"rules": "none", "default": " Deny "}, "anything", {}, "deny"),
        ({"rules": [7, {"match": 7, "action": "deny"}]}, "anything", {}, "deny"),
    ],
)
def test_rules_match_by_channel_type_and_prefix(policy, key, row, expected):
    assert expected == send_policy(policy, key, row)
