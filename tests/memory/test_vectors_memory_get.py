import os

import pytest

from oc.errors import OcError
from oc.memory.read import get
from tests.support import vectors


def make(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


@vectors("memory-get")
def test_get(case, tmp_path):
    given = case.input
    workspace = tmp_path / "ws"
    workspace.mkdir()
    make(workspace, given["workspaceFiles"])
    make(workspace, given.get("siblings", {}))
    for name, target in given.get("symlinks", {}).items():
        link = workspace / name
        link.symlink_to(os.path.relpath(workspace / target, link.parent))
    path = given["relPath"].replace("<ws>", str(workspace))
    arguments = (str(workspace), given.get("extraPaths", ()), path, given["from"], given["lines"])
    if "error" in case.expected:
        with pytest.raises(OcError):
            get(*arguments)
        return
    got = get(*arguments)
    assert case.expected == {"text": got.text, "path": got.path}
