"""How one oversized tool result is shortened (table context-tool-truncate)."""

from oc.message.cap import cap_message, cap_stored, cap_text, has_important_tail, max_view_chars
from tests.forms import expand, same
from tests.support import vectors

NAMES = {"suffix": "suffix", "minKeepChars": "min_kept_chars"}


def options(given):
    return {NAMES[name]: value for name, value in given.get("options", {}).items()}


@vectors("context-tool-truncate", "truncateToolResultText")
def test_text(case):
    given = expand(case.input)
    assert same(case.expected, cap_text(given["text"], given["maxChars"], **options(given)))


@vectors("context-tool-truncate", "truncateToolResultMessage")
def test_message(case):
    given = expand(case.input)
    assert same(case.expected, cap_message(given["message"], given["maxChars"], **options(given)))


@vectors("context-tool-truncate", "capToolResultSize")
def test_stored(case):
    assert same(case.expected, cap_stored(expand(case.input)["message"]))


@vectors("context-tool-truncate", "calculateMaxToolResultChars")
def test_share_of_the_window(case):
    assert case.expected == max_view_chars(case.input["contextWindowTokens"])


@vectors("context-tool-truncate", "hasImportantTail")
def test_important_tail(case):
    assert case.expected == has_important_tail(expand(case.input["text"]))


def test_every_function_of_the_table_is_run():
    import json

    from tests.support import VECTORS

    known = {"truncateToolResultText", "truncateToolResultMessage", "capToolResultSize"}
    known |= {"calculateMaxToolResultChars", "hasImportantTail"}
    assert known == {row["fn"] for row in json.loads((VECTORS / "context-tool-truncate.json").read_text())}
