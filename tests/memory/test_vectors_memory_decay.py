import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.base.clock import iso
from oc.memory.daily import daily_path, day_ms, is_evergreen
from oc.memory.decay import factor, moment_ms, multiplier
from tests.support import NOW_MS, vectors

DAY_MS = 86_400_000


@vectors("memory-decay")
def test_decay(case):
    given = case.input
    if "path" in given:
        day = day_ms(given["path"])
        shown = {"date": None if day is None else iso(day), "evergreen": is_evergreen(given["path"])}
        assert case.expected == shown
    else:
        assert math.isclose(case.expected, multiplier(given["ageInDays"], given["halfLifeDays"]), abs_tol=1e-6)


@pytest.mark.parametrize(
    "path",
    [
        "memory/sub/2026-03-16.md",
        "memory/dreaming/light/2026-03-16.md",
        "memory/2026-03-16-api-design.md",
        "memory/2026-03-16-1025.md",
        "memory/2026-03-16-部署.md",
        "memory/2026-03-16_standup.md",
        "../team/2026-03-16.md",
        "./memory/2026-03-16.md",
    ],
)
def test_a_dated_basename_counts_at_any_depth_and_with_a_suffix(path):
    """D17."""
    assert (NOW_MS // DAY_MS * DAY_MS, False) == (day_ms(path), is_evergreen(path))


@pytest.mark.parametrize(
    "path",
    [
        "memory/2026-03-161.md",
        "memory/x-2026-03-16.md",
        "memory/2026-03-16",
        "memory/2026-03-16.md/x.md",
        "memory/２０２６-03-16.md",
    ],
)
def test_other_names_with_digits_are_no_dates(path):
    assert (None, True) == (day_ms(path), is_evergreen(path))


def test_the_day_of_a_note_is_the_users():
    from zoneinfo import ZoneInfo

    assert "memory/2026-03-16.md" == daily_path(NOW_MS, ZoneInfo("UTC"))
    assert "memory/2026-03-15.md" == daily_path(NOW_MS - 9 * 3_600_000 - 1, ZoneInfo("UTC"))


def never():
    raise AssertionError


def test_only_what_no_name_dates_is_asked_for_its_time():
    assert NOW_MS // DAY_MS * DAY_MS == moment_ms("memory/2026-03-16.md", "memory", never)
    assert None is moment_ms("MEMORY.md", "memory", never)
    assert None is moment_ms("memory/network.md", "memory", never)
    assert 5 == moment_ms("../team/plan.md", "memory", lambda: 5)
    assert 5 == moment_ms("memory/2026-02-30.md", "memory", lambda: 5)
    assert None is moment_ms("../team/plan.md", "memory", lambda: None)


def test_a_session_ages_by_its_last_message():
    """D17: in the reference sessions never decay."""
    thirty_days_ago = NOW_MS - 30 * DAY_MS
    moment = moment_ms("sessions/s.jsonl", "sessions", lambda: thirty_days_ago)
    assert math.isclose(0.5, factor(moment, now_ms=NOW_MS, half_life_days=30))


def test_what_has_no_age_keeps_its_score():
    assert 1.0 == factor(None, now_ms=NOW_MS, half_life_days=1)


@given(st.floats(0, 1e4), st.floats(0, 1e4), st.floats(0.1, 1e3))
def test_older_never_counts_more(age, more, half_life):
    assert 0 <= multiplier(age + more, half_life) <= multiplier(age, half_life) <= 1
