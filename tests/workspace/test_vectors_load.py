"""The reference's bootstrap files: tests/vectors/context-bootstrap-files.json and -extra.json."""

import os

from oc.workspace.load import load_extra
from oc.workspace.names import REFERENCE_FIVE, Rules
from oc.workspace.project import Run, project_context
from tests.forms import make_workspace
from tests.support import vectors

REFERENCE = Rules(memory_in_groups=True, subagent_files=REFERENCE_FIVE)


@vectors("context-bootstrap-files")
def test_files(case, tmp_path):
    workspace = str(make_workspace(tmp_path, case.input))
    light = case.input.get("contextMode") == "lightweight"
    run = Run(case.input.get("sessionKey"), kind=case.input.get("runKind", "default"), light=light)
    context = project_context(workspace, REFERENCE, run)
    actual = []
    for file in context.files:
        row = {"name": file.name, "path": os.path.relpath(file.path, workspace), "missing": file.content is None}
        actual.append(row if file.content is None else {**row, "content": file.content})
    assert case.expected == actual


@vectors("context-bootstrap-extra")
def test_extra(case, tmp_path):
    workspace = str(make_workspace(tmp_path, case.input))
    files, diagnostics = load_extra(workspace, case.input["patterns"])
    actual = {
        "files": [{"name": f.name, "path": os.path.relpath(f.path, workspace), "content": f.content} for f in files],
        "diagnostics": [{"path": d.path, "reason": d.reason} for d in diagnostics],
    }
    assert case.expected == actual
