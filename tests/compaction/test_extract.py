"""The built-in summariser: it quotes, it keeps what matters, it does not grow."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.base.tokens import ESTIMATE
from oc.compaction.extract import NOTHING, summarise, summarise_prefix
from oc.compaction.facts import facts, sentences
from oc.compaction.identifiers import identifiers
from oc.compaction.prompts import PREFIX_SECTIONS, SECTIONS
from oc.message.shapes import texts
from tests.shapes import turns


def user(text):
    return {"role": "user", "content": text}


def said(text):
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def failed(text, tool="exec", ident="c"):
    blocks = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": ident, "toolName": tool, "content": blocks, "isError": True}


def section(summary, heading):
    """Returns the lines of a section."""
    body = summary.partition(f"{heading}\n")[2]
    return re.split(r"\n#", body)[0].strip().split("\n")


ENGLISH = [
    user("The staging database moved to pg-b.internal:5432. Never use pg-a again."),
    said("I'll update the config now."),
    said("We'll use the REST API instead of GraphQL because it already covers the reports."),
    failed("stderr: psql: could not connect\nFATAL: password authentication failed for user app\nexit code 2"),
    said("Updated /srv/app/config/database.yml and the tests pass, commit 3f2a9bc."),
    user("Why does ticket OPS-142 still time out after 30 s?"),
]
CHINESE = [
    user("结账接口返回 500，日志在 logs/checkout.log。必须保持接口兼容，不要改动 v1 的路由。"),
    said("我来检查连接池的配置。"),
    said("决定改用 pgbouncer，而不是加大连接池，因为数据库最多 200 个连接。"),
    failed("错误：连接超时 30秒"),
    said("已修复超时设置，测试全部通过了。"),
    user("下一步怎么办？"),
]


def test_english_facts_land_in_their_sections():
    summary = summarise(ENGLISH)
    assert section(summary, "## Goal")[0].startswith("- The staging database moved to pg-b.internal:5432.")
    assert section(summary, "## Constraints & Preferences") == ["- Never use pg-a again."]
    assert section(summary, "### Done") == [
        "- [x] Updated /srv/app/config/database.yml and the tests pass, commit 3f2a9bc."
    ]
    assert section(summary, "### In Progress") == ["- [ ] I'll update the config now."]
    assert section(summary, "### Blocked") == ["- exec: FATAL: password authentication failed for user app"]
    assert section(summary, "## Key Decisions") == [
        "- The staging database moved to pg-b.internal:5432.",
        "- We'll use the REST API instead of GraphQL because it already covers the reports.",
    ]
    assert section(summary, "## Next Steps") == ["- Why does ticket OPS-142 still time out after 30 s?"]
    context = section(summary, "## Critical Context")
    assert "- hosts: `pg-b.internal:5432`" in context
    assert "- paths: `/srv/app/config/database.yml`" in context
    assert "- ids: `OPS-142`, `3f2a9bc`" in context
    assert "- amounts: `30 s`" in context


def test_chinese_facts_land_in_their_sections():
    summary = summarise(CHINESE)
    assert section(summary, "## Constraints & Preferences") == ["- 必须保持接口兼容，不要改动 v1 的路由。"]
    assert section(summary, "### Done") == ["- [x] 已修复超时设置，测试全部通过了。"]
    assert section(summary, "### In Progress") == ["- [ ] 我来检查连接池的配置。"]
    assert section(summary, "### Blocked") == ["- exec: 错误：连接超时 30秒"]
    assert section(summary, "## Key Decisions") == [
        "- 决定改用 pgbouncer，而不是加大连接池，因为数据库最多 200 个连接。"
    ]
    assert section(summary, "## Next Steps") == ["- 下一步怎么办？"]
    context = section(summary, "## Critical Context")
    assert "- paths: `logs/checkout.log`" in context
    assert "- amounts: `30秒`, `200 个`" in context


def test_an_error_that_was_overcome_is_not_in_the_way():
    worked = {"role": "toolResult", "toolCallId": "d", "toolName": "exec", "content": "ok", "isError": False}
    summary = summarise([user("run it"), failed("boom: fatal error"), worked])
    assert section(summary, "### Blocked") == [NOTHING]
    assert "- exec: boom: fatal error" in section(summary, "## Critical Context")


def test_a_question_that_was_answered_is_not_open():
    summary = summarise([user("go on"), said("Which port should it use, 80 or 8080?"), user("8080 please")])
    assert section(summary, "## Next Steps") == [NOTHING]
    summary = summarise([user("go on"), said("Which port should it use, 80 or 8080?")])
    assert section(summary, "## Next Steps") == ["- Which port should it use, 80 or 8080?"]


def test_a_failing_command_of_the_user_is_an_error():
    bash = {"role": "bashExecution", "command": "make test", "output": "2 failed\nError: red", "exitCode": 2}
    assert "- make test: 2 failed" in summarise([user("x"), bash])
    assert "make test" not in summarise([user("x"), {**bash, "exitCode": 0}])


def test_all_sections_are_there_even_for_nothing():
    """In their order, each with the word for nothing."""
    for summary, sections in ((summarise([]), SECTIONS), (summarise_prefix([]), PREFIX_SECTIONS)):
        headings = [line for line in summary.split("\n") if line.startswith("#")]
        assert headings == list(sections)
        assert summary.count(NOTHING) == len(sections) - ("## Progress" in sections)


def test_code_and_tables_are_not_quoted():
    text = "Look:\n```\nwe must never do this\n```\n| must | never |\nAlways use tabs."
    assert list(sentences(text)) == ["Look:", "Always use tabs."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One is done. Two follows! Three?", ["One is done.", "Two follows!", "Three?"]),
        ("e.g. version 1.2.3 of it. Then more", ["e.g. version 1.2.3 of it.", "Then more"]),
        ("第一句。第二句！第三句", ["第一句。", "第二句！", "第三句"]),
        ("- item\n2. second\n- [x] third\n> quoted", ["item", "second", "third", "quoted"]),
        ("---\n***\n", []),
    ],
)
def test_sentences(text, expected):
    assert expected == list(sentences(text))


def test_what_another_model_wrote_is_carried_on():
    """Sections by their names, numbered steps, bold decisions, loose lines, safeguard headings; file lists are not."""
    old = (
        "Some words before.\n\n## Goal\nMove the shop to Postgres 16.\n\n## Key Decisions\n- **Blue/green**: live\n\n"
        "## Next Steps\n1. Dump the data\n2. Switch DNS\n\n## Exact identifiers\n- pg-b.internal:5432\n\n---\n\n"
        "**Turn Context (split turn):**\n\n## Original Request\nShip it."
    )
    summary = summarise([user("Continue.")], old)
    assert section(summary, "## Goal") == ["- Move the shop to Postgres 16.", "- Ship it.", "- Continue."]
    assert section(summary, "## Key Decisions") == ["- **Blue/green**: live"]
    assert section(summary, "## Next Steps") == ["- Dump the data", "- Switch DNS"]
    assert section(summary, "## Critical Context") == ["- Some words before.", "- pg-b.internal:5432"]


@given(turns())
def test_the_same_conversation_gives_the_same_summary(messages):
    assert summarise(messages) == summarise(messages)


@given(turns())
def test_a_summary_carried_on_alone_stays_as_it_is(messages):
    once = summarise(messages)
    assert summarise([], once) == once


@given(turns(), turns())
def test_it_quotes_and_invents_nothing(first, second):
    """Each line is a piece of what was said, white space apart, or an identifier from it."""
    source = " ".join(
        " ".join([*texts(m), str(m.get("command") or ""), str(m.get("output") or "")]) for m in (*first, *second)
    )
    flat = re.sub(r"\s", "", source)
    for line in summarise(second, summarise(first)).split("\n"):
        if not line.startswith("- "):
            assert line in (*SECTIONS, NOTHING, "")
            continue
        plain = re.sub(r"^- (\[[ x]\] )?", "", line)
        values = re.findall(r"`([^`]+)`", plain) if re.match(r"\w+: `", plain) else []
        quote = re.sub(r"^(read|exec|web_fetch|edit|ls): ", "", plain).removesuffix("…")
        assert all(value in source for value in values) if values else re.sub(r"\s", "", quote) in flat


@given(st.lists(turns(8), min_size=1, max_size=5), st.sampled_from([50, 200, 1000]))
def test_summaries_do_not_grow_without_bound(rounds, max_tokens):
    """However often a summary is carried on, it stays under its cap, headings apart."""
    bare = ESTIMATE.tokens([summarise([])])
    summary = None
    for messages in rounds:
        summary = summarise(messages, summary, max_tokens=max_tokens)
        assert ESTIMATE.tokens([summary]) <= max_tokens + bare
    assert [line for line in summary.split("\n") if line.startswith("#")] == list(SECTIONS)


def test_the_first_request_and_what_was_to_be_remembered_outlive_the_cap():
    """A hundred later decisions do not push them out."""
    first = [user("Build the shop for Müller & Sons."), user("Remember: the pager code is 4711-22.")]
    noise = [
        message for n in range(100) for message in (user(f"And item {n} too"), said(f"Decided to use plan {n} here."))
    ]
    summary = summarise([], summarise(first + noise, max_tokens=500), max_tokens=500)
    assert "- Build the shop for Müller & Sons." in section(summary, "## Goal")
    assert "pager code is 4711-22" in summary


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see https://x.com/a?b=1.", [("urls", "https://x.com/a?b=1")]),
        ("postgres://app@pg-b:5432/main", [("urls", "postgres://app@pg-b:5432/main")]),
        ("修改/srv/app/a.py后重启", [("paths", "/srv/app/a.py")]),
        ("在logs/checkout.log里", [("paths", "logs/checkout.log")]),
        (r"C:\Temp\x.txt", [("paths", r"C:\Temp\x.txt")]),
        ("edit theme.ts, please", [("paths", "theme.ts")]),
        ("ping 10.0.0.1:8080", [("hosts", "10.0.0.1:8080")]),
        ("OPS-142 and #45", [("ids", "OPS-142"), ("ids", "#45")]),
        ("commit 3f2a9bc", [("ids", "3f2a9bc")]),
        ("用v1.2.3版本", [("versions", "v1.2.3")]),
        ("2026-05-04T10:30:00Z", [("dates", "2026-05-04T10:30:00Z")]),
        ("2026年5月4日", [("dates", "2026年5月4日")]),
        ("15%, 30 ms, $1,200", [("amounts", "15%"), ("amounts", "30 ms"), ("amounts", "$1,200")]),
        ("DATABASE_URL is set", [("ids", "DATABASE_URL")]),
        ("mail a.b@x.org", [("emails", "a.b@x.org")]),
        ("and/or, e.g. this; 3 of 4", []),
        ("部署失败了", []),
    ],
)
def test_identifiers(text, expected):
    assert expected == [tuple(one) for one in identifiers(text)]


@given(st.text(max_size=60))
def test_identifiers_are_pieces_of_the_text(text):
    assert all(one.value in text for one in identifiers(text))


@given(turns())
def test_facts_are_in_order_and_short(messages):
    found = facts(messages)
    assert [fact.order for fact in found] == sorted(fact.order for fact in found)
    assert all(0 < len(fact.text) <= 240 for fact in found)


def test_of_a_traceback_the_error_counts_not_its_first_line():
    output = 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\nValueError: bad pool size'
    assert ["exec: ValueError: bad pool size"] == [fact.text for fact in facts([failed(output)])]
    assert ["exec: KeyboardInterrupt"] == [fact.text for fact in facts([failed("Traceback:\nKeyboardInterrupt")])]
