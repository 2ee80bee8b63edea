import json
import os
import sys
from pathlib import Path

import pytest

from oc.config.load import load
from oc.hooks.run import Hooks


class Place:
    """A state directory with hooks that the test writes, and what running them said."""

    def __init__(self, base: Path) -> None:
        self.home = base / "state"
        self.hooks = self.home / "hooks"
        self.workspace = self.home / "workspace"
        self.workspace.mkdir(parents=True)
        self.warnings: list[str] = []
        self.details: list[str] = []
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(base)}

    def write(self, name: str, text: str, *, mode: int = 0o755, folder: Path | None = None) -> Path:
        path = (folder or self.hooks) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def sh(self, name: str, script: str, **settings) -> Path:
        return self.write(name, f"#!/bin/sh\n{script}\n", **settings)

    def answer(self, name: str, value: object, **settings) -> Path:
        """A hook that answers a fixed value."""
        return self.write(name, f"#!/bin/sh\ncat >/dev/null\ncat <<'END'\n{json.dumps(value)}\nEND\n", **settings)

    def python(self, name: str, code: str) -> Path:
        """A hook in Python; `given` is the payload, and what it leaves in `answer` goes out."""
        head = f"#!{sys.executable}\nimport json, os, sys\ngiven = json.load(sys.stdin)\n"
        return self.write(name, f"{head}{code}\njson.dump(answer, sys.stdout)\n")

    def config(self, value: object) -> None:
        (self.home / "oc.json").write_text(json.dumps(value))

    def made(self, **settings) -> Hooks:
        config = load(str(self.home), self.environ).for_agent("main")
        known = {"environ": self.environ, "detail": self.details.append, **settings}
        return Hooks(str(self.home), str(self.workspace), config, self.warnings.append, **known)

    def fire(self, event: str, payload: dict, **settings) -> dict:
        return self.made(**settings).fire(event, payload)


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)
