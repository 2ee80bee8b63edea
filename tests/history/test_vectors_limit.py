from oc.history.limit import limit_turns, turns_for_key
from tests.support import vectors


def limit_or_turns(case):
    if "limit" in case.input:
        return limit_turns(case.input["messages"], case.input["limit"])[0]
    return turns_for_key(case.input["sessionKey"], case.input["config"]["channels"])


@vectors("context-history-limit")
def test_limit(case):
    assert case.expected == limit_or_turns(case)


@vectors("sessions-history")
def test_limit_of_sessions(case):
    found = limit_or_turns(case)
    assert case.expected == ([message["content"] for message in found] if isinstance(found, list) else found)
