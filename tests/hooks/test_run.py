"""Real hooks are run: what they get, what they may do, what happens when they misbehave."""

import json
import os
import signal
import subprocess
import sys

import pytest

from oc.base.text import len16
from oc.errors import Unavailable
from oc.hooks.run import MAX_ANSWER_BYTES, Hook
from tests.ended import assert_gone
from tests.support import ROOT

PROMPT = {"prompt": "hi", "messages": []}
EVENT = "before_prompt_build"


def user(text):
    return {"role": "user", "content": text}


def test_answers_are_merged_in_order_of_name(place):
    place.answer(f"{EVENT}.d/20", {"prependContext": "two", "systemPrompt": "B"})
    place.answer(f"{EVENT}.d/10", {"prependContext": "one", "systemPrompt": "A"})
    place.answer(EVENT, {"prependContext": "own"})
    assert place.fire(EVENT, PROMPT) == {"systemPrompt": "B", "prependContext": "own\n\none\n\ntwo"}
    assert place.warnings == []


def test_the_payload_is_on_stdin_with_what_every_hook_gets(place):
    place.python(EVENT, "answer = {'prependContext': json.dumps(given)}")
    payload = {"prompt": "部署 \u2028 😀", "messages": [user("x")], "sessionKey": "agent:main:main"}
    got = json.loads(place.fire(EVENT, payload)["prependContext"])
    assert got == {**payload, "event": EVENT, "agentId": "main", "workspaceDir": str(place.workspace)}


def test_each_hook_sees_the_view_as_the_one_before_left_it(place):
    for name in ("10", "20"):
        code = f"answer = {{'messages': given['messages'] + [{{'role': 'user', 'content': '{name}'}}]}}"
        place.python(f"context.d/{name}", code)
    assert place.fire("context", {"messages": [user("0")]}) == {"messages": [user("0"), user("10"), user("20")]}


def test_a_hook_may_be_a_filter_over_the_payload(place):
    place.sh("before_message_write", "exec sed 's/sk-[a-z0-9]*/[key]/g'")
    assert place.fire("before_message_write", {"message": user("a sk-1 b")}) == {"message": user("a [key] b")}
    assert place.warnings == []


def test_a_blocked_message_is_the_last_word(place):
    place.answer("before_message_write.d/1", {"block": True})
    place.sh("before_message_write.d/2", "touch ran")
    assert place.fire("before_message_write", {"message": user("x")}) == {"block": True}
    assert not (place.home / "ran").exists()


def test_a_cancelled_compaction_is_the_last_word(place):
    place.answer("before_compaction.d/1", {"summary": "s"})
    place.answer("before_compaction.d/2", {"cancel": True})
    place.sh("before_compaction.d/3", "touch ran")
    payload = {"entries": [{"id": "a"}], "firstKeptEntryId": "a", "tokensBefore": 1}
    assert place.fire("before_compaction", payload) == {"cancel": True}
    assert not (place.home / "ran").exists()


def test_events_without_an_answer_run_for_what_they_do(place):
    place.sh("agent_end", "cat > seen")
    assert place.fire("agent_end", {"messages": [], "success": True}) == {}
    assert json.loads((place.home / "seen").read_text())["success"] is True
    assert place.warnings == []


def test_text_of_the_payload_is_never_shell_text(place):
    marker = place.home / "pwned"
    text = f"$(touch {marker}); `touch {marker}` | touch {marker} && touch {marker}\n'\"; touch {marker}"
    place.sh(EVENT, 'cat >/dev/null; printf \'{"prependContext":"%s"}\' "$OC_SESSION"')
    place.fire(EVENT, {"prompt": text, "messages": [user(text)], "sessionKey": f"$(touch {marker})"})
    assert not marker.exists()
    assert place.warnings == []


def test_arguments_of_a_configured_hook_are_passed_as_they_are(place):
    tool = place.python("../tool", "answer = {'prependContext': json.dumps(sys.argv[1:])}")
    words = ["a b", "$HOME", "*", ";id"]
    place.config({"hooks": {"exec": {"entries": {"x": {"command": [str(tool), *words], "events": [EVENT]}}}}})
    assert json.loads(place.fire(EVENT, PROMPT)["prependContext"]) == words


def test_the_environment_is_clean(place):
    place.environ |= {
        "AWS_SECRET_ACCESS_KEY": "x",
        "OPENAI_API_KEY": "x",
        "LD_PRELOAD": "",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "OC_NOW": "5",
        "OC_SESSION": "agent:main:another",
        "OC_HOME": "/another",
    }
    place.python(EVENT, "answer = {'prependContext': json.dumps([dict(os.environ), os.getcwd()])}")
    got, folder = json.loads(place.fire(EVENT, {**PROMPT, "sessionId": "s1"})["prependContext"])
    assert folder == str(place.home)
    assert got == {
        "HOME": str(place.home.parent),
        "LC_ALL": "C.UTF-8",
        "OC_AGENT": "main",
        "OC_HOME": str(place.home),
        "OC_HOOK": EVENT,
        "OC_NOW": "5",
        "OC_SESSION": "s1",
        "OC_WORKSPACE": str(place.workspace),
        "PATH": os.environ["PATH"],
        "TZ": "UTC",
    }


@pytest.mark.parametrize("key", ["a\0b", "a\nb", "\ud800", 5, None, ""])
def test_a_key_that_cannot_stand_in_a_variable_is_left_out(place, key):
    place.sh(EVENT, 'cat >/dev/null; printf \'{"prependContext":"%s"}\' "${OC_SESSION-none}"')
    assert place.fire(EVENT, {**PROMPT, "sessionKey": key}) == {"prependContext": "none"}


def test_a_hook_inside_a_hook_runs_no_executables(place):
    place.answer(EVENT, {"prependContext": "x"})
    place.environ["OC_HOOK"] = "agent_end"
    own = {EVENT: [Hook("own", lambda _: {"prependContext": "own"})]}
    assert place.fire(EVENT, PROMPT, builtin=own) == {"prependContext": "own"}


def test_builtin_hooks_come_first_and_may_fail(place):
    def fails(_):
        raise Unavailable("no store")

    def full(_):
        raise OSError(28, "No space left on device")

    place.answer(EVENT, {"prependContext": "file", "systemPrompt": "F"})
    own = [
        Hook("recall", lambda given: {"prependContext": given["prompt"], "systemPrompt": "R"}),
        Hook("sick", fails),
        Hook("full", full),
    ]
    assert place.fire(EVENT, PROMPT, builtin={EVENT: own}) == {"prependContext": "hi\n\nfile", "systemPrompt": "F"}
    assert place.warnings == ["hook sick: no store", "hook full: no space left on device"]


@pytest.mark.parametrize(
    ("script", "warning"),
    [
        ("echo one >&2; echo two >&2; exit 3", "exit status 3: two"),
        ("exit 4", "exit status 4"),
        ("printf 'a\\033[31mb\\rc' >&2; exit 1", "exit status 1: a\\x1b[31mb\\x0dc"),
        ("printf '\\377\\n\\n' >&2; exit 1", "exit status 1: \ufffd"),
        ("kill -TERM $$", "killed by signal 15"),
        ("echo hello", "the answer is not JSON: hello"),
        ("echo '{}'; echo '{}'", "the answer is not JSON: {}"),
        ('printf \'{"prependContext":"a\'', 'the answer is not JSON: {"prependContext":"a'),
        ("printf '\\033]0;x\\007'", "the answer is not JSON: \\x1b]0;x\\x07"),
        ("echo NaN", "the answer is not JSON: NaN"),
        ("echo '[1]'", "the answer must be an object"),
        ("echo '{\"prependContext\":[1]}'", "prependContext must be a string"),
    ],
)
def test_a_misbehaving_hook_is_a_warning(place, script, warning):
    path = place.sh(f"{EVENT}.d/10", script)
    place.answer(f"{EVENT}.d/20", {"prependContext": "kept"})
    assert place.fire(EVENT, PROMPT) == {"prependContext": "kept"}
    assert place.warnings == [f"hook {path}: {warning}"]


def test_an_answer_with_a_failure_status_does_not_count(place):
    place.sh(EVENT, 'echo \'{"prependContext":"x"}\'; exit 1')
    assert place.fire(EVENT, PROMPT) == {}


def test_unknown_fields_are_named_and_the_rest_is_taken(place):
    path = place.answer(EVENT, {"prependContext": "x", "modelOverride": "m", "a\x1b": 1})
    assert place.fire(EVENT, PROMPT) == {"prependContext": "x"}
    assert place.warnings == [f"hook {path}: {EVENT} takes no a\\x1b, modelOverride; ignored"]


def test_a_long_last_line_is_cut(place):
    place.sh(EVENT, "head -c 3000 /dev/zero | tr '\\0' x >&2; exit 1")
    place.fire(EVENT, PROMPT)
    assert len16(place.warnings[0].rpartition(": ")[2]) == 300


def test_empty_output_is_no_answer(place):
    place.sh(f"{EVENT}.d/1", "")
    place.sh(f"{EVENT}.d/2", "echo; echo '  '")
    place.sh(f"{EVENT}.d/3", "echo null")
    assert (place.fire(EVENT, PROMPT), place.warnings) == ({}, [])


def test_what_a_good_hook_says_on_stderr_is_a_detail(place):
    path = place.sh(EVENT, "echo 'recalled 3' >&2")
    place.fire(EVENT, PROMPT)
    assert (place.warnings, place.details) == ([], [f"oc: hook {path}: recalled 3"])
    place.details.clear()
    place.fire(EVENT, PROMPT, detail=None)
    assert place.details == []


def test_a_large_payload_is_no_trouble_for_a_hook_that_does_not_read(place):
    place.answer(f"{EVENT}.d/1", {"prependContext": "x"})
    place.sh(f"{EVENT}.d/2", "exec <&-")
    assert place.fire(EVENT, {"prompt": "x" * 3_000_000, "messages": []}) == {"prependContext": "x"}
    assert place.warnings == []


def test_a_slow_hook_is_stopped_with_all_that_it_started(place):
    place.config({"hooks": {"exec": {"timeoutMs": 1500}}})
    path = place.sh(EVENT, 'sleep 1000 & echo "$!" > pid; (sleep 1000)')
    assert place.fire(EVENT, PROMPT) == {}
    assert place.warnings == [f"hook {path}: stopped after 1500 ms"]
    assert_gone(int((place.home / "pid").read_text()))


def test_a_hook_that_leaves_a_child_with_its_pipes_is_not_waited_for(place):
    place.config({"hooks": {"exec": {"timeoutMs": 30_000}}})
    place.sh(EVENT, 'sleep 1000 & echo \'{"prependContext":"x"}\'')
    assert (place.fire(EVENT, PROMPT), place.warnings) == ({"prependContext": "x"}, [])


def test_endless_output_is_stopped(place):
    path = place.sh(EVENT, "exec yes")
    assert place.fire(EVENT, PROMPT) == {}
    assert place.warnings == [f"hook {path}: stopped after {MAX_ANSWER_BYTES} bytes of output"]


def test_endless_talk_is_stopped_by_time_and_fills_no_memory(place):
    place.config({"hooks": {"exec": {"timeoutMs": 300}}})
    path = place.sh(EVENT, "exec yes noise >&2")
    assert place.fire(EVENT, PROMPT) == {}
    assert place.warnings[0].startswith(f"hook {path}: stopped after 300 ms")
    assert len(place.warnings[0]) < 500


def test_a_hook_without_an_interpreter_line_cannot_be_started(place):
    path = place.write(EVENT, "echo hi\n")
    other = place.write("context", "#!/no/such/interpreter\n")
    hooks = place.made()
    assert hooks.fire(EVENT, PROMPT) == hooks.fire("context", {"messages": []}) == {}
    assert place.warnings == [
        f"hook {path}: cannot be started: exec format error",
        f"hook {other}: cannot be started: no such file or directory",
    ]


def test_a_hook_that_goes_away_meanwhile_is_a_warning(place):
    path = place.answer(EVENT, {"prependContext": "x"})
    hooks = place.made()
    assert hooks.fire(EVENT, PROMPT) == {"prependContext": "x"}
    path.unlink()
    assert hooks.fire(EVENT, PROMPT) == {}
    assert place.warnings == [f"hook {path}: cannot be started: no such file or directory"]


def test_what_is_not_run_is_said_once_a_run_unless_switched_off(place):
    path = place.sh("context", "", mode=0o644)
    (place.hooks / "context.d").mkdir()
    (place.hooks / "context.d" / "x").symlink_to(place.sh("evil", "touch ran", folder=place.workspace))
    entries = {"off": {"command": ["true"], "events": ["context"], "enabled": False}}
    place.config({"hooks": {"exec": {"entries": entries}}})
    hooks = place.made()
    for _ in range(3):
        assert hooks.fire("context", {"messages": []}) == {}
    assert place.warnings == [
        f"hook {path}: not run: not executable",
        f"hook {place.hooks}/context.d/x: not run: in the workspace, which a model may write to",
    ]
    assert not (place.home / "ran").exists()


def test_no_hooks_no_words(place):
    assert place.fire(EVENT, PROMPT) == {}
    place.hooks.write_text("a file where the folder should be")
    assert place.fire(EVENT, PROMPT) == {}
    assert place.warnings == []


def test_a_hooks_folder_that_cannot_be_read_is_a_warning(place):
    place.hooks.symlink_to("hooks")
    hooks = place.made()
    assert hooks.fire("context", {"messages": []}) == hooks.fire(EVENT, PROMPT) == {}
    assert place.warnings == [f"{place.hooks}: too many levels of symbolic links; no hooks are run from there"]


def test_without_a_hook_nothing_is_imported(place):
    code = (
        "import sys; from oc.config.load import load; from oc.hooks.run import Hooks\n"
        "home = sys.argv[1]; known = set(sys.modules)\n"
        "hooks = Hooks(home, home + '/workspace', load(home, {}), print)\n"
        "assert hooks.fire('agent_end', {}) == {}\n"
        "print(*sorted(set(sys.modules) - known)); print('subprocess' in sys.modules)"
    )
    place.sh("context", "")  # of another event
    done = subprocess.run(
        [sys.executable, "-c", code, str(place.home)],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert (done.stdout, done.stderr) == ("\nFalse\n", "")


def test_an_interrupted_run_ends_its_hook(place):
    place.sh("agent_end", "echo $$ > pid; cat > /dev/null; kill -INT $PPID; sleep 1000")
    code = (
        "import os, sys; from oc.config.load import load; from oc.hooks.run import Hooks\n"
        "home = sys.argv[1]; Hooks(home, home + '/workspace', load(home, {}), print).fire('agent_end', {})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(place.home)],
        capture_output=True,
        env={"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]},
        check=False,
    )
    assert done.returncode == -signal.SIGINT
    assert_gone(int((place.home / "pid").read_text()))
