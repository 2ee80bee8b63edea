"""Time and ids as they come from outside."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.base.clock import Clock, Ids, duration_ms, iso, parse_iso

MOMENT = 1773651600000


@pytest.mark.parametrize(
    ("text", "millis"),
    [
        ("2026-03-16T09:00:00.000Z", MOMENT),
        ("2026-03-16T09:00:00Z", MOMENT),
        ("2026-03-16T09:00Z", MOMENT),
        ("2026-03-16 10:00:00+01:00", MOMENT),
        ("2026-03-16T03:30:00-0530", MOMENT),
        ("2026-03-16T09:00:00.1234567", MOMENT + 123),
        ("2026-03-16", MOMENT - 9 * 3_600_000),
        ("1969-12-31T23:59:59.999Z", -1),
    ],
)
def test_parse_iso(text, millis):
    """Offsets count, fractions are cut to milliseconds, a time without zone is UTC."""
    assert parse_iso(text) == millis


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "2026-02-30T00:00Z", "2026-03-16T25:00Z", 5, None])
def test_what_is_no_date_is_none(text):
    assert parse_iso(text) is None


@given(st.integers(-62135596800000, 253402300799999))
def test_iso_and_parse_iso_are_inverse(millis):
    """From the year 1 to 9999."""
    assert parse_iso(iso(millis)) == millis


@given(st.text(max_size=30))
def test_parse_iso_takes_any_text(text):
    assert parse_iso(text) is None or isinstance(parse_iso(text), int)


def test_a_fixed_clock_stands_still():
    clock = Clock(MOMENT, UTC)
    assert clock.now_ms() == clock.now_ms() == MOMENT
    assert clock.date() == "2026-03-16"


def test_the_zone_decides_the_date():
    """Late evening in New York is the next day in UTC."""
    late = 1773716400000  # 2026-03-17T03:00:00Z
    assert Clock(late, ZoneInfo("America/New_York")).date() == "2026-03-16"
    assert Clock(late, UTC).date() == "2026-03-17"
    assert Clock(MOMENT, UTC).local(late) == datetime(2026, 3, 17, 3, tzinfo=UTC)


def test_seeded_ids_repeat_and_differ():
    """The same seed gives the same ids; one run never gives an id twice."""
    first, second = Ids("1"), Ids("1")
    taken: set[str] = set()
    for _ in range(50):
        made = first.entry(taken)
        assert made == second.entry(taken)
        assert made not in taken
        taken.add(made)
    assert first.uuid() == second.uuid()
    assert Ids("2").uuid() != Ids("1").uuid()


def test_a_uuid_is_of_version_4():
    uuid = Ids().uuid()
    assert [len(part) for part in uuid.split("-")] == [8, 4, 4, 4, 12]
    assert uuid[14] == "4"
    assert uuid[19] in "89ab"


def test_after_a_hundred_collisions_an_id_is_a_uuid():
    class EveryShortId:
        def __contains__(self, taken: object) -> bool:
            return len(str(taken)) == 8

    assert len(Ids("1").entry(EveryShortId())) == 36


@pytest.mark.parametrize(
    ("text", "unit", "millis"),
    [
        ("5m", "m", 300_000),
        ("500ms", "m", 500),
        ("2", "m", 120_000),
        (" 1D ", "m", 86_400_000),
        ("1h30m20s", "m", 5_420_000),
        ("1.5s", "m", 1500),
        ("0.0005s", "m", 1),
        ("30", "d", 2_592_000_000),
        ("0s", "m", 0),
        ("-5m", "m", None),
        ("", "m", None),
        ("10m5", "m", None),
        ("1h 30m", "m", None),
        ("2w", "m", None),
        ("soon", "m", None),
        ("9" * 400, "m", None),
    ],
)
def test_duration_ms(text, unit, millis):
    """Numbers with units without gaps, or one bare number of the default unit, rounded half up to milliseconds."""
    assert duration_ms(text, unit) == millis


@pytest.mark.parametrize(
    ("millis", "zone", "twelve", "expected"),
    [
        (MOMENT, "UTC", False, "Monday, March 16th, 2026 — 09:00 (UTC) / 2026-03-16 09:00 UTC"),
        (MOMENT + 8 * 3_600_000, "UTC", True, "Monday, March 16th, 2026 — 5:00 PM (UTC) / 2026-03-16 17:00 UTC"),
        (1767225599000, "Asia/Tokyo", False, "Thursday, January 1st, 2026 — 08:59 (Asia/Tokyo) / 2025-12-31 23:59 UTC"),
        (1770768000000, "UTC", True, "Wednesday, February 11th, 2026 — 12:00 AM (UTC) / 2026-02-11 00:00 UTC"),
        (1774224000000, "UTC", False, "Monday, March 23rd, 2026 — 00:00 (UTC) / 2026-03-23 00:00 UTC"),
    ],
)
def test_time_line(millis, zone, twelve, expected):
    """Ordinals are English, the zone decides the day."""
    assert "Current time: " + expected == Clock(millis, ZoneInfo(zone)).time_line(twelve_hours=twelve)


def test_a_machine_without_a_zone_of_ours_names_its_own():
    assert Clock(MOMENT).zone_name()
