"""The calls of Pi's SessionManager, each done with oc's own functions on the same file."""

import json
import os
from pathlib import Path

from oc.base.clock import Ids, iso
from oc.base.files import replace
from oc.base.jsonl import dump_line
from oc.errors import OcError
from oc.session import transcript
from oc.session.context import build_context
from oc.session.entry import new_header
from oc.session.fork import branch_entries
from tests.session.placeholders import matches
from tests.session.test_vectors_load import context_value
from tests.support import NOW_MS, vectors

NOW = iso(NOW_MS)


def lines_of(path):
    return Path(path).read_bytes().splitlines()


class Session:
    def __init__(self, folder, start):
        self.path = os.path.join(folder, "s.jsonl")
        self.ids = Ids("seed")
        self.named = {}
        self.parent = False  # False: the leaf
        self.log = []
        if "file" in start:
            with open(self.path, "w", encoding="utf-8") as file:
                file.write(start["file"])
        else:
            transcript.create(self.path, new_header(self.ids.uuid(), NOW, "/home/demo"))

    def do(self, op):
        kind = op["do"]
        if kind == "fileExists":
            exists = os.path.exists(self.path)
            self.log.append({"fileExists": exists, "lines": len(lines_of(self.path)) if exists else 0})
            return
        try:
            getattr(self, kind)(op)
        except OcError as error:
            self.log.append({"error": str(error)})

    def add(self, kind, parent=False, **fields):
        entry = {"type": kind, "timestamp": NOW, **{k: v for k, v in fields.items() if v is not None}}
        parent = self.parent if parent is False else parent
        self.parent = False
        if parent is False:
            return transcript.append(self.path, [entry], ids=self.ids)
        return transcript.branch(self.path, parent, [entry], ids=self.ids)

    def message(self, op):
        self.add("message", message=op["message"])

    def branch(self, op):
        transcript.need_entry(self.path, op["at"])
        self.parent = op["at"]

    def label(self, op):
        transcript.need_entry(self.path, op["target"])
        self.add("label", targetId=op["target"], label=op["label"])

    def branchWithSummary(self, op):  # noqa: N802
        details, hook = op.get("details"), op.get("fromHook")
        origin = op["at"] if op["at"] is not None else "root"
        self.add("branch_summary", op["at"], fromId=origin, summary=op["summary"], details=details, fromHook=hook)

    def compaction(self, op):
        kept, tokens = op["firstKept"], op["tokensBefore"]
        self.add("compaction", summary=op["summary"], firstKeptEntryId=kept, tokensBefore=tokens, details=op["details"])

    def custom(self, op):
        self.add("custom", customType=op["customType"], data=op["data"])

    def customMessage(self, op):  # noqa: N802
        self.add("custom_message", customType=op["customType"], content=op["content"], display=op["display"])

    def info(self, op):
        self.add("session_info", name=op["name"].strip())

    def fork(self, op):
        whole = transcript.read(self.path)
        old = self.path
        entries = branch_entries(whole.entries, op["at"], ids=self.ids, timestamp=NOW)
        header = new_header(self.ids.uuid(), NOW, whole.header["cwd"], old)
        self.path = os.path.join(os.path.dirname(old), "forked.jsonl")
        replace(self.path, b"".join(map(dump_line, [header, *entries])))
        self.log.append({"forkFileExists": True, "sameAsSessionFile": True, "parentSessionIsOld": True})


@vectors("sessions-manager")
def test_manager(case, tmp_path):
    start, *ops = case.input["ops"]
    session = Session(tmp_path, start)
    for op in ops:
        session.do(op)
    whole = transcript.read(session.path)
    bound = {"$dir": str(tmp_path)}
    matches(case.expected["entries"], whole.entries, bound, "entries")
    matches(case.expected["leafId"], whole.leaf_id, bound, "leafId")
    matches(case.expected["context"], context_value(build_context(whole.entries)), bound, "context")
    lines = list(map(json.loads, lines_of(session.path)))
    expected = json.loads(json.dumps(case.expected["fileLines"]).replace("$dir/", f"{tmp_path}/"))
    matches(expected, lines, bound, "fileLines")
    # What is thrown is compared, not its wording.
    assert [set(e) for e in case.expected["log"]] == [set(e) for e in session.log]
    assert [e for e in case.expected["log"] if "error" not in e] == [e for e in session.log if "error" not in e]


def test_header_and_entries_are_on_disk_at_once(tmp_path):
    """D2: the reference writes nothing before the first assistant message."""
    path = str(tmp_path / "s.jsonl")
    assert transcript.create(path, new_header("x", NOW, "/home/demo"))
    assert 0o600 == os.stat(path).st_mode & 0o777
    assert 1 == len(lines_of(path))
    transcript.append(path, [{"type": "message", "timestamp": NOW, "message": {"role": "user", "content": "q"}}])
    assert 2 == len(lines_of(path))
    assert not transcript.create(path, new_header("y", NOW, "/home/demo"))
    assert "x" == transcript.read(path).header["id"]
