import pytest

from oc.workspace.names import (
    LONG_TERM,
    REFERENCE_FIVE,
    STANDARD,
    Rules,
    first_list,
    is_private,
    prompt_mode,
    session_kind,
    why_light_withheld,
    why_withheld,
)


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        (None, "main"),
        ("", "main"),
        ("main", "main"),
        ("agent:main:main", "main"),
        ("agent:main:main:thread:5", "main"),
        ("agent:main:telegram:direct:42", "direct"),
        ("agent:main:telegram:dm:42", "direct"),
        ("agent:work:whatsapp:default:direct:+86", "direct"),
        ("agent:main:telegram:group:-100:topic:7", "group"),
        ("AGENT:Main:Telegram:GROUP:-100", "group"),
        ("agent:main:飞书:group:群聊一", "group"),
        ("agent:main:slack:channel:c1:thread:1.2", "channel"),
        ("agent:main:matrix:room:!x", "channel"),
        ("agent:main:discord:guild-1:channel-2", "channel"),
        ("agent:main:discord:guild-1:channel-2:thread:9", "channel"),
        ("discord:guild-1:channel-2", "channel"),
        ("agent:main:subagent:5f0c", "subagent"),
        ("agent:main:subagent:a:subagent:b", "subagent"),
        ("subagent:xyz", "subagent"),
        ("agent:main:cron:job", "cron"),
        ("agent:main:cron:job:run:1", "cron"),
        ("cron:job", "main"),
        ("agent:main:hook:1", "main"),
        ("global", "main"),
    ],
)
def test_the_kind_of_a_session_is_read_from_its_key(key, kind):
    assert kind == session_kind(key)


@pytest.mark.parametrize(
    ("key", "row_type", "kind"),
    [
        ("agent:main:main", "group", "group"),
        ("global", "channel", "channel"),
        ("agent:main:telegram:group:1", "direct", "group"),
        ("agent:main:subagent:1", "group", "subagent"),
        ("agent:main:main", "direct", "main"),
    ],
)
def test_in_doubt_others_read_along(key, row_type, kind):
    assert kind == session_kind(key, row_type)


@pytest.mark.parametrize("name", LONG_TERM)
def test_d10_long_term_memory_is_for_private_sessions(name):
    for kind in ("main", "direct"):
        assert why_withheld(name, kind, Rules()) is None
        assert is_private(kind)
    for kind in ("group", "channel"):
        assert why_withheld(name, kind, Rules()) == "private sessions only"
        assert why_withheld(name, kind, Rules(memory_in_groups=True)) is None
        assert not is_private(kind)


def test_d11_subagents_get_two_files_and_cron_five():
    shown = [name for name in STANDARD if why_withheld(name, "subagent", Rules()) is None]
    assert shown == ["AGENTS.md", "TOOLS.md"]
    five = Rules(subagent_files=REFERENCE_FIVE)
    assert {n for n in STANDARD if why_withheld(n, "subagent", five) is None} == set(REFERENCE_FIVE)
    assert {n for n in STANDARD if why_withheld(n, "cron", Rules()) is None} == set(REFERENCE_FIVE)
    assert why_withheld("MEMORY.md", "cron", Rules()) == "not for cron runs"


def test_a_lightweight_heartbeat_gets_its_file_and_any_other_run_none():
    assert [n for n in STANDARD if why_light_withheld(n, "heartbeat") is None] == ["HEARTBEAT.md"]
    assert [n for n in STANDARD if why_light_withheld(n, "cron") is None] == []


def test_the_short_prompt_is_for_subagents_and_cron():
    kinds = ("main", "direct", "group", "channel", "subagent", "cron")
    assert [prompt_mode(kind) for kind in kinds] == ["full"] * 4 + ["minimal"] * 2


@pytest.mark.parametrize(
    ("settings", "patterns"),
    [
        (None, ()),
        ({"paths": ["a", " b "]}, ("a", "b")),
        ({"paths": [" "], "patterns": ["p"]}, ("p",)),
        ({"paths": "a", "files": ["f", 3]}, ("f",)),
        ({"enabled": True}, ()),
    ],
)
def test_the_first_list_of_patterns_that_is_not_empty_counts(settings, patterns):
    assert patterns == first_list(settings)
