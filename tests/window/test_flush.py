"""The gate beside the reference's table: its reasons, what it counts itself, which part of a branch is unread."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.base.tokens import ESTIMATE
from oc.window.flush import Facts, Rules, closed_by, flushed_fields, is_flushed, judge, said_tokens, unflushed
from oc.window.flush_prompt import PROMPT, SYSTEM, for_run

RULES = Rules(True, 4000, 0, 20_000)
FRESH = {"totalTokens": 80_000, "totalTokensFresh": True}


@pytest.mark.parametrize(
    ("facts", "rules", "closed", "expected"),
    [
        (Facts(FRESH), RULES, None, (True, "threshold", 80_000)),
        (Facts(FRESH), RULES._replace(enabled=False), None, (False, "disabled", 0)),
        (Facts(FRESH), RULES, "read-only", (False, "read-only", 0)),
        (Facts(None), RULES, None, (False, "no-row", 0)),
        (Facts({**FRESH, "memoryFlushCompactionCount": 0}), RULES, None, (False, "flushed", 80_000)),
        (Facts({}), RULES, None, (False, "unknown-size", 0)),
        (Facts({}, context_tokens=10), RULES, None, (False, "below", 10)),
        (Facts(FRESH), RULES._replace(reserve_floor=100_000), None, (False, "no-threshold", 80_000)),
        (Facts({}, transcript_bytes=7), RULES._replace(force_bytes=7), None, (True, "transcript-bytes", 0)),
        (Facts({}, transcript_bytes=6), RULES._replace(force_bytes=7), None, (False, "unknown-size", 0)),
        (Facts({}, transcript_bytes=7), RULES, None, (False, "unknown-size", 0)),
        # What is counted is believed when the row is out of date or tells too little.
        (Facts({**FRESH, "totalTokensFresh": False}, context_tokens=76_000), RULES, None, (True, "threshold", 76_000)),
        (
            Facts({"totalTokens": 1, "totalTokensFresh": True}, None, 5, None, 75_995),
            RULES,
            None,
            (True, "threshold", 76_000),
        ),
        (Facts(FRESH, context_tokens=3), RULES, None, (True, "threshold", 80_000)),
    ],
)
def test_judge(facts, rules, closed, expected):
    verdict = judge(facts, 100_000, rules, closed)
    assert expected == (verdict.due, verdict.reason, verdict.tokens)
    assert max(0, 80_000 - rules.reserve_floor - rules.soft_tokens + 20_000) == verdict.threshold


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, None),
        ({"private_run": True}, "run"),
        ({"provider": " Claude-CLI "}, "cli-backend"),
        ({"sandbox": {"mode": "all"}}, "sandbox"),
        ({"sandbox": {"mode": "all", "workspaceAccess": "rw"}}, None),
        ({"sandbox": {"mode": "non-main"}}, None),
        ({"sandbox": {"mode": "non-main"}, "is_main": False}, "sandbox"),
        ({"sandbox": {"mode": "off"}, "is_main": False}, None),
    ],
)
def test_closed_by(given, expected):
    usual = {"private_run": False, "provider": "anthropic", "sandbox": {}, "is_main": True}
    assert expected == closed_by(**{**usual, **given})


def test_chinese_weighs_what_it_takes():
    """D13: 36 characters are as many tokens, not nine."""
    row = {"totalTokens": 75_990, "totalTokensFresh": True}
    assert judge(Facts(row, None, said_tokens("字" * 36, ESTIMATE)), 100_000, RULES).due


def test_a_flush_holds_until_the_next_compaction():
    """The count that is stored is the one before the compaction, else every other cycle would go unflushed."""
    row = {**FRESH, "compactionCount": 2}
    row |= flushed_fields(row, "e1", 5)
    assert {"memoryFlushAt": 5, "memoryFlushCompactionCount": 2, "memoryFlushEntryId": "e1"}.items() <= row.items()
    assert is_flushed(row)
    row["compactionCount"] += 1
    assert not is_flushed(row)
    assert judge(Facts(row), 100_000, RULES).due


def entry(name, at=0):
    return {"id": name, "timestamp": f"2026-03-16T09:00:00.{at:03d}Z"}


PATH = [entry("a", 1), entry("b", 2), {"id": "c"}, entry("d", 4)]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({}, "abcd"),
        ({"memoryFlushEntryId": "b"}, "cd"),
        ({"memoryFlushEntryId": "d"}, ""),
        ({"memoryFlushEntryId": "gone"}, "abcd"),
        ({"memoryFlushEntryId": "gone", "memoryFlushAt": 1773651600002}, "bcd"),
        ({"memoryFlushAt": 1773651600005}, "c"),
        ({"memoryFlushAt": "yesterday"}, "abcd"),
    ],
)
def test_unflushed(row, expected):
    """By the last entry that was read; without that by time, and what has no time is read again."""
    assert list(expected) == [one["id"] for one in unflushed(PATH, row)]


@given(st.lists(st.booleans(), max_size=12))
def test_flushes_read_every_entry_once_and_in_order(flush_after):
    path, read, row = [], [], {}
    for number, flush in enumerate([*flush_after, True]):
        path.append({"id": f"e{number}"})
        if flush:
            read += unflushed(path, row)
            row |= flushed_fields(row, path[-1]["id"], 0)
    assert path == read


def test_the_prompt_asks_for_values_reasons_and_bullets_and_for_no_summary():
    for words in (
        "one bullet",
        "Exact values",
        "reason",
        "Conclusions",
        "No summary",
        "memory/YYYY-MM-DD.md",
        "NO_REPLY",
    ):
        assert words in PROMPT
    assert "\n\n" not in PROMPT
    assert "silent" in SYSTEM
    told = for_run(PROMPT, "2026-03-16", "Current time: now")
    assert "YYYY" not in told
    assert told.endswith("\nCurrent time: now")
