"""The reference's budgets: tests/vectors/context-bootstrap-truncate.json."""

from oc.workspace.load import File
from oc.workspace.trim import trim
from tests.forms import expand, same
from tests.support import vectors


@vectors("context-bootstrap-truncate")
def test_trim(case):
    given = expand(case.input)
    files = [File(f["name"], f["path"], f.get("content")) for f in given["files"]]
    limits = {"max_chars": given.get("maxChars"), "total_max_chars": given.get("totalMaxChars")}
    injected, warnings = trim(files, **{k: v for k, v in limits.items() if v is not None})
    actual = {"files": [{"path": i.path, "content": i.content} for i in injected], "warnings": warnings}
    assert same(case.expected, actual)
