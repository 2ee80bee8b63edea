"""The guard of one request as the reference has it (table context-context-guard)."""

import copy

from oc.window.guard import REFERENCE, _weight, guard
from tests.forms import expand, same
from tests.support import vectors


@vectors("context-context-guard", "contextGuard")
def test_guard(case):
    given = expand(case.input)
    before = copy.deepcopy(given["messages"])
    view = guard(given["messages"], window_tokens=given["contextWindowTokens"], manner=REFERENCE)
    assert same(case.expected["messages"], view.messages)
    assert before == given["messages"]


@vectors("context-context-guard", "estimateMessageChars")
def test_weight(case):
    assert case.expected == _weight(expand(case.input["message"]), REFERENCE)


def test_every_function_of_the_table_is_run():
    import json

    from tests.support import VECTORS

    rows = json.loads((VECTORS / "context-context-guard.json").read_text())
    assert {"contextGuard", "estimateMessageChars"} == {row["fn"] for row in rows}
