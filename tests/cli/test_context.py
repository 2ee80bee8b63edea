"""`oc context`: the request as a document, as a table, at an entry, as changes; nothing written, no model, no llm."""

import json
import os
import subprocess
import sys

import pytest

from oc.base.text import columns
from oc.base.tokens import counter
from oc.cli.registry import COMMANDS
from oc.message.size import total_tokens
from tests.support import testdata

KEY = "agent:main:main"


def write(oc, name, text):
    oc.workspace.mkdir(parents=True, exist_ok=True)
    (oc.workspace / name).write_text(text)


def configure(oc, **tree):
    oc.state.mkdir(exist_ok=True)
    (oc.state / "oc.json").write_text(json.dumps(tree))


def files(oc):
    return sorted((str(p), p.stat().st_mtime_ns) for p in oc.home.rglob("*"))


def say(role, text, **more):
    return {"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1773651600000, **more}


def answer(text, *calls, **more):
    content = [{"type": "text", "text": text}]
    content += [{"type": "toolCall", "id": c, "name": "read", "arguments": {"path": "a"}} for c in calls]
    stop = "toolUse" if calls else "stop"
    spoken = {"api": "openai-completions", "provider": "openai", "model": "gpt-5", "stopReason": stop, **more}
    return {"role": "assistant", "content": content, "timestamp": 1773651600000, **spoken}


def result(call, text):
    return say("toolResult", text, toolCallId=call, toolName="read", isError=False)


def transcript(oc, *entries, name="t.jsonl"):
    """Writes a transcript whose entries are a chain; a bare message becomes an entry `e<n>`."""
    rows = [{"type": "session", "version": 3, "id": "t", "timestamp": "2026-03-16T08:00:00.000Z", "cwd": "/"}]
    parent = None
    for number, given in enumerate(entries, 1):
        entry = given if "type" in given else {"type": "message", "message": given}
        rows.append({"id": f"e{number}", "parentId": parent, "timestamp": "2026-03-16T09:00:00.000Z", **entry})
        parent = rows[-1]["id"]
    path = oc.home / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_help_of_the_table():
    assert "Print the request that a prompt would send, without sending it" == COMMANDS["context"].help


def test_in_an_empty_home_it_shows_a_new_session_and_makes_nothing(oc):
    ran = oc("context", "hello")
    assert (0, f"oc: {KEY} would be a new session\n") == (ran.status, ran.err)
    shown = ran.json()
    assert "hello" == shown["prompt"]
    assert [say("user", "hello")] == shown["messages"]
    assert [None] == shown["entryIds"]
    assert {"name": "oc-offline", "origin": "default"}.items() <= shown["model"].items()
    assert {"tokens": 200000, "origin": "default"} == shown["window"]
    assert ["memory_search", "memory_get", "memory_add", "read"] == [tool["name"] for tool in shown["tools"]]
    assert {"key": KEY, "sessionId": None, "path": None, "isNew": True}.items() <= shown["session"].items()
    assert [] == files(oc)


def test_looking_at_a_session_changes_nothing(oc):
    oc("prompt", "hello")
    before = files(oc)
    for args in (["hi"], ["--breakdown"], ["/new again"], ["-s", "other"], ["--run", "cron"]):
        assert 0 == oc("context", *args).status
    assert before == files(oc)


def test_it_is_what_the_prompt_sends_next(oc):
    """The built-in model sees the same messages: those of the transcript and the prompt."""
    write(oc, "AGENTS.md", "# Rules\n\nBe short.\n")
    oc("prompt", "one")
    shown = oc("context", "two").json()
    oc("prompt", "two")
    stored = oc("session", "show", "main", "--messages").jsonl()
    texts = [message["content"][0]["text"] for message in stored][:3]
    assert texts == [message["content"][0]["text"] for message in shown["messages"]]
    assert "Be short." in shown["system"]
    assert not shown["session"]["isNew"]


def test_text_and_stdin_are_joined_as_by_prompt_and_without_text_stdin_is_left_alone(oc):
    assert "a\n\nb" == oc("context", "a", stdin="b\n").json()["prompt"]
    assert "b" == oc("context", "-", stdin="b").json()["prompt"]
    assert oc("context", stdin="b").json()["prompt"] is None


def test_a_stale_session_is_shown_as_the_new_one_that_prompt_would_start(oc):
    oc("prompt", "one")
    later = {"OC_NOW": str(1773651600000 + 2 * 86_400_000)}
    shown = oc("context", "two", **later)
    assert f"oc: {KEY} would be a new session\n" == shown.err
    assert ["two"] == [message["content"][0]["text"] for message in shown.json()["messages"]]
    first = oc("session", "show", "main", "--entries").jsonl()[0]["id"]
    assert ["one"] == [m["content"][0]["text"] for m in oc("context", "--at", first, **later).json()["messages"]]


def test_a_trigger_shows_the_new_session(oc):
    oc("prompt", "one")
    assert ["hi"] == [m["content"][0]["text"] for m in oc("context", "/new hi").json()["messages"]]
    assert 3 == len(oc("context", "--literal", "/new hi").json()["messages"])


def test_events_that_wait_are_shown_and_keep_waiting(oc):
    oc("prompt", "one")
    queue = oc.state / "agents" / "main" / "sessions" / "oc-events.jsonl"
    line = json.dumps({"id": "ev1", "sessionKey": KEY, "kind": "note", "text": "the build is red"}) + "\n"
    queue.write_text(line)
    texts = [m["content"][0]["text"] for m in oc("context", "two").json()["messages"]]
    assert ["the build is red", "two"] == texts[-2:]
    assert line == queue.read_text()


@pytest.mark.parametrize(
    ("args", "status", "line"),
    [
        (["-s", "nope.jsonl"], 66, "oc: nope.jsonl: no such file\n"),
        (["-s", "a key"], 2, "oc: a new session key cannot hold white space"),
        (["--at", "nope"], 66, "oc: no session 'main'"),
        (["--diff", "x", "--at", "y"], 2, "oc: --diff goes with neither"),
        (["--count", "words"], 2, "oc: no counter 'words'"),
        (["-m", "default"], 2, "oc: which model is llm's default is known to llm alone"),
        (["--tsv"], 2, "oc: a request has no --tsv"),
        (["--run", "no"], 2, "oc: "),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_refused(oc, args, status, line):
    ran = oc("context", *args)
    assert (status, "") == (ran.status, ran.out)
    assert ran.err.startswith(line)


def test_an_entry_that_is_not_there(oc):
    path = transcript(oc, say("user", "hi"))
    ran = oc("context", "-s", path, "--at", "nope")
    assert (66, "", f"oc: {path}: no entry nope\n") == (ran.status, ran.out, ran.err)


def test_a_transcript_on_stdin(oc):
    data = transcript(oc, say("user", "hi"), answer("ho")).read_text()
    shown = oc("context", "-s", "-", "next", stdin=data).json()
    assert ["e1", "e2", None] == shown["entryIds"]
    assert "next" == shown["prompt"]


def test_the_model_and_who_chose_it(oc):
    configure(oc, agents={"defaults": {"model": "anthropic/claude-x"}})
    path = transcript(oc, say("user", "hi"), answer("ho"))
    model = oc("context", "-s", path).json()["model"]
    assert {"name": "anthropic/claude-x", "origin": "oc.json", "api": "anthropic-messages"}.items() <= model.items()
    model = oc("context", "-s", path, "-m", "gpt-5").json()["model"]
    expected = {"origin": "flag", "api": "openai-completions", "provider": "openai", "speakerOrigin": "session"}
    assert expected.items() <= model.items()
    ran = oc("-v", "context", "-s", path, "--breakdown")
    assert "model anthropic/claude-x (oc.json), window 200000 tokens (default)" in ran.err
    assert "Model    anthropic/claude-x (oc.json)" in ran.out.splitlines()


def test_only_files_of_the_kind_of_run_and_session(oc):
    write(oc, "AGENTS.md", "agents-marker")
    write(oc, "MEMORY.md", "memory-marker")
    write(oc, "HEARTBEAT.md", "heartbeat-marker")
    configure(oc, agents={"defaults": {"heartbeat": {"lightContext": True}}})
    system = oc("context").json()["system"]
    assert all(word in system for word in ("agents-marker", "memory-marker"))
    assert "memory-marker" not in oc("context", "-s", "agent:main:telegram:group:1").json()["system"]
    light = oc("context", "--run", "heartbeat").json()["system"]
    assert ("heartbeat-marker" in light, "agents-marker" in light) == (True, False)


SEVERAL = (
    say("user", "read it"),
    answer("", "c1"),
    result("c1", "word " * 50),
    answer("done"),
    say("user", "你好，数据库在哪里？"),
    answer("不知道"),
)


@pytest.mark.parametrize("count", ["estimate", "chars4", "tiktoken"])
def test_the_parts_add_up_to_the_request(oc, count):
    write(oc, "AGENTS.md", "# Rules\n\n\n\nBe short. 说中文。\n\n  indented\n")
    write(oc, "TOOLS.md", "\n\nTools  \n\n")
    path = transcript(oc, *SEVERAL)
    args = ["context", "-s", path, "--count", count, "and now?"]
    shown, table = oc(*args).json(), oc(*args, "--breakdown", "--json").json()
    measure = counter(count)
    tools = sum(
        measure.tokens([t["name"], t["description"], json.dumps(t["parameters"], separators=(",", ":"))])
        for t in shown["tools"]
    )
    expected = measure.tokens([shown["system"]]) + tools + total_tokens(shown["messages"], measure)
    parts = table["parts"]
    assert expected == shown["tokens"] == sum(part["tokens"] for part in parts if part["group"] != "free")
    assert shown["window"]["tokens"] == sum(part["tokens"] for part in parts)
    names = [part["name"] for part in parts]
    assert {"AGENTS.md", "TOOLS.md", "Safety", "memory_search", "user", "result of read", "prompt", "free"} <= {*names}
    counts = {part["name"]: part["messages"] for part in parts if part["group"] == "history"}
    assert {"user": 2, "assistant": 3, "result of read": 1} == counts


def test_summary_and_prompt_are_told_apart_where_a_provider_has_turns_merged(oc):
    fold = {"type": "compaction", "summary": "They spoke. " * 9, "firstKeptEntryId": "e3", "tokensBefore": 9}
    path = transcript(oc, say("user", "old"), answer("older"), fold, say("user", "new " * 10))
    args = ["context", "-s", path, "-m", "anthropic/claude-x", "and now?", "--breakdown", "--json"]
    parts = {part["name"]: part for part in oc(*args).json()["parts"]}
    assert parts["summary"]["tokens"] > 20
    # In one message, so that only their sum is rounded up.
    assert 12 == parts["user"]["tokens"] + parts["prompt"]["tokens"]
    assert parts["user"]["tokens"] in (9, 10)


def test_the_table_for_people_is_aligned_in_80_columns(oc):
    write(oc, "AGENTS.md", "x " * 3000)
    configure(
        oc,
        hooks={
            "internal": {
                "entries": {"bootstrap-extra-files": {"paths": ["数据库与非常长的文件夹名称用于测试对齐/*.md"]}}
            }
        },
    )
    folder = oc.workspace / "数据库与非常长的文件夹名称用于测试对齐"
    folder.mkdir()
    (folder / "AGENTS.md").write_text("y " * 3000)
    path = transcript(oc, *SEVERAL)
    ran = oc("context", "-s", path, "--window", "20000", "--breakdown", "and now?")
    assert 0 == ran.status
    lines = ran.out.splitlines()
    table = lines[lines.index("") + 1 :]
    assert max(map(columns, table)) <= 80
    ends = {columns(line[: line.index("%") + 1]) for line in table}
    assert 1 == len(ends)
    assert "\x1b" not in ran.out
    sizes = {
        line[:2].strip() + line.split("  ")[0]: int(line.split("%")[0].split()[-2]) for line in table if line[0] != " "
    }
    assert sizes["ReRequest"] + sizes["FrFree"] == sizes["WiWindow"] == 20000
    assert any("数据库" in line for line in table)


def test_a_request_that_is_too_large_says_by_how_much(oc):
    path = transcript(oc, say("user", "word " * 4000))
    ran = oc("context", "-s", path, "--window", "3000", "--breakdown")
    assert any(line.startswith("Over the window") for line in ran.out.splitlines())
    assert "oc: a compaction is due: " in ran.err
    lines = oc("context", "-s", path, "--window", "9", "--breakdown").out.splitlines()
    assert [">999%"] * 2 == [line.split()[-2] for line in lines if line.startswith(("Request", "Over"))]
    assert oc("context", "-s", path, "--window", "3000").json()["compaction"]["due"]


def test_every_entry_of_the_file_is_in_the_ledger(oc):
    write(oc, "AGENTS.md", "# Rules\n" + "x" * 30_000)
    configure(oc, channels={"telegram": {"historyLimit": 1}})
    path = transcript(
        oc,
        say("user", "old"),
        answer("half", "c9", stopReason="aborted"),
        say("user", "read it"),
        {"type": "custom", "customType": "x", "data": {}},
        answer("", "c1"),
        result("c1", "word " * 5000),
        answer("", "c2"),
        say("user", "next"),
    )
    report = oc.home / "why.jsonl"
    ran = oc("-v", "context", "-s", path, "--window", "8000", "--report", report)
    rows = [json.loads(line) for line in report.read_text().splitlines()]
    told = {(row["stage"], row["action"], row.get("rule"), row.get("entryId")) for row in rows}
    assert ("model", "choose", "default", None) in told
    assert ("workspace", "truncated") in {
        (row["stage"], row["action"]) for row in rows if row.get("file") == "AGENTS.md"
    }
    assert ("context", "pass-over", "custom", "e4") in told
    assert ("guard", "truncate", "singleShare", "e6") in told
    assert ("prune", "gate", "mode", None) in told
    assert {"e2"} <= {row.get("entryId") for row in rows if row["stage"] == "aborted"}
    assert ("pairs", "add") in {(row["stage"], row["action"]) for row in rows if row.get("entryId") == "e7"}
    shown = [row.get("entryId") for row in rows if row["stage"] == "request" and row["action"] == "show"]
    assert shown == ran.json()["entryIds"]
    assert {f"e{n}" for n in range(1, 9)} == {row["entryId"] for row in rows if "entryId" in row}
    last = rows[-1]
    assert ("request", "summary", 8000, "--window") == (
        last["stage"],
        last["action"],
        last["windowTokens"],
        last["windowOrigin"],
    )
    assert ran.json()["tokens"] == last["tokensAfter"]
    assert "oc: guard: truncate toolResult read " in ran.err
    stages = tuple(f"oc: {row['stage']}: " for row in rows)
    assert len(rows) - 1 == sum(1 for line in ran.err.splitlines() if line.startswith(stages))


FOLD = {"type": "compaction", "summary": "They spoke.", "firstKeptEntryId": "e3", "tokensBefore": 9}


def test_at_an_entry_it_is_the_request_of_then(oc):
    path = transcript(oc, say("user", "one"), answer("1"), say("user", "two"), answer("2"), FOLD, say("user", "three"))
    now = oc("context", "-s", path).json()
    assert ["e5", "e3", "e4", "e6"] == now["entryIds"]
    then = oc("context", "-s", path, "--at", "e3").json()
    assert ["e1", "e2", "e3"] == then["entryIds"]
    assert ("two", "e3") == (then["prompt"], then["session"]["leafId"])


def test_what_has_changed_since(oc):
    path = transcript(oc, say("user", "one"), answer("1"), say("user", "two"), answer("2"), FOLD, say("user", "three"))
    ran = oc("context", "-s", path, "--diff", "e4", "--json")
    changes = {row["entryId"]: (row["change"], row["cause"]) for row in ran.json()["changes"]}
    assert {
        "e1": ("gone", "compaction"),
        "e2": ("gone", "compaction"),
        "e5": ("added", None),
        "e6": ("added", None),
    } == changes
    assert 0 == ran.status
    assert "gone\te1\tuser\t\t1\t\tcompaction" in oc("context", "-s", path, "--diff", "e4").out.splitlines()
    same = oc("context", "-s", path, "--diff", "e6")
    assert (1, "") == (same.status, same.out)


def test_what_a_compaction_hid_is_never_read(oc):
    path = transcript(oc, say("user", "one"), answer("1"), say("user", "two"), FOLD, say("user", "three"))
    lines = path.read_bytes().split(b"\n")
    lines[2] = b"\xff" * len(lines[2])  # would be told of as a line that is no entry
    path.write_bytes(b"\n".join(lines))
    ran = oc("context", "-s", path)
    assert (0, "", ["e4", "e3", "e5"]) == (ran.status, ran.err, ran.json()["entryIds"])


def test_it_never_imports_llm_nor_calls_a_model(oc):
    path = transcript(oc, *SEVERAL)
    script = (
        "import sys; from oc.cli.run import run; run(sys.argv[1:]); "
        "names = ('llm', 'oc.agent.model', 'oc.agent.loop', 'socket', 'pathlib', 'sqlite3'); "
        "print([m for m in names if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "context", "-s", path, "-m", "anthropic/claude-x", "hi"],
        env={**oc.environ, "PYTHONPATH": os.getcwd()},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "[]" == done.stdout.splitlines()[-1]


def test_a_real_session_adds_up(oc):
    path = testdata("transcripts", "pi-v1-large.jsonl")
    for model in ("oc-offline", "anthropic/claude-x", "gemini/gemini-x", "mistral/x"):
        shown = oc("context", "-s", path, "-m", model, "next?", "--breakdown", "--json").json()
        assert shown["tokens"] == sum(part["tokens"] for part in shown["parts"] if part["group"] != "free")
