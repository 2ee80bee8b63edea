"""`oc compact`, the real command: a session by key or path gets one entry, stdin goes out with it at its end."""

import hashlib
import json
import os
import subprocess

import pytest

from oc.session.transcript import read
from tests.loopback import MODEL_ID, cut, fail, say, serving
from tests.support import OC, testdata
from tests.talk import transcript
from tests.warm import Warm, server

KEEP = ("--keep-recent-tokens", "190")  # cuts before the last turn
SPLIT = ("--keep-recent-tokens", "160")  # cuts within it
KEY = "agent:main:main"


@pytest.fixture(scope="module")
def forks():
    with server(llm=True) as made:
        yield made


@pytest.fixture
def oc(tmp_path, forks):
    return Warm(tmp_path, forks)


@pytest.fixture
def talk(oc):
    """A transcript of twelve turns, as a file."""
    path = oc.home / "talk.jsonl"
    path.write_text(transcript(12), encoding="utf-8")
    return path


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def context_of(oc, path):
    return oc("session", "show", path, "--context").jsonl()


def main_session(oc):
    """Makes the main session of twelve turns; returns its transcript and a reader of its row."""
    lines = [json.dumps(json.loads(line)["message"]) for line in transcript(12).splitlines()[1:]]
    assert 0 == oc("session", "append", "main", "--create", stdin="\n".join(lines)).status
    folder = oc.state / "agents" / "main" / "sessions"
    (path,) = folder.glob("*.jsonl")
    return path, lambda: json.loads((folder / "sessions.json").read_text())[KEY]


def test_a_dry_run_says_what_would_be_done_and_does_nothing(oc, talk):
    before = sha256(talk)
    ran = oc("compact", "--dry-run", "--json", talk, *KEEP)
    assert 0 == ran.status
    told = ran.json()
    assert {
        "session": str(talk),
        "path": str(talk),
        "entryId": None,
        "firstKeptEntryId": "0000002c",
        "isSplitTurn": False,
        "summarisedMessages": 44,
        "keptMessages": 4,
        "summariser": "oc-offline",
        "count": "estimate",
        "dryRun": True,
    } == {name: value for name, value in told.items() if not name.startswith(("tokens", "counted"))}
    assert told["tokensAfter"] < told["countedBefore"] == told["tokensBefore"]
    counted = oc("tokens", "--json", talk).json()
    assert (counted["messages"], counted["tokens"]) == (48, told["countedBefore"])
    assert before == sha256(talk)


def test_a_path_gets_one_entry(oc, talk):
    before = talk.read_bytes()
    ran = oc("compact", "--json", talk, *KEEP)
    assert 0 == ran.status
    assert "oc: warning: oc-offline summarises by rules what anthropic/claude-x wrote\n" == ran.err
    after = talk.read_bytes()
    assert after.startswith(before)
    entry = json.loads(after[len(before) :])
    told = ran.json()
    assert ["type", "id", "parentId", "timestamp", "summary", "firstKeptEntryId", "tokensBefore", "details"] == list(
        entry
    )
    assert ("compaction", "0000002f", told["entryId"]) == (entry["type"], entry["parentId"], entry["id"])
    assert (told["firstKeptEntryId"], told["tokensBefore"]) == (entry["firstKeptEntryId"], entry["tokensBefore"])
    details = entry["details"]
    assert ([f"logs/job-{n}.log" for n in (0, 1, 10)], []) == (details["readFiles"][:3], details["modifiedFiles"])
    assert "oc-offline" == details["summariser"]
    context = context_of(oc, talk)
    assert ["compactionSummary", "user"] == [one["message"]["role"] for one in context][:2]
    assert told["keptMessages"] + 1 == len(context)
    assert told["tokensAfter"] == oc("tokens", "--json", talk).json()["tokens"]


def test_a_session_by_key_gets_one_entry_and_its_row_is_counted(oc):
    path, row = main_session(oc)
    old = row()
    ran = oc("compact", "main", "--json", *KEEP, "--now", "2026-03-16T10:00:00Z")
    told = ran.json()
    assert (0, KEY, str(path)) == (ran.status, told["session"], told["path"])
    assert 1 == path.read_text().count('"type":"compaction"')
    new = row()
    assert (1, told["tokensAfter"], True) == tuple(
        new[name] for name in ("compactionCount", "totalTokens", "totalTokensFresh")
    )
    assert new["updatedAt"] > old["updatedAt"]
    assert not {"inputTokens", "outputTokens", "cacheRead", "cacheWrite"} & set(new)


def test_stdin_goes_out_with_the_entry_at_its_end(oc):
    """All other lines keep their bytes, those that are no entries too; a missing line feed is added."""
    text = transcript(12).rstrip("\n").replace('"cwd": "/srv"}', '"cwd": "/srv", "n": 1.50}\nnot json\n')
    ran = oc("compact", "-", *KEEP, stdin=text)
    assert 0 == ran.status
    assert ran.out.startswith(text + "\n")
    (entry,) = map(json.loads, ran.out[len(text) + 1 :].splitlines())
    assert ("compaction", "0000002f") == (entry["type"], entry["parentId"])
    assert "1 line is no entry" in ran.err


def test_version_1_from_stdin_goes_out_as_version_3(oc):
    ran = oc("compact", "-", *KEEP, stdin=transcript(12, version=1))
    header, *lines = ran.jsonl()
    assert 3 == header["version"]
    assert [None, *(line["id"] for line in lines[:-1])] == [line["parentId"] for line in lines]
    assert 49 == len(lines)


def test_right_after_a_compaction_there_is_nothing_to_do(oc, talk):
    assert 0 == oc("compact", talk, *KEEP).status
    before = sha256(talk)
    ran = oc("compact", talk, *KEEP)
    assert (1, "", f"oc: nothing to compact in {talk}\n") == (ran.status, ran.out, ran.err)
    assert before == sha256(talk)
    assert {"session": str(talk), "path": str(talk), "firstKeptEntryId": None} == oc("compact", talk, "--json").json()


def test_a_small_session_has_nothing_to_compact_and_passes_through(oc):
    text = transcript(2)
    ran = oc("compact", "-", stdin=text)
    assert (1, text) == (ran.status, ran.out)


def test_compacted_twice_the_context_has_one_summary(oc, talk):
    """The second summary carries the first one on, and what the first kept is in it or still there."""
    assert 0 == oc("compact", talk, *KEEP).status
    more = "\n".join(json.dumps(json.loads(line)["message"]) for line in transcript(6).splitlines()[1:])
    assert 0 == oc("session", "append", talk, stdin=more).status
    assert 0 == oc("compact", talk, *KEEP).status
    context = context_of(oc, talk)
    assert [1, 0] == [
        sum(one["message"]["role"] == "compactionSummary" for one in part) for part in (context, context[1:])
    ]
    summary = context[0]["message"]["summary"]
    assert "We decided to use pool size 20 for job-0 because it waits." in summary
    assert "We decided to use pool size 31 for job-11 because it waits." in summary
    assert 1 == summary.count("<read-files>")


def test_the_summary_of_a_file(oc, talk):
    (oc.home / "summary.md").write_text("## Goal\n你好\n")
    ran = oc("compact", talk, *KEEP, "--summary-file", "summary.md", "--json")
    assert ("file", "") == (ran.json()["summariser"], ran.err)
    assert context_of(oc, talk)[0]["message"]["summary"].startswith("## Goal\n你好\n\n<read-files>\nlogs/job-0.log\n")


@pytest.mark.parametrize(
    ("content", "status", "message"),
    [(b"", 65, "the summary is empty"), (b"\xff\xfe", 65, "not UTF-8 text"), (None, 66, "no such file")],
)
def test_a_summary_file_that_is_none(oc, talk, content, status, message):
    before = sha256(talk)
    if content is not None:
        (oc.home / "s.md").write_bytes(content)
    ran = oc("compact", talk, *KEEP, "--summary-file", "s.md")
    assert (status, "", f"oc: s.md: {message}\n") == (ran.status, ran.out, ran.err)
    assert before == sha256(talk)


def test_a_summary_that_saves_nothing_is_refused_unless_forced(oc, talk):
    before = sha256(talk)
    (oc.home / "long.md").write_text("words " * 20_000)
    args = ("compact", talk, *KEEP, "--summary-file", "long.md")
    ran = oc(*args)
    assert (69, "") == (ran.status, ran.out)
    assert "oc: compaction refused: the context would grow from " in ran.err
    assert before == sha256(talk)
    dry = oc(*args, "--dry-run")
    assert (0, True) == (dry.status, "would be refused" in dry.err)
    assert 0 == oc(*args, "--force").status


def test_the_report_tells_what_was_summarised(oc, talk):
    oc("compact", talk, *SPLIT, "--report", "why.jsonl", "--dry-run")
    *rows, cut_row, summary = [json.loads(line) for line in (oc.home / "why.jsonl").read_text().splitlines()]
    assert [f"{n:08x}" for n in range(47)] == [row["entryId"] for row in rows]
    assert {"history": 44, "splitTurn": 3} == {
        rule: sum(row["rule"] == rule for row in rows) for rule in ("history", "splitTurn")
    }
    assert ("cut", "0000002f") == (cut_row["action"], cut_row["entryId"])
    assert ("summary", "estimate", "oc-offline") == (summary["action"], summary["count"], summary["summariser"])


def test_a_model_summarises(oc, talk):
    """It is shown the conversation and asked for the sections; its text is the summary, with the file lists."""
    with serving(say("## Goal\nfast jobs")) as loopback:
        loopback.configure(oc.home / "llm")
        ran = oc("compact", talk, *KEEP, "-m", MODEL_ID, "--instructions", "the pool sizes", "--json")
        assert (0, "") == (ran.status, ran.err)
        (request,) = loopback.requests
    assert MODEL_ID == ran.json()["summariser"]
    system, user = request["messages"]
    assert "summary" in system["content"]
    assert user["content"].startswith(
        "<conversation>\n[User]: Turn 0: why is job-0 slow?\n\n[Assistant tool calls]: read("
    )
    assert user["content"].endswith("\n\nAdditional focus: the pool sizes")
    assert context_of(oc, talk)[0]["message"]["summary"].startswith("## Goal\nfast jobs\n\n<read-files>")


def test_a_split_turn_is_asked_for_apart(oc, talk):
    with serving(say("HISTORY"), say("PREFIX")) as loopback:
        loopback.configure(oc.home / "llm")
        assert 0 == oc("compact", talk, *SPLIT, "-m", MODEL_ID).status
        assert 2 == len(loopback.requests)
    summary = context_of(oc, talk)[0]["message"]["summary"]
    assert summary.startswith("HISTORY\n\n---\n\n**Turn Context (split turn):**\n\nPREFIX\n\n<read-files>")


@pytest.mark.parametrize(
    "step",
    [
        fail(401, "bad key"),
        fail(400, "prompt is too long", "context_length_exceeded"),
        cut("half a summ"),
        say("cut at the limit", finish="length"),
        say("filtered", finish="content_filter"),
        say("  \n"),
    ],
    ids=["401", "overflow", "cut", "length", "filter", "blank"],
)
def test_a_summariser_that_fails_leaves_every_byte(oc, talk, step):
    """69 whatever the fault, in place and as a filter."""
    before = sha256(talk)
    with serving(step) as loopback:
        loopback.configure(oc.home / "llm")
        ran = oc("compact", talk, *KEEP, "-m", MODEL_ID)
        assert (69, "") == (ran.status, ran.out)
        assert ran.err.startswith("oc: ")
        ran = oc("compact", "-", *KEEP, "-m", MODEL_ID, stdin=talk.read_bytes())
        assert (69, "") == (ran.status, ran.out)
    assert before == sha256(talk)


def test_an_unknown_model_is_69_before_anything_is_sent(oc, talk):
    ran = oc("compact", talk, *KEEP, "-m", "no-such-model")
    assert (69, "") == (ran.status, ran.out)
    assert "llm has no model 'no-such-model'" in ran.err


@pytest.mark.parametrize(
    ("args", "stdin", "status", "message"),
    [
        (("gone.jsonl",), "", 66, "oc: gone.jsonl: no such file"),
        (("nobody",), "", 66, "oc: no session 'nobody'"),
        (("-",), "", 65, "oc: stdin: empty, no session header"),
        (("-",), '{"type":"message","id":"a"}\n', 65, "oc: stdin:1: no session header"),
        (("-", "--json"), "x", 2, "oc: a transcript on stdin goes out as a transcript"),
        (("-", "--count", "words"), transcript(1), 2, "oc: no counter 'words'"),
    ],
)
def test_errors(oc, args, stdin, status, message):
    ran = oc("compact", *args, stdin=stdin)
    assert status == ran.status
    assert message in ran.err
    assert ran.out == "" or "--json" in args


def test_a_folder_that_cannot_be_written_to_is_74(oc, talk):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    os.chmod(oc.home, 0o500)
    try:
        ran = oc("compact", talk, *KEEP)
    finally:
        os.chmod(oc.home, 0o700)
    assert (74, "") == (ran.status, ran.out)


def test_a_full_disk_is_74(oc):
    """Neither a traceback nor status 0 when stdout can take nothing."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*OC, "compact", "-", *KEEP],
            input=transcript(12).encode(),
            stdout=full,
            stderr=subprocess.PIPE,
            env=oc.environ,
            check=False,
        )
    assert 74 == done.returncode
    assert b"no space left on device" in done.stderr


def test_a_real_session_of_version_1(oc):
    """In place it becomes version 3 with one entry more, the original beside it; the source is as it was."""
    source = testdata("transcripts", "pi-v1-large.jsonl")
    copy = oc.home / "copy.jsonl"
    copy.write_bytes(source.read_bytes())
    told = oc("compact", "--dry-run", "--json", source).json()
    assert (733, 181, 177_657, 124_602) == tuple(
        told[name] for name in ("summarisedMessages", "keptMessages", "tokensBefore", "countedBefore")
    )
    ran = oc("compact", copy)
    assert 0 == ran.status
    (backup,) = oc.home.glob("copy.jsonl.v1-*.bak")
    assert source.read_bytes() == backup.read_bytes()
    entries = read(str(copy)).entries
    assert (1019, 1) == (len(entries), sum(entry["type"] == "compaction" for entry in entries))
    piped = oc("compact", "-", stdin=source.read_bytes())
    (oc.home / "g.jsonl").write_bytes(piped.raw)
    context = context_of(oc, "g.jsonl")
    assert ["compactionSummary"] == [m["message"]["role"] for m in context if "summary" in m["message"]]
    ids = [entry["id"] for entry in entries if entry["type"] == "message"]
    kept = ids[ids.index(context[1]["id"]) :]
    assert kept == [one["id"] for one in context[1:]]
    assert (181, told["firstKeptEntryId"]) == (
        len(kept),
        next(e["firstKeptEntryId"] for e in entries if e["type"] == "compaction"),
    )


@pytest.mark.parametrize("form", ["--json", "--jsonl"])
def test_nothing_to_compact_is_a_document_in_every_form(oc, talk, form):
    assert 0 == oc("compact", talk, *KEEP).status
    ran = oc(form, "compact", talk, *KEEP)
    told = {"session": str(talk), "path": str(talk), "firstKeptEntryId": None}
    assert (1, told) == (ran.status, json.loads(ran.out))
