"""Runs another program within limits: no shell, time for its whole process group, bounded output.

Python's own `communicate` has no bound on output and waits for whoever inherited the pipe. POSIX only: a process
group and pipes that can be waited on are needed.
"""

import os
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, NamedTuple

from oc.errors import BadInput

if TYPE_CHECKING:
    from subprocess import Popen

SUPPORTED = os.name == "posix"
KEPT_ERR_BYTES = 4096
_CHUNK_BYTES = 65536
# How long a child that is gone goes unnoticed while somebody else holds its pipes open.
_TICK_S = 0.05


class Outcome(NamedTuple):
    """`status` -N: killed by signal N; `err`: the end of stderr; `stopped_by`: the limit that was run into."""

    status: int
    out: bytes
    err: bytes
    stopped_by: Literal["", "time", "output"]


class Limits(NamedTuple):
    timeout_ms: int
    max_out_bytes: int


def run_child(argv: Sequence[str], data: bytes, limits: Limits, *, environ: Mapping[str, str], cwd: str) -> Outcome:
    """Runs `argv` with `data` on stdin and returns what came of it; nothing of its process group outlives the call.

    The answer is what was written when the program itself ended: a grandchild that keeps the pipe open is not waited
    for. Raises OSError when the program cannot be started, BadInput when an argument cannot be passed (a NUL).
    """
    import subprocess

    try:
        child = subprocess.Popen(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=dict(environ),
            bufsize=0,
            start_new_session=True,
        )
    except ValueError as error:
        raise BadInput(f"cannot be started: {error}") from None
    try:
        pump = _Pump(child, data, limits)
        stopped_by = pump.run()
    finally:
        _end(child)
    return Outcome(child.returncode, bytes(pump.out), bytes(pump.err), stopped_by)


def _end(child: "Popen[bytes]") -> None:
    _kill_group(child)
    child.wait()
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()


def _kill_group(child: "Popen[bytes]") -> None:
    """A number stays taken as long as the group has a member, so this cannot hit a stranger."""
    # macOS says EPERM of a group that has zombies only.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


class _Pump:
    """Feeds stdin and empties stdout and stderr at the same time, since a child may do these in any order."""

    def __init__(self, child: "Popen[bytes]", data: bytes, limits: Limits) -> None:
        self.child = child
        self.rest = memoryview(data)
        self.max_out_bytes = limits.max_out_bytes
        self.deadline = time.monotonic() + limits.timeout_ms / 1000
        self.out = bytearray()
        self.err = bytearray()

    def run(self) -> Literal["", "time", "output"]:
        import selectors

        gone = False
        with selectors.DefaultSelector() as selector:
            for pipe, wanted, step in (
                (self.child.stdin, selectors.EVENT_WRITE, self._feed),
                (self.child.stdout, selectors.EVENT_READ, self._take_out),
                (self.child.stderr, selectors.EVENT_READ, self._take_err),
            ):
                if pipe is not None:
                    os.set_blocking(pipe.fileno(), False)
                    selector.register(pipe, wanted, (pipe, step))
            while selector.get_map():
                left_s = self.deadline - time.monotonic()
                if left_s <= 0:
                    return "time"
                if not gone and self.child.poll() is not None:
                    gone = True
                    _kill_group(self.child)
                ready = selector.select(0 if gone else min(left_s, _TICK_S))
                for key, _ in ready:
                    pipe, step = key.data
                    if not step(key.fd):
                        selector.unregister(pipe)
                        pipe.close()
                if len(self.out) > self.max_out_bytes:
                    return "output"
                if gone and not ready:
                    break
        return self._wait()

    def _wait(self) -> Literal["", "time"]:
        """A child may close its pipes and go on."""
        import subprocess

        try:
            self.child.wait(max(0.0, self.deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return "time"
        return ""

    # Each step returns whether its pipe is still of use.

    def _feed(self, descriptor: int) -> bool:
        try:
            if self.rest:
                self.rest = self.rest[os.write(descriptor, self.rest[:_CHUNK_BYTES]) :]
        except BlockingIOError:
            return True
        except BrokenPipeError:  # it does not want to read it all
            return False
        return bool(self.rest)

    def _take_out(self, descriptor: int) -> bool:
        chunk = os.read(descriptor, _CHUNK_BYTES)
        self.out += chunk
        return bool(chunk)

    def _take_err(self, descriptor: int) -> bool:
        chunk = os.read(descriptor, _CHUNK_BYTES)
        self.err = (self.err + chunk)[-KEPT_ERR_BYTES:]
        return bool(chunk)
