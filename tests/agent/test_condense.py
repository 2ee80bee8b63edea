"""What the built-in model takes for a request to summarise, and what it then hands over."""

import pytest

from oc.agent.condense import condensed
from oc.compaction import extract, prompts
from oc.compaction.serialise import serialise
from oc.message.derived import for_model

TALK = [
    {"role": "user", "content": "Move the staging database to pg-b.internal:5432 by Friday."},
    {
        "role": "assistant",
        "content": [
            {
                "type": "text",
                "text": "I decided to use logical replication: size.\n\nDone: the dump is in /var/backups/pg.dump.",
            }
        ],
    },
    {"role": "toolResult", "toolCallId": "c", "content": "error: disk full", "isError": True},
    {"role": "user", "content": "预发布环境也要迁移，端口是 6432。"},
]


def test_the_question_of_a_compaction_gives_the_extract_of_its_conversation():
    asked = prompts.history_prompt(serialise(TALK), None, None)
    summary = condensed(asked, [])
    assert all(section in summary for section in prompts.SECTIONS)
    for fact in ("pg-b.internal:5432", "logical replication", "/var/backups/pg.dump", "6432"):
        assert fact in summary


def test_a_previous_summary_is_carried_on():
    asked = prompts.history_prompt(serialise(TALK), "## Key Decisions\n- use zstd for dumps", "ports")
    assert "use zstd for dumps" in condensed(asked, [])


def test_the_first_part_of_a_turn_has_its_own_sections():
    summary = condensed(prompts.prefix_prompt(serialise(TALK)), [])
    assert all(section in summary for section in prompts.PREFIX_SECTIONS)


@pytest.mark.parametrize(
    "said", ["Summarise this: the port is 5433", "please summarize: the port is 5433", "总结：端口是 5433"]
)
def test_a_text_of_its_own(said):
    assert "5433" in condensed(said, TALK)
    assert "pg-b" not in condensed(said, TALK)


@pytest.mark.parametrize("said", ["Summarise our conversation", "sum up", "请总结一下", "概括"])
def test_the_conversation_so_far(said):
    assert extract.summarise(TALK) == condensed(said, TALK)


def test_the_summary_that_the_conversation_begins_with_is_carried_on():
    old = "## Key Decisions\n- use zstd for dumps"
    folded = for_model([{"role": "compactionSummary", "summary": old, "timestamp": 1}])
    summary = condensed("summarise our conversation", [*folded, *TALK])
    assert extract.summarise(TALK, old) == summary
    assert "folded" not in summary


@pytest.mark.parametrize(
    "said", ["where is it?", "Remember: summarise on Friday", "the summary is wrong", "", "我的总结在哪里"]
)
def test_what_is_no_such_request(said):
    assert condensed(said, TALK) is None
