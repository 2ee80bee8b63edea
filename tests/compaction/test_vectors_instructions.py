from oc.compaction.instructions import of_command
from tests.support import vectors


@vectors("context-config-defaults", "extractCompactInstructions")
def test_of_command(case):
    assert case.expected == of_command(case.input["rawBody"])


def test_nothing_after_the_command_is_no_instruction():
    assert of_command(" /Compact : ") is None
    assert "it" == of_command("/COMPACT\n it ")
