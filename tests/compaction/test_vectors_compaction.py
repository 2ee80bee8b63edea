"""Cut, preparation and serialisation as Pi does them, case by case."""

import json

from oc.base.tokens import CHARS4
from oc.compaction.cut import find_cut
from oc.compaction.files import FileOps, file_lists, file_section
from oc.compaction.prepare import prepare
from oc.compaction.serialise import serialise
from oc.message.derived import BRANCH_LEAD, SUMMARY_LEAD, for_model
from tests.support import vectors


@vectors("sessions-cutpoint")
def test_find_cut(case):
    given = case.input
    cut = find_cut(given["entries"], given["startIndex"], given["endIndex"], given["keepRecentTokens"], CHARS4)
    assert case.expected == {
        "firstKeptEntryIndex": cut.first_kept,
        "turnStartIndex": cut.turn_start,
        "isSplitTurn": cut.is_split,
    }


@vectors("sessions-prepare")
def test_prepare(case):
    """With the reference's window: from the previous compaction on."""
    settings = case.input["settings"]
    made = prepare(
        case.input["entries"],
        keep_recent_tokens=settings["keepRecentTokens"],
        counter=CHARS4,
        from_previous_kept=False,
    )
    if made is None:
        assert case.expected == {"prepared": False}
        return
    read, modified = file_lists(made.files)
    actual = {
        "prepared": True,
        "firstKeptEntryId": made.first_kept_entry_id,
        "messagesToSummarize": made.messages,
        "turnPrefixMessages": made.prefix_messages,
        "isSplitTurn": made.is_split_turn,
        "tokensBefore": made.tokens_before,
        "previousSummary": made.previous_summary,
        "fileOps": {name: list(paths) for name, paths in made.files._asdict().items()},
        "settings": settings,
        "fileLists": {"readFiles": read, "modifiedFiles": modified},
    }
    assert case.expected == {key: value for key, value in actual.items() if value is not None}


@vectors("sessions-serialize", fn="serializeConversation")
def test_serialise(case):
    assert case.expected == _masked(serialise(case.input["messages"]))


@vectors("sessions-serialize", fn="convertToLlm")
def test_for_model(case):
    """The same objects pass through; derived messages are wrapped, without the times that the table leaves out."""
    messages = case.input["messages"]
    shown = for_model(messages)
    assert all(any(one is message for message in messages) for one in shown if one["role"] != "user")
    assert case.expected == json.loads(_masked(json.dumps(shown, ensure_ascii=False)))


@vectors("sessions-serialize", fn="formatFileOperations")
def test_file_section(case):
    assert case.expected == file_section(case.input["readFiles"], case.input["modifiedFiles"])


@vectors("sessions-serialize", fn="computeFileLists")
def test_file_lists(case):
    read, modified = file_lists(FileOps(*(tuple(case.input[kind]) for kind in ("read", "written", "edited"))))
    assert case.expected == {"readFiles": read, "modifiedFiles": modified}


def _masked(text):
    """Replaces our wording by the names under which the table masks the reference's."""
    leads = {"BRANCH_SUMMARY_PREFIX": BRANCH_LEAD, "COMPACTION_SUMMARY_PREFIX": SUMMARY_LEAD}
    for name, lead in leads.items():
        for form in (lead, json.dumps(lead, ensure_ascii=False)[1:-1]):
            text = text.replace(form, f"{{{{{name}}}}}")
    return text
