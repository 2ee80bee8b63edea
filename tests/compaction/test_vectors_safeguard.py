"""Whole summaries as the reference's safeguard makes them, with a summariser that says what it was shown."""

import pytest

from oc.base.tokens import CHARS4
from oc.compaction.files import FileOps
from oc.compaction.safeguard import Matter, Rules, Safeguard
from oc.errors import Unavailable
from oc.memory.keywords import keywords
from oc.workspace.sections import extract_sections
from tests.compaction.test_vectors_stages import Stub, label
from tests.forms import expand, same
from tests.support import NOW_MS, vectors

NO_FILES = FileOps()


def rules_of(markdown):
    found = extract_sections(markdown, ["Session Startup", "Red Lines"])
    found = found or extract_sections(markdown, ["Every Session", "Safety"])
    return "\n\n".join(section for _, section in found)


def matter_of(given, **more):
    return Matter(
        history=given.get("messagesToSummarize", []),
        prefix=given.get("turnPrefixMessages", []),
        previous_summary=given.get("previousSummary"),
        tokens_before=given["tokensBefore"],
        files=NO_FILES,
        focus="",
        **more,
    )


def safeguard(stub, **rules):
    return Safeguard(stub, CHARS4, Rules(**{"window_tokens": 200_000, **rules}), keywords, NOW_MS)


@vectors("context-compact-safeguard")
def test_safeguard(case):
    given = expand(case.input)
    if given.get("noModel"):
        # Who summarises is decided before: without a model there is nothing to ask here.
        assert case.expected == {"result": {"cancel": True}, "callCount": 0, "calls": []}
        return
    runtime = given.get("runtime", {})
    stub = Stub(given.get("plan"))
    guard = safeguard(
        stub,
        window_tokens=runtime.get("contextWindowTokens", 200_000),
        recent_turns=runtime.get("recentTurnsPreserve", 3),
        quality_retries=1 if runtime.get("qualityGuardEnabled") else None,
    )
    markdown = given.get("workspace", {}).get("AGENTS.md", "")
    made = guard.summary(matter_of(given["preparation"], workspace_rules=rules_of(markdown)))
    told = [{"keys": [label(m) for m in messages], "previous": previous} for messages, previous, _ in stub.calls]
    assert case.expected["calls"] == told
    if made is None:
        assert {"cancel": True} == case.expected["result"]
    else:
        assert same(case.expected["result"]["compaction"]["summary"], made)


def user(key, size=6000):
    return {"role": "user", "content": key[0] * size, "k": key}


def test_a_model_that_fails_gives_no_summary():
    """The reference stores a text that says so (D12)."""
    with pytest.raises(Unavailable):
        safeguard(Stub({"failAll": True}), recent_turns=0).summary(
            matter_of({"messagesToSummarize": [user("a")], "tokensBefore": 1})
        )


def test_old_chunks_get_a_summary_of_their_own_that_the_main_one_goes_on_from():
    """When what stays is over its share of the window; a failure there is no summary either."""
    given = {"messagesToSummarize": [user(k) for k in "abcd"], "tokensBefore": 11_000, "previousSummary": "old"}
    stub = Stub()
    made = safeguard(stub, window_tokens=8000, recent_turns=0).summary(matter_of(given))
    told = [([label(m) for m in messages], previous) for messages, previous, _ in stub.calls]
    assert [(["a"], "old"), (["b"], "S1[a]"), (["c"], "S2[b]"), (["d"], "S3[c]")] == told
    assert "S4[d]" == made
    with pytest.raises(Unavailable):
        safeguard(Stub({"failIf": ["b"]}), window_tokens=8000, recent_turns=0).summary(matter_of(given))


def test_a_second_try_that_fails_leaves_the_first():
    given = {"messagesToSummarize": [user("a", 9)], "tokensBefore": 1}

    class Once(Stub):
        def __call__(self, *asked):
            self.plan = {"failAll": len(self.calls) > 0}
            return super().__call__(*asked)

    stub = Once()
    assert "S1[a]" == safeguard(stub, recent_turns=0, quality_retries=3).summary(matter_of(given))
    assert 2 == len(stub.calls)
    assert "missing_section:## Decisions" in stub.calls[1][2]


def test_files_and_rules_end_a_summary():
    given = {"messagesToSummarize": [user("a", 9)], "tokensBefore": 1}
    matter = Matter(
        given["messagesToSummarize"], [], None, 1, FileOps(("a.py",), (), ("b.py",)), "", "## Red Lines\nno"
    )
    made = safeguard(Stub(), recent_turns=0).summary(matter)
    assert (
        "S1[a]\n\n<read-files>\na.py\n</read-files>\n\n<modified-files>\nb.py\n</modified-files>"
        "\n\n<workspace-critical-rules>\n## Red Lines\nno\n</workspace-critical-rules>"
    ) == made
