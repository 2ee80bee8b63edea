from oc.base.text import cut16
from tests.support import vectors


@vectors("memory-snippet")
def test_snippet(case):
    assert case.expected == cut16(case.input["text"], int(case.input["maxChars"]))
