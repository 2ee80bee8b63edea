"""Which errors and usages mean that the window was too small (table sessions-overflow)."""

from oc.agent.failure import is_overflow_message
from tests.support import vectors


@vectors("sessions-overflow")
def test_overflow(case):
    window = case.input.get("contextWindow")
    assert case.expected == is_overflow_message(case.input["message"], window)
