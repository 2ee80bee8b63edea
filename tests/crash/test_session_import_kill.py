"""kill -9 before every write, fsync, replace and unlink of an import, and in the middle of every write.

At no time is there a piece of a transcript; the next run ends with the files of a run that was never killed.
"""

import os
import shutil

from tests.session.openclaw_database import Database, talk
from tests.support import Oc, disk_operations, run_killed


def files(oc):
    """The files with their bytes, but for temporary ones of a run that was killed; paths of the home stand as HOME."""
    folder = oc.state / "agents" / "main" / "sessions"
    home = str(oc.home).encode()
    found = {p.name: p.read_bytes().replace(home, b"HOME") for p in folder.iterdir()} if folder.exists() else {}
    return {name: data for name, data in found.items() if not name.endswith((".tmp", ".lock"))}


def test_import(tmp_path):
    database = Database(tmp_path / "claw" / "openclaw-agent.sqlite")
    database.key("agent:main:main", "s-main")
    database.transcript("s-main", talk("s-main", "a", "部署"), key="agent:main:main")
    database.transcript("s-old", talk("s-old", "b"))
    database.close()
    args = ["session", "import", database.path]
    whole = Oc(tmp_path / "whole")
    whole.home.mkdir()
    operations = disk_operations(whole, args)
    wanted = files(whole)
    assert {"s-main.jsonl", "s-old.jsonl", "sessions.json"} == set(wanted)
    assert len(operations) >= 15
    seen = set()
    for at, operation in enumerate(operations, 1):
        for half in (False, True) if operation == "write" else (False,):
            here = Oc(tmp_path / f"{at}-{half}")
            here.home.mkdir()
            assert -9 == run_killed(here, at, args, half=half)[0]
            left = files(here)
            assert all(wanted[name] == data for name, data in left.items())
            seen.add(tuple(sorted(left)))
            assert here("session", "import", database.path, "-q").status in (0, 1)
            assert wanted == files(here)
            shutil.rmtree(here.home)
    assert {(), ("s-main.jsonl",), ("s-main.jsonl", "sessions.json"), tuple(sorted(wanted))} <= seen
    assert not [name for name in os.listdir(database.path.parent) if name != "openclaw-agent.sqlite"]
