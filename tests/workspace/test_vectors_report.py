"""The reference's budget analysis: tests/vectors/context-bootstrap-budget.json.

Its last warning line is a sentence, ours is worded differently: both must name the two keys to raise.
"""

from oc.workspace.load import File
from oc.workspace.report import Analysis, FileStat, analyse, signature, truncation_warning
from oc.workspace.trim import trim
from tests.forms import expand, same
from tests.support import vectors

KEYS = ("agents.defaults.bootstrapMaxChars", "agents.defaults.bootstrapTotalMaxChars")


def stat_row(file: FileStat):
    return {
        "name": file.name,
        "path": file.path,
        "missing": file.missing,
        "rawChars": file.raw_chars,
        "injectedChars": file.injected_chars,
        "truncated": file.truncated,
        "nearLimit": file.near_limit,
        "causes": list(file.causes),
    }


def analysis_row(analysis: Analysis):
    return {
        "files": [stat_row(f) for f in analysis.files],
        "truncatedFiles": [stat_row(f) for f in analysis.truncated_files],
        "nearLimitFiles": [stat_row(f) for f in analysis.near_limit_files],
        "totalNearLimit": analysis.total_near_limit,
        "hasTruncation": bool(analysis.truncated_files),
        "totals": {
            "rawChars": analysis.raw_chars,
            "injectedChars": analysis.injected_chars,
            "truncatedChars": analysis.truncated_chars,
            "bootstrapMaxChars": analysis.max_chars,
            "bootstrapTotalMaxChars": analysis.total_max_chars,
            "nearLimitRatio": 0.85,
        },
    }


def facts(lines):
    """Returns the lines, the advice reduced to the keys that it names."""
    return [tuple(key for key in KEYS if key in line) or line for line in lines]


@vectors("context-bootstrap-budget")
def test_budget(case):
    given = expand(case.input)
    files = [File(f["name"], f["path"], None if f["missing"] else f["content"]) for f in given["files"]]
    limits = (given["maxChars"], given["totalMaxChars"])
    analysis = analyse(files, trim(files, *limits)[0], *limits)
    seen = given.get("seen", [])
    if seen == "$self":
        seen = [signature(analysis)]
    notice = truncation_warning(analysis, given.get("mode", "once"), seen, given.get("previous"))
    warning = {"warningShown": notice.shown, "lines": facts(notice.lines), "warningSignaturesSeen": list(notice.seen)}
    if notice.signature is not None:
        warning["signature"] = notice.signature
    expected = {**case.expected["warning"], "lines": facts(case.expected["warning"]["lines"])}
    assert same(case.expected["analysis"], analysis_row(analysis))
    assert expected == warning
