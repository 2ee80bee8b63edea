from oc.history.limit import limit_turns
from oc.history.markers import markers
from oc.history.policy import Model, policy
from oc.history.sanitize import STEPS, Wash, sanitize
from oc.message.pairs import pair
from tests.support import NOW_MS, vectors

REFERENCE_STEPS = [step for step in STEPS if not step.ours]


def check(case, steps):
    given = case.input
    model = Model(given["model"]["provider"], given["model"]["modelApi"], given["model"]["modelId"])
    wash = Wash(policy(model), NOW_MS, allowed_tools=given.get("allowed"))
    washed = sanitize(given["messages"], wash, steps=steps).messages
    limited, _ = limit_turns(washed, given.get("limit"))
    assert case.expected == {
        "messages": pair(limited, now_ms=NOW_MS).messages,
        "appendedCustom": markers(given.get("entries", []), washed, model, now_ms=NOW_MS),
    }


@vectors("context-history-pipeline")
def test_pipeline(case):
    check(case, REFERENCE_STEPS)


@vectors("context-history-pipeline")
def test_pipeline_with_our_own_steps(case):
    """In none of these histories is there anything for them to do."""
    check(case, STEPS)
