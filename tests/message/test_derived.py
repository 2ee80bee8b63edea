"""The messages that entries yield, and what a model is shown of them."""

import pytest

from oc.message.derived import (
    BRANCH_END,
    BRANCH_LEAD,
    SUMMARY_END,
    SUMMARY_LEAD,
    bash_text,
    for_model,
    from_entry,
)

WHEN = {"timestamp": "2026-03-16T09:00:00.000Z"}
MS = 1773651600000


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"type": "message", "message": {"role": "user", "content": "a"}}, {"role": "user", "content": "a"}),
        ({"type": "message", "message": "not one"}, None),
        ({"type": "message"}, None),
        ({"type": "model_change", "provider": "p"}, None),
        ({"type": "label", "label": "x"}, None),
        ({"type": "of the future"}, None),
        ({}, None),
        (
            {"type": "custom_message", "customType": "n", "content": "c", "display": False, "other": 1, **WHEN},
            {"role": "custom", "customType": "n", "content": "c", "display": False, "timestamp": MS},
        ),
        ({"type": "branch_summary", "summary": "", **WHEN}, None),
        (
            {"type": "branch_summary", "summary": "s", "fromId": "root", **WHEN},
            {"role": "branchSummary", "summary": "s", "fromId": "root", "timestamp": MS},
        ),
        (
            {"type": "compaction", "summary": "s", "tokensBefore": 5, "timestamp": "no date"},
            {"role": "compactionSummary", "summary": "s", "tokensBefore": 5, "timestamp": None},
        ),
    ],
)
def test_from_entry(entry, expected):
    """Settings, labels, empty branch summaries and what nobody knows put nothing into the context."""
    assert expected == from_entry(entry)


def test_a_message_is_passed_on_as_the_same_object():
    message = {"role": "user", "content": "a"}
    assert from_entry({"type": "message", "message": message}) is message
    assert for_model([message])[0] is message


def test_summaries_are_shown_as_the_users_words_between_marks():
    shown = for_model([{"role": "compactionSummary", "summary": "S"}, {"role": "branchSummary", "summary": "B"}])
    assert ["user", "user"] == [message["role"] for message in shown]
    assert [SUMMARY_LEAD + "S" + SUMMARY_END, BRANCH_LEAD + "B" + BRANCH_END] == [
        message["content"][0]["text"] for message in shown
    ]
    assert "<summary>" in SUMMARY_LEAD
    assert "</summary>" in SUMMARY_END


def test_roles_that_no_model_knows_are_left_out():
    """Excluded commands too."""
    hidden = {"role": "bashExecution", "command": "c", "output": "o", "excludeFromContext": True}
    assert [] == for_model([{"role": "of the future"}, {}, hidden])


def test_a_custom_message_keeps_its_blocks():
    blocks = [{"type": "text", "text": "a"}, {"type": "image", "data": "AA"}]
    assert blocks == for_model([{"role": "custom", "content": blocks}])[0]["content"]


@pytest.mark.parametrize(
    ("fields", "ending"),
    [
        ({"exitCode": 0}, "```\no\n```"),
        ({"exitCode": None}, "```\no\n```"),
        ({"exitCode": 2}, "\n\nCommand exited with code 2"),
        ({"exitCode": 130, "cancelled": True}, "\n\n(command cancelled)"),
        ({"truncated": True, "fullOutputPath": "/srv/o"}, "\n\n[Output truncated. Full output: /srv/o]"),
        ({"truncated": True}, "```\no\n```"),
    ],
)
def test_a_command_of_the_user(fields, ending):
    text = bash_text({"command": "make", "output": "o", **fields})
    assert text.startswith("Ran `make`\n```\no\n```")
    assert text.endswith(ending)


def test_a_command_without_output():
    assert "Ran `true`\n(no output)" == bash_text({"command": "true", "output": "", "exitCode": 0})
