import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.memory.note import conversation, files_of, note_name, note_text, own_slug, slug_of, slug_prompt
from tests.shapes import JSON
from tests.support import Case, vectors

MOMENT = datetime(2026, 3, 16, 9, 41, 27, 123000, UTC)


def entries(text):
    for line in text.split("\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def run(given, taken=()):
    """The notes that the event leaves, and the text that a model would be asked to name."""
    if given["type"] != "command" or given["action"] not in ("new", "reset"):
        return {}, None
    session = given["previousSessionEntry"] or given["sessionEntry"] or {}
    count = (given["hookConfig"] or {}).get("messages", 0)
    files = files_of(given["sessions"], session.get("sessionId"), session.get("sessionFile"))
    said = next((s for name in files if (s := conversation(entries(given["sessions"][name]), count))), "")
    if not said:
        return {}, None
    text = note_text(
        said,
        moment=datetime.fromisoformat(given["timestamp"]),
        session_key=given["sessionKey"],
        session_id=session.get("sessionId"),
        source=given["commandSource"],
    )
    return {note_name(MOMENT, "", taken): text}, said if given["hasConfig"] else None


@vectors("memory-hook")
def test_note(case):
    files, asked = run(case.input, case.input["existing"])
    assert case.expected == {"memoryFiles": files, "slugPromptContent": asked}


def case(name) -> Case:
    return next(p.values[0] for p in vectors("memory-hook").args[1] if p.values[0].name == name)


def test_only_this_session_is_asked_its_archives_included():
    """D9: the reference takes the words of any other session of the folder."""
    files, _ = run(case("reset-only-no-canonical").input)
    assert ["user: archived text"] == [text.split("\n")[-2] for text in files.values()]


@pytest.mark.parametrize("name", ["no-entry-at-all", "empty-transcript"])
def test_nothing_said_leaves_no_note(name):
    """D9."""
    assert ({}, None) == run(case(name).input)


def test_a_taken_name_is_numbered():
    """D9: the reference writes over the older note."""
    files, _ = run(case("overwrites-same-minute").input, {"2026-03-16-0941.md", "2026-03-16-0941-2.md"})
    assert ["2026-03-16-0941-3.md"] == list(files)


def test_the_newest_topic_is_that_with_the_highest_number():
    """D9: the reference takes topic 9 before topic 10."""
    files, _ = run(case("topic-variant").input)
    assert ["user: topic ten"] == [text.split("\n")[-2] for text in files.values()]


def test_the_time_is_the_users():
    """D9."""
    moment = MOMENT.astimezone(timezone(timedelta(hours=16)))
    text = note_text("user: x", moment=moment, session_key="k", session_id=None, source=None)
    assert "# Session: 2026-03-17 01:41:27 +1600" == text.split("\n")[0]
    assert "- **Session ID**: unknown\n- **Source**: unknown\n" in text
    assert "2026-03-17-0141.md" == note_name(moment, "", ())


def test_files_of_a_session_in_order():
    names = [
        "s1-topic-2.jsonl",
        "s1-topic-10.jsonl",
        "s1.jsonl.reset.2026-01-01T00-00-00.000Z",
        "s1.jsonl.reset.2026-02-01T00-00-00.000Z",
        "s1-topic-2.jsonl.reset.2026-03-01T00-00-00.000Z",
        "s1.jsonl",
        "s10.jsonl",
        "s1.jsonl.lock",
        "other.jsonl",
    ]
    assert [
        "s1.jsonl",
        "s1-topic-10.jsonl",
        "s1-topic-2.jsonl",
        "s1.jsonl.reset.2026-02-01T00-00-00.000Z",
        "s1.jsonl.reset.2026-01-01T00-00-00.000Z",
        "s1-topic-2.jsonl.reset.2026-03-01T00-00-00.000Z",
    ] == files_of(names, "s1", "s1.jsonl")
    assert [] == files_of(names, None, None)
    assert ["other.jsonl"] == files_of(names, None, "other.jsonl")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" API Design! ", "api-design"),
        ("vendor_pitch--2", "vendor-pitch-2"),
        ("../../etc/passwd", "etc-passwd"),
        ("数据库 迁移", "数据库-迁移"),
        ("Mu\u0308ller", "müller"),
        ("🎉", ""),
        ("a" * 29 + " b", "a" * 29),
        ("x" * 40, "x" * 30),
    ],
)
def test_slugs(text, expected):
    assert expected == slug_of(text)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("user: Please check why the nightly backup of pg-b failed", "check-nightly-backup-pg"),
        ("assistant: hello\nuser: 请帮我检查数据库连接池配置，谢谢", "检查数据库连接池配置-谢谢"),
        ("user: the\nuser: GPU 显存 usage", "gpu-显存-usage"),
        ("assistant: deploy", ""),
        ("", ""),
    ],
)
def test_a_slug_without_a_model(said, expected):
    assert expected == own_slug(said)


def test_a_model_sees_the_beginning_only():
    assert slug_prompt("x" * 3000).endswith("\n\n" + "x" * 2000)


@given(st.text(max_size=60))
def test_a_slug_is_safe_in_a_file_name(text):
    slug = slug_of(text)
    assert len(slug.encode()) <= 120
    assert slug == slug_of(slug)
    assert not set("/\\.:\0 \n") & set(slug)


@given(st.sets(st.sampled_from(["2026-03-16-0941.md", "2026-03-16-0941-2.md", "2026-03-16-0941-3.md"])))
def test_a_name_is_never_taken(taken):
    assert note_name(MOMENT, "", taken) not in taken


@given(
    st.lists(st.fixed_dictionaries({"role": st.just("user") | JSON, "content": JSON, "provenance": JSON}), max_size=4)
)
def test_no_message_is_too_odd(messages):
    said = conversation([{"type": "message", "message": message} for message in messages])
    assert said == "" or said.startswith("user: ")
