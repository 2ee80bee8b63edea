"""`oc hooks list` and `oc hooks run` as they are typed."""

import json
import os
import pty
import subprocess

import pytest

from tests.support import OC, ROOT

PROMPT = '{"prompt": "hi", "messages": []}'
EVENT = "before_prompt_build"


@pytest.fixture
def hook(oc):
    """Writes a shell hook into the state directory and returns its path."""

    def write(name, script, mode=0o755):
        path = oc.state / "hooks" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(mode)
        return path

    return write


def answer(**fields):
    return f"cat > /dev/null; echo '{json.dumps(fields)}'"


def test_no_hooks_is_nothing_found(oc):
    done = oc("hooks", "list")
    assert (done.status, done.out, done.err) == (1, "", "")
    assert not oc.state.exists()


def test_list_says_what_runs_and_why_not(oc, hook):
    first = hook(EVENT, "")
    second = hook("agent_end.d/10-sync", "", 0o644)
    stray = hook("agentend", "")
    entries = {"x": {"command": ["/bin/sh", "-c", "id"], "events": ["context"], "timeoutMs": 70}}
    (oc.state / "oc.json").write_text(json.dumps({"hooks": {"exec": {"entries": entries}}}))
    done = oc("hooks", "list")
    assert (done.status, done.err) == (0, "")
    assert done.out == (
        f"{EVENT}\t{first}\truns\n"
        "context\thooks.exec.entries.x\truns\n"
        f"agent_end\t{second}\tnot executable\n"
        f"agentend\t{stray}\tno such event\n"
    )
    rows = oc("hooks", "list", "--json").json()["hooks"]
    assert rows[1] == {
        "event": "context",
        "name": "hooks.exec.entries.x",
        "state": "runs",
        "runs": True,
        "command": ["/bin/sh", "-c", "id"],
        "timeoutMs": 70,
    }
    assert [row["runs"] for row in rows] == [True, True, False, False]


def test_run_prints_the_merged_answer(oc, hook):
    hook(f"{EVENT}.d/20", answer(prependContext="two", systemPrompt="S"))
    hook(f"{EVENT}.d/10", answer(prependContext="one"))
    done = oc("hooks", "run", EVENT, stdin=PROMPT)
    assert (done.status, done.err) == (0, "")
    assert done.out == '{"systemPrompt":"S","prependContext":"one\\n\\ntwo"}\n'


def test_run_with_a_failing_hook_is_1_with_a_warning(oc, hook):
    path = hook(f"{EVENT}.d/10", "echo 'no \033[1mway' >&2; exit 5")
    hook(f"{EVENT}.d/20", answer(prependContext="x"))
    done = oc("hooks", "run", EVENT, stdin=PROMPT)
    assert (done.status, done.out) == (1, '{"prependContext":"x"}\n')
    assert done.err == f"oc: warning: hook {path}: exit status 5: no \\x1b[1mway\n"


def test_run_without_hooks_is_1(oc):
    done = oc("hooks", "run", "agent_end", stdin='{"messages": [], "success": true}')
    assert (done.status, done.out, done.err) == (1, "{}\n", "")


def test_dry_run_lists_and_touches_nothing(oc, hook):
    one = hook(f"{EVENT}.d/10", "touch ran")
    hook(f"{EVENT}.d/20", "touch ran", 0o644)
    done = oc("hooks", "run", EVENT, "--dry-run", stdin="not read")
    assert (done.status, done.out, done.err) == (0, f"{EVENT}\t{one}\truns\n", "")
    assert not (oc.state / "ran").exists()
    assert oc("hooks", "run", "context", "--dry-run").status == 1


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ("", "oc: -: the payload is not JSON\n"),
        ("{", "oc: -: the payload is not JSON\n"),
        ("[]", f"oc: the payload of {EVENT} must be an object\n"),
        ("{}", f"oc: the payload of {EVENT}: prompt is missing\n"),
        ('{"prompt": 1}', f"oc: the payload of {EVENT}: prompt must be a string\n"),
    ],
)
def test_a_bad_payload_is_65(oc, payload, message):
    done = oc("hooks", "run", EVENT, stdin=payload)
    assert (done.status, done.out, done.err) == (65, "", message)


def test_an_unknown_event_is_usage(oc):
    done = oc("hooks", "run", "before_lunch", stdin=PROMPT)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("oc: invalid value for 'EVENT': 'before_lunch' is not one of 'session_new', ")
    assert done.err.endswith("hint: `oc hooks run --help`\n")


def test_a_terminal_for_a_payload_is_usage(oc):
    master, terminal = pty.openpty()
    done = subprocess.run(
        [*OC, "hooks", "run", EVENT], stdin=terminal, capture_output=True, env=oc.environ, timeout=30, check=False
    )
    os.close(master)
    os.close(terminal)
    assert (done.returncode, done.stdout) == (2, b"")


def test_verbose_passes_on_what_hooks_say(oc, hook):
    path = hook("agent_end", "echo 'synced 3 files' >&2")
    payload = '{"messages": [], "success": true}'
    assert oc("hooks", "run", "agent_end", stdin=payload).err == ""
    assert oc("hooks", "run", "agent_end", "-v", stdin=payload).err == f"oc: hook {path}: synced 3 files\n"


def test_a_hook_may_call_oc_and_starts_no_hooks_by_it(oc, hook):
    again = f"{OC[0]} -m oc.cli.main hooks run agent_end"
    hook("agent_end", f"cat > given; echo run >> runs; PYTHONPATH={ROOT} {again} < given >&2; echo $? > status")
    done = oc("hooks", "run", "agent_end", stdin='{"messages": [], "success": true}')
    assert (done.status, done.err) == (0, "")
    assert (oc.state / "runs").read_text() == "run\n"
    assert (oc.state / "status").read_text() == "1\n"


def test_what_a_hook_sees_of_the_run(oc, hook):
    hook(EVENT, 'cat > /dev/null; printf \'{"prependContext":"%s %s"}\' "$OC_AGENT" "$OC_WORKSPACE"')
    done = oc("hooks", "run", EVENT, "--agent", "b", "--workspace", oc.home / "ws", stdin=PROMPT, OC_AGENT="c")
    assert done.json() == {"prependContext": f"b {oc.home}/ws"}
