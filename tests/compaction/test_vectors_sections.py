"""Sections of a summary, and what is asked of one, as the reference has them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.base.text import len16
from oc.compaction import quality, sections
from oc.compaction.files import FileOps, file_lists, file_section
from oc.compaction.stages import identifier_text, instructions
from oc.memory.keywords import keywords
from oc.message.pairs import pair
from tests.compaction.test_vectors_stages import FOCUS, label
from tests.forms import expand, same
from tests.shapes import turns
from tests.support import NOW_MS, vectors

TABLE = "context-compact-sections"


@vectors(TABLE, "toolFailuresSection")
def test_failures(case):
    assert same(case.expected, sections.failures_section(expand(case.input)["messages"]))


@vectors(TABLE, "fileOpsSection")
def test_files(case):
    given = case.input
    read, modified = file_lists(FileOps(tuple(given["read"]), tuple(given["written"]), tuple(given["edited"])))
    assert case.expected == {"readFiles": read, "modifiedFiles": modified, "section": file_section(read, modified)}


@vectors(TABLE, "preservedTurns")
def test_preserve(case):
    given = expand(case.input)
    turns = sections.preserved_turns(given["recentTurnsPreserve"])
    rest, preserved = sections.preserve(given["messages"], turns, now_ms=NOW_MS)
    assert same(
        case.expected,
        {
            "summarizable": [label(message) for message in rest],
            "preserved": [label(message) for message in preserved],
            "section": sections.preserved_section(preserved),
        },
    )


@vectors(TABLE, "extractOpaqueIdentifiers")
def test_identifiers(case):
    assert case.expected == quality.opaque_identifiers(case.input["text"])


@vectors(TABLE, "auditSummaryQuality")
def test_reasons(case):
    given = case.input
    policy = given.get("identifierPolicy", "strict")
    found = quality.reasons(given["summary"], given["identifiers"], given["latestAsk"], policy=policy, words=keywords)
    assert case.expected == {"ok": not found, "reasons": found}


@vectors(TABLE, "structuredFallback")
def test_structured(case):
    assert case.expected == sections.structured(case.input["previousSummary"])


@vectors(TABLE, "summaryInstructionsShape")
def test_instructions(case):
    """The wording is our own: what counts is whether there is any, and the focus at its end."""
    given = case.input.get("instr", {})
    policy = given.get("identifierPolicy", "strict")
    made = instructions(case.input.get("custom"), identifier_text(policy, given.get("identifierInstructions")))
    if case.expected is None:
        assert made is None
        return
    assert case.expected["hasAdditionalFocus"] is ("Additional focus:" in made)
    if case.expected["hasAdditionalFocus"]:
        assert (case.expected["length"], case.expected["endsWith"]) == (len16(made), made)
    else:
        assert identifier_text("strict") == made


@vectors(TABLE, "resolveRecentTurnsPreserve")
def test_preserved_turns(case):
    assert case.expected == sections.preserved_turns(case.input["value"])


@vectors(TABLE, "resolveQualityGuardMaxRetries")
def test_retries(case):
    assert case.expected == quality.retries(case.input["value"])


@vectors(TABLE, "untrustedBlock")
def test_fenced(case):
    """The line that says what the block is has our own words behind the label."""
    given = expand(case.input)
    most = {"max_chars": given["maxChars"]} if "maxChars" in given else {}
    head, *body = sections.fenced(given["label"], given["text"], **most).split("\n")
    assert head.startswith(f"{given['label']} (")
    assert case.expected.split("\n")[1:] == body


@vectors(TABLE, "resolveCompactionInstructions")
def test_chosen_instructions(case):
    given = expand(case.input)
    assert same(case.expected, quality.chosen_instructions(given["event"], given["runtime"]))


def test_instructions_of_last_resort():
    assert "cfg" == quality.chosen_instructions("  ", " cfg ")
    assert quality.DEFAULT_INSTRUCTIONS == quality.chosen_instructions(None, "")
    assert f"{FOCUS.lstrip()}x" == instructions("x", None)


def test_the_form_names_all_headings_and_fences_the_focus():
    asked = quality.form("keep </untrusted-text> & ids")
    assert "\n".join(sections.HEADINGS) in asked
    assert asked.endswith("\n<untrusted-text>\nkeep &lt;/untrusted-text&gt; & ids\n</untrusted-text>")
    assert "untrusted" not in quality.form(" \u200b ")


@pytest.mark.parametrize(
    ("summary", "section", "expected"), [("a", "\n\nb", "a\n\nb"), (" \n", "\n\nb", "b"), ("a", "", "a")]
)
def test_with_section(summary, section, expected):
    assert expected == sections.with_section(summary, section)


def test_rules_are_cut():
    assert "" == sections.rules_section("")
    assert "\n\n<workspace-critical-rules>\nx\n</workspace-critical-rules>" == sections.rules_section("x")
    long = sections.rules_section("规" * 2001)
    assert f"\n{'规' * 2000}\n...[truncated]...\n</workspace" in long


def test_more_than_eight_failures_are_counted():
    many = [
        {"role": "toolResult", "toolCallId": f"c{n}", "toolName": "exec", "content": [], "isError": True}
        for n in range(10)
    ]
    assert sections.failures_section(many).endswith("\n- exec: failed (no output)\n- ...and 2 more")


@given(turns(), st.integers(0, 12))
def test_what_is_preserved_and_the_rest_are_all_there_is(messages, count):
    rest, kept = sections.preserve(messages, count, now_ms=NOW_MS)
    places = {id(message): place for place, message in enumerate(messages)}
    chosen = [places[id(message)] for message in kept]
    assert chosen == sorted(set(chosen))
    left = [message for place, message in enumerate(messages) if place not in chosen]
    assert rest == (pair(left, now_ms=NOW_MS).messages if kept else messages)
    users = [message for message in kept if message["role"] == "user"]
    assert len(users) >= min(count, sum(message["role"] == "user" for message in messages))


SUMMARY = "\n\n".join(
    f"{heading}\n" + "\n".join(f"- line {n} of it" for n in range(50)) for heading in sections.HEADINGS
)


def test_a_cap_keeps_every_heading_and_the_newest_lines_of_each():
    short = sections.capped(SUMMARY, 1500)
    assert len16(short) <= 1500
    assert sections.has_headings(short)
    assert 5 == short.count("- line 49 of it") == short.count(" older lines left out)")
    assert 0 == short.count("- line 0 of it")


def test_what_fits_is_not_touched():
    assert SUMMARY == sections.capped(SUMMARY, len16(SUMMARY))


_LINES = st.lists(
    st.sampled_from(["## A", "### B", "- x", "长" * 30, "", "<read-files>", "a.py", "</read-files>", "🙂"])
)


@given(_LINES.map("\n".join), st.integers(0, 300))
def test_a_cap_holds(summary, most):
    short = sections.capped(summary, most)
    assert len16(short) <= most
    assert short == sections.capped(short, most)
