"""`oc prompt` with the built-in model: input, sessions, locks; no llm is loaded."""

import json
import os
import pty
import subprocess
import sys

import pytest

from oc.base.files import lock
from oc.cli.registry import COMMANDS
from tests.support import OC

KEY = "agent:main:main"


def sessions(oc):
    return oc.state / "agents" / "main" / "sessions"


def rows(oc):
    return json.loads((sessions(oc) / "sessions.json").read_text())


def said(oc, path=None):
    """The user messages of the one transcript, as text."""
    (found,) = [path] if path else sessions(oc).glob("*.jsonl")
    entries = [json.loads(line) for line in found.read_text().splitlines()[1:]]
    return [e["message"]["content"][0]["text"] for e in entries if e.get("message", {}).get("role") == "user"]


def test_help_of_the_table():
    assert "Run one turn of a session with a model" == COMMANDS["prompt"].help


@pytest.mark.parametrize(
    ("args", "stdin", "heard"),
    [
        (["hello"], "", "hello"),
        ([], "from a pipe\n", "from a pipe"),
        (["-"], "from a pipe", "from a pipe"),
        (["what changed?"], "commit 1\ncommit 2\n", "what changed?\n\ncommit 1\ncommit 2"),
        (["--", "-x"], "", "-x"),
        (["你好"], "世界", "你好\n\n世界"),
    ],
)
def test_text_and_stdin_are_joined(oc, args, stdin, heard):
    ran = oc("prompt", "--no-tools", *args, stdin=stdin)
    assert (0, "") == (ran.status, ran.err)
    assert [heard] == said(oc)


@pytest.mark.parametrize(("args", "stdin"), [([], ""), ([" "], "\n"), ([""], "")])
def test_nothing_to_say_is_usage_and_makes_nothing(oc, args, stdin):
    ran = oc("prompt", *args, stdin=stdin)
    assert (2, "oc: nothing to say: give TEXT, or text on stdin\n") == (ran.status, ran.err)
    assert not oc.state.exists()


def on_terminal(oc, *args):
    """Runs the command with a terminal for all three; returns status and what was shown."""
    master, slave = pty.openpty()
    process = subprocess.Popen([*OC, *args], env=oc.environ, cwd=oc.home, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    shown = b""
    try:
        while data := os.read(master, 4096):
            shown += data
    except OSError:  # so Linux tells that nobody has the other end any more
        pass
    os.close(master)
    return process.wait(20), shown.decode().replace("\r\n", "\n")


def test_a_terminal_as_stdin_is_not_waited_for(oc):
    assert 0 == on_terminal(oc, "prompt", "hi")[0]
    assert (2, "oc: nothing to say: give TEXT, or text on stdin\n") == on_terminal(oc, "prompt")


def test_the_built_in_model_never_loads_llm(oc):
    script = (
        "import sys; from oc.cli.run import run; status = run(['prompt', 'hello']); "
        "print([m for m in ('llm', 'sqlite_utils', 'tiktoken', 'asyncio', 'pathlib', 'httpx') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=oc.environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "[]" == done.stdout.splitlines()[-1]


def test_a_session_goes_on_and_another_key_is_another_session(oc):
    oc("prompt", "one")
    oc("prompt", "two")
    oc("prompt", "-s", "work", "three")
    assert {KEY, "agent:main:work"} == set(rows(oc))
    path = sessions(oc) / f"{rows(oc)[KEY]['sessionId']}.jsonl"
    assert ["one", "two"] == said(oc, path)


def test_the_session_of_the_environment(oc):
    shown = oc("prompt", "--json", "hi", OC_SESSION="night").json()
    assert "agent:main:night" == shown["session"]["key"]


def test_a_key_of_another_agent_counts_for_everything(oc):
    shown = oc("prompt", "--json", "-s", "agent:ops:main", "hi").json()
    assert str(oc.state / "agents" / "ops" / "sessions") == os.path.dirname(shown["session"]["path"])


def test_by_id_and_by_path(oc):
    first = oc("prompt", "--json", "one").json()["session"]
    by_id = oc("prompt", "--json", "-s", first["sessionId"], "two").json()["session"]
    by_path = oc("prompt", "--json", "-s", first["path"], "three").json()["session"]
    assert (first["path"], KEY) == (by_id["path"], by_id["key"])
    assert (first["path"], None) == (by_path["path"], by_path["key"])
    assert ["one", "two", "three"] == said(oc)


@pytest.mark.parametrize(
    ("name", "status", "line"),
    [
        ("-", 2, "oc: a session to write to is expected, not -\n"),
        ("a key", 2, "oc: a new session key cannot hold white space"),
        ("nope.jsonl", 66, "oc: nope.jsonl: no such file\n"),
    ],
)
def test_names_that_are_no_session(oc, name, status, line):
    ran = oc("prompt", "-s", name, "hi")
    assert (status, "") == (ran.status, ran.out)
    assert ran.err.startswith(line)


def test_a_broken_transcript_is_bad_input_and_not_touched(oc):
    path = oc.home / "bad.jsonl"
    path.write_text('{"type":"message"}\n')
    ran = oc("prompt", "-s", path, "hi")
    assert (65, '{"type":"message"}\n') == (ran.status, path.read_text())
    assert f"oc: {path}:1: no session header" in ran.err


@pytest.mark.parametrize("text", ["/new", "/RESET", " /new "])
def test_a_trigger_alone_starts_anew_and_asks_no_model(oc, text):
    oc("prompt", "one")
    before = rows(oc)[KEY]["sessionId"]
    ran = oc("prompt", text, OC_SEED="2")
    after = rows(oc)[KEY]["sessionId"]
    assert (0, "", f"oc: a new session for {KEY}: {after}\n") == (ran.status, ran.out, ran.err)
    assert before != after
    assert 1 == len((sessions(oc) / f"{after}.jsonl").read_text().splitlines())
    assert 1 == len(list(sessions(oc).glob(f"{before}.jsonl.reset.*")))


def test_text_after_a_trigger_opens_the_new_session(oc):
    oc("prompt", "one")
    shown = oc("prompt", "--json", "/new   hello again", OC_SEED="2").json()
    assert shown["session"]["isNew"]
    assert ["hello again"] == said(oc)


def test_what_only_looks_like_a_trigger(oc):
    oc("prompt", "one")
    oc("prompt", "/newer")
    oc("prompt", "--literal", "/new")
    assert ["one", "/newer", "/new"] == said(oc)


def test_triggers_of_the_configuration(oc):
    oc.state.mkdir()
    (oc.state / "oc.json").write_text('{"session": {"resetTriggers": ["/fresh"]}}')
    oc("prompt", "/new")
    assert ["/new"] == said(oc)
    oc("prompt", "/fresh", OC_SEED="2")
    assert [] == said(oc)


def test_a_trigger_needs_a_key(oc):
    path = oc("prompt", "--json", "one").json()["session"]["path"]
    ran = oc("prompt", "-s", path, "/new")
    expected = "oc: only a session named by its key can be started anew\nhint: --literal takes TEXT as it is\n"
    assert (2, expected) == (ran.status, ran.err)


def test_a_stale_session_is_rolled_over(oc):
    oc("prompt", "one")
    shown = oc("prompt", "--json", "two", OC_NOW=str(1773651600000 + 2 * 86_400_000), OC_SEED="2").json()
    assert shown["session"]["isNew"]
    assert ["two"] == said(oc)


def test_a_locked_session_is_busy_and_not_touched(oc):
    path = oc("prompt", "--json", "one").json()["session"]["path"]
    with lock(path):
        ran = oc("prompt", "--lock-timeout", "0", "two")
    assert (75, ["one"]) == (ran.status, said(oc))
    assert f"oc: {path}.lock: locked by process {os.getpid()}\n" in ran.err


def test_waiting_events_are_told_and_leave_the_queue(oc):
    oc("prompt", "one")
    queue = sessions(oc) / "oc-events.jsonl"
    mine = {"id": "e1", "timestamp": "2026-03-16T09:00:00.000Z", "sessionKey": KEY, "kind": "note", "text": "it rains"}
    other = {**mine, "id": "e2", "sessionKey": "agent:main:other"}
    queue.write_text(json.dumps(mine) + "\n" + json.dumps(other) + "\n")
    assert 0 == oc("prompt", "two").status
    assert [json.dumps(other)] == queue.read_text().splitlines()
    path = sessions(oc) / f"{rows(oc)[KEY]['sessionId']}.jsonl"
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    told = [entry for entry in entries if entry["type"] == "custom_message"]
    assert [("oc.event", "it rains", "e1")] == [(e["customType"], e["content"], e["details"]["event"]) for e in told]
    assert "two" == entries[entries.index(told[0]) + 1]["message"]["content"][0]["text"]


def test_a_read_only_folder(oc):
    if os.geteuid() == 0:
        pytest.skip("root writes anywhere")
    oc("prompt", "one")
    sessions(oc).chmod(0o500)
    assert 74 == oc("prompt", "two").status
    sessions(oc).chmod(0o700)
    assert ["one"] == said(oc)


def test_tsv_is_refused(oc):
    assert 2 == oc("prompt", "--tsv", "hi").status


def test_verbose_tells_the_choice(oc):
    ran = oc("prompt", "-v", "hi")
    assert "model oc-offline (default), window 200000 tokens (default)\n" in ran.err


def test_on_a_terminal_the_answer_ends_its_line_once(oc):
    status, shown = on_terminal(oc, "prompt", "hello")
    assert 0 == status
    first, *rest = shown.split("\n")
    assert first.startswith("I am oc-offline")
    assert [""] == rest


@pytest.mark.parametrize("text", [[], ["what is this?"], ["-"]])
def test_a_prompt_on_stdin_that_is_not_utf8_is_refused_and_not_stored(oc, text):
    done = oc("prompt", *text, stdin=b"one\ntwo\n\x89PNG\n")
    assert (65, "", "oc: stdin:3: not UTF-8\n") == (done.status, done.out, done.err)
    assert not oc.state.exists()


def test_an_event_that_is_not_utf8_is_refused_and_not_queued(oc):
    oc("session", "open", "main")
    before = sorted(os.listdir(sessions(oc)))
    done = oc("session", "event", "main", os.fsdecode(b"bad \xff"))
    assert (65, "oc: TEXT is not UTF-8\n") == (done.status, done.err)
    assert before == sorted(os.listdir(sessions(oc)))
