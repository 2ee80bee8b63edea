"""When a context is too large, as Pi decides it."""

from oc.window.budget import is_over
from tests.support import vectors


@vectors("sessions-tokens", fn="shouldCompact")
def test_should_compact(case):
    settings = case.input["settings"]
    over = is_over(case.input["contextTokens"], case.input["contextWindow"], settings["reserveTokens"])
    assert case.expected is (settings["enabled"] and over)
