from zoneinfo import ZoneInfo

import pytest

from oc.base.clock import parse_iso
from oc.memory.daily import daily_path
from tests.support import vectors

# What else the table holds is of the flush itself, which is no matter of this room.
PATHS = [
    p for p in vectors("memory-flush").args[1] if p.values[0].input["op"] == "resolveMemoryFlushRelativePathForRun"
]


@pytest.mark.parametrize("case", PATHS)
def test_daily_path(case):
    assert case.expected == daily_path(parse_iso(case.input["now"]), ZoneInfo(case.input["userTimezone"]))
