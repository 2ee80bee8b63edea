from oc.session.context import build_context
from tests.session.test_vectors_load import context_value
from tests.support import vectors


@vectors("sessions-context")
def test_context(case):
    found = context_value(build_context(case.input["entries"], case.input.get("leafId")))
    assert case.expected == found
