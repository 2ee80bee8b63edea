"""A child process is fed, emptied, bounded and ended with all it left behind."""

import os
import signal
import sys

import pytest

from oc.base.child import KEPT_ERR_BYTES, Limits, run_child
from oc.errors import BadInput
from tests.ended import assert_gone

PATIENT = Limits(timeout_ms=30_000, max_out_bytes=1 << 20)


def run(argv, data=b"", limits=PATIENT):
    return run_child(argv, data, limits, environ={"PATH": os.environ["PATH"]}, cwd="/")


def sh(script, *args, **settings):
    return run(["sh", "-c", script, "sh", *args], **settings)


def python(code, *args, **settings):
    return run([sys.executable, "-c", code, *args], **settings)


def test_stdin_goes_in_and_both_outputs_come_out():
    done = sh('cat; echo "$1" >&2; exit 3', "word", data=b"in")
    assert done == (3, b"in", b"word\n", "")


def test_arguments_are_no_shell_text():
    assert run(["printf", "%s", "$(id) `id` ; id | id"]).out == b"$(id) `id` ; id | id"


def test_it_gets_the_environment_it_was_given_and_no_other(monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_PARENT", "x")
    names = {line.split(b"=")[0] for line in run(["env"]).out.splitlines()}
    assert names == {b"PATH"}


def test_large_input_and_large_output_at_the_same_time():
    data = os.urandom(1 << 20)
    assert run(["cat"], data=data) == (0, data, b"", "")


def test_a_child_that_does_not_read_is_no_error():
    assert sh("echo done", data=b"x" * (1 << 20)) == (0, b"done\n", b"", "")


def test_the_end_of_stderr_is_kept():
    done = sh("yes | head -c 300000 >&2; echo last >&2")
    assert len(done.err) == KEPT_ERR_BYTES
    assert done.err.endswith(b"\ny\nlast\n")


def test_endless_output_is_stopped_at_the_limit():
    done = sh("yes", limits=Limits(30_000, 100_000))
    assert done.stopped_by == "output"
    assert 100_000 < len(done.out) < 400_000


def test_exactly_the_limit_is_allowed():
    assert sh("printf 12345", limits=Limits(30_000, 5)).stopped_by == ""
    assert sh("printf 123456", limits=Limits(30_000, 5)).stopped_by == "output"


def test_a_hanging_child_is_killed_with_its_children():
    done = sh('sleep 1000 & echo "$!"; sleep 1000', limits=Limits(1_500, 1000))
    assert (done.status, done.stopped_by) == (-signal.SIGKILL, "time")
    assert_gone(int(done.out))


def test_a_child_that_closes_its_outputs_and_hangs_is_killed():
    done = sh("exec <&- >&- 2>&-; sleep 1000", limits=Limits(300, 1000))
    assert (done.status, done.stopped_by) == (-signal.SIGKILL, "time")


def test_a_child_that_ignores_sigterm_is_killed():
    done = sh("trap '' TERM HUP INT; while :; do sleep 1; done", limits=Limits(300, 1000))
    assert (done.status, done.stopped_by) == (-signal.SIGKILL, "time")


def test_a_grandchild_that_keeps_the_pipe_is_not_waited_for():
    done = sh('sleep 1000 & echo "$!"')
    assert (done.status, done.stopped_by) == (0, "")
    assert_gone(int(done.out))


def test_a_grandchild_in_a_session_of_its_own_is_let_go():
    done = sh("setsid sleep 6 & echo parent", limits=Limits(5_000, 1000))
    assert done == (0, b"parent\n", b"", "")


def test_death_by_a_signal_is_a_negative_status():
    assert sh("kill -TERM $$").status == -signal.SIGTERM


def test_what_cannot_be_started_raises():
    with pytest.raises(FileNotFoundError):
        run(["/no/such/program"])
    with pytest.raises(BadInput, match="cannot be started: embedded null byte"):
        run(["echo", "a\0b"])


def test_an_interrupt_ends_the_child_too(tmp_path):
    code = (
        "import os, sys; from oc.base.child import *\n"
        "run_child(['sh', '-c', 'echo $$ > pid; cat; kill -INT $PPID; sleep 1000'], b'', Limits(60000, 10),"
        " environ=os.environ, cwd=sys.argv[1])"
    )
    done = run_child(
        [sys.executable, "-c", code, str(tmp_path)],
        b"",
        PATIENT,
        environ={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)},
        cwd="/",
    )
    assert done.status == -signal.SIGINT
    assert_gone(int((tmp_path / "pid").read_text()))
