"""A whole compaction with a model that answers SUMMARY#n, as Pi does it, case by case."""

from oc.base.tokens import CHARS4
from oc.compaction import prompts
from oc.compaction.plan import entry_of, joined, questions
from oc.compaction.prepare import prepare
from tests.support import vectors


@vectors("sessions-compact")
def test_compact(case):
    settings = case.input["settings"]
    made = prepare(
        case.input["entries"],
        keep_recent_tokens=settings["keepRecentTokens"],
        counter=CHARS4,
        from_previous_kept=False,
    )
    asked = questions(made, reserve_tokens=settings["reserveTokens"], instructions=case.input.get("customInstructions"))
    calls = [
        {
            "systemPrompt": _masked(question.system),
            "prompt": _masked(question.prompt),
            "messages": 1,
            "maxTokens": question.max_tokens,
            "reasoning": None,
        }
        for question in asked
    ]
    assert case.expected["calls"] == calls
    if "error" in case.input:
        assert "throws" in case.expected["result"]  # what becomes of a failing model is shown with the command
        return
    answers = {question.part: f"SUMMARY#{number}" for number, question in enumerate(asked, 1)}
    summary = joined(made, answers.get("history"), answers.get("prefix"))
    entry = entry_of(made, summary, summariser="m", timestamp="")
    del entry["type"], entry["timestamp"], entry["details"]["summariser"]
    assert case.expected["result"] == entry


def _masked(text):
    names = {
        "SUMMARIZATION_SYSTEM_PROMPT": prompts.SYSTEM,
        "UPDATE_SUMMARIZATION_PROMPT": prompts.UPDATE,
        "TURN_PREFIX_SUMMARIZATION_PROMPT": prompts.TURN_PREFIX,
        "SUMMARIZATION_PROMPT": prompts.INITIAL,
    }
    for name, wording in names.items():
        text = text.replace(wording, f"{{{{{name}}}}}")
    return text
