"""Time and ids, which commands take from outside: `--now`, `--tz`, `OC_SEED`."""

import math
import os
import time
from collections.abc import Callable, Container
from datetime import UTC, datetime, tzinfo

from oc.base.text import js_trim, pattern
from oc.base.typed import Any, NamedTuple

_ISO = r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?)?(Z|[+-]\d\d:?\d\d)?$"


TIME_MARK = "Current time:"


class Clock(NamedTuple):
    """`fixed_ms` stops the clock at that epoch millisecond; `zone` None is the machine's own zone."""

    fixed_ms: int | None = None
    zone: tzinfo | None = None

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000 if self.fixed_ms is None else self.fixed_ms

    def local(self, epoch_ms: int | None = None) -> datetime:
        """Returns the moment (default: now) as wall-clock time of the zone."""
        moment = datetime.fromtimestamp((self.now_ms() if epoch_ms is None else epoch_ms) / 1000, UTC)
        return moment.astimezone(self.zone)

    def date(self) -> str:
        return self.local().strftime("%Y-%m-%d")

    def zone_name(self) -> str:
        """Returns the zone's IANA name, or what the machine calls its own."""
        return str(self.zone or self.local().tzname() or "UTC")

    def time_line(self, *, twelve_hours: bool = False) -> str:
        """Returns the moment as models are told it: in words in the zone, and in UTC."""
        now = self.local()
        ordinal = {1: "st", 2: "nd", 3: "rd"}.get(0 if now.day in (11, 12, 13) else now.day % 10, "th")
        told = f"{now.hour % 12 or 12}:{now:%M} {'AM' if now.hour < 12 else 'PM'}" if twelve_hours else f"{now:%H:%M}"
        day = f"{now:%A}, {now:%B} {now.day}{ordinal}, {now.year}"
        return f"{TIME_MARK} {day} \u2014 {told} ({self.zone_name()}) / {now.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def iso(epoch_ms: int) -> str:
    """Returns UTC ISO-8601 with milliseconds and Z, as every timestamp in a transcript is written."""
    seconds, millis = divmod(epoch_ms, 1000)
    year, month, day, hour, minute, second = time.gmtime(seconds)[:6]  # strftime does not pad a year before 1000
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{millis:03d}Z"


def parse_iso(text: Any) -> int | None:
    """Returns epoch milliseconds, or None for what is no date; a time without zone is UTC."""
    match = pattern(_ISO).match(text) if isinstance(text, str) else None
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        moment = datetime(  # noqa: DTZ001
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0)
        )
    except ValueError:
        return None
    millis = int((fraction or "0").ljust(3, "0")[:3])
    offset = 0
    if zone and zone != "Z":
        digits = zone[1:].replace(":", "")
        offset = (int(digits[:2]) * 60 + int(digits[2:])) * (-1 if zone[0] == "-" else 1)
    return int((moment - datetime(1970, 1, 1)).total_seconds()) * 1000 + millis - offset * 60_000  # noqa: DTZ001


def duration_ms(text: str, default_unit: str) -> int | None:
    """Returns the milliseconds of `5m`, `1h30m` or a bare number of the default unit (ms, s, m, h, d); None for others.

    No gaps, no sign, no weeks, as OpenClaw's configuration has it.
    """
    trimmed = js_trim(text).lower()
    if not trimmed.isascii():
        return None
    number = pattern(r"\d+(?:\.\d+)?$").match(trimmed)
    parts = [(trimmed, default_unit)] if number else pattern(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)").findall(trimmed)
    if not parts or (not number and "".join(map("".join, parts)) != trimmed):
        return None
    scale = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
    millis = sum(float(amount) * scale[unit] for amount, unit in parts)
    return math.floor(millis + 0.5) if math.isfinite(millis) else None


class Ids:
    """Entry and session ids: random, or a fixed sequence when seeded."""

    def __init__(self, seed: str | None = None) -> None:
        self.seeded = seed is not None
        self._bytes: Callable[[int], bytes] = os.urandom
        if seed is not None:
            from random import Random

            self._bytes = Random(seed).randbytes  # noqa: S311

    def uuid(self) -> str:
        raw = bytearray(self._bytes(16))
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        text = raw.hex()
        return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"

    def entry(self, taken: Container[str]) -> str:
        """Returns 8 hex digits not in `taken`; after 100 collisions a whole UUID, as Pi does."""
        for _ in range(100):
            candidate = self._bytes(4).hex()
            if candidate not in taken:
                return candidate
        while (candidate := self.uuid()) in taken:
            pass
        return candidate
