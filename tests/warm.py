"""The real command in a process of its own that has loaded its modules already: a fork of a waiting one.

Loading llm costs a second, and a process for each of a hundred places to die at costs as much; most tests are not
about that. The server below runs in a process without threads. A job names arguments, environment, folder, the files
for stdin, stdout and stderr, and the disk operation before which to die, if any.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.support import ROOT, Oc, Ran

WITH_LLM = """
import llm, llm.default_plugins.openai_models, openai
from llm.plugins import load_plugins
load_plugins()
"""
SERVER = r"""
import json, os, sys
import oc.agent.builtin, oc.agent.loop, oc.agent.model, oc.agent.run, oc.cli.run, oc.cli.cmd.prompt

def die_at(place, half):
    count = 0
    def wrapped(name, real):
        def call(*args, **kwargs):
            nonlocal count
            if name == "write" and args[0] <= 2:
                return real(*args, **kwargs)
            count += 1
            if count == place:
                if name == "write" and half:
                    real(args[0], bytes(args[1])[: max(1, len(args[1]) // 2)])
                os.kill(os.getpid(), 9)
            return real(*args, **kwargs)
        return call
    for name in ("write", "fsync", "replace", "truncate", "unlink", "rename"):
        setattr(os, name, wrapped(name, getattr(os, name)))

for line in sys.stdin:
    job = json.loads(line)
    child = os.fork()
    if child == 0:
        os.environ.clear()
        os.environ.update(job["environ"])
        os.chdir(job["cwd"])
        for number, name in enumerate(job["files"]):
            flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(name, flags, 0o600), number)
        if job["die_at"]:
            die_at(job["die_at"], job["half"])
        from oc.cli.run import run
        status = run(job["args"])
        sys.stdout.flush()
        os._exit(status)
    print(child, flush=True)
    _, code = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(code), flush=True)
"""


class Server:
    def __init__(self, before: str = "") -> None:
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            [sys.executable, "-c", before + SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environ,
            text=True,
        )

    def run(self, job: dict, timeout: int = 60) -> int:
        """Returns the exit code, minus the signal of a process that was killed."""
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        pid = int(self.process.stdout.readline())
        before = signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
        signal.alarm(timeout)
        status = int(self.process.stdout.readline())
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        return status


@contextmanager
def server(*, llm: bool = False) -> Iterator[Server]:
    made = Server(WITH_LLM if llm else "")
    yield made
    made.process.stdin.close()
    made.process.wait(10)
    made.process.stdout.close()


@dataclass
class Warm(Oc):
    """As Oc, by a server; `die_at` n kills the command before its n-th disk operation, or half-way through a write."""

    home: Path
    server: Server
    environ: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        Oc.__init__(self, self.home)

    def __call__(self, *args, stdin="", cwd=None, timeout=60, die_at=0, half=False, **environ: str) -> Ran:
        names = [self.home / f".{name}" for name in ("stdin", "stdout", "stderr")]
        names[0].write_bytes(stdin.encode() if isinstance(stdin, str) else stdin)
        job = {
            "args": list(map(str, args)),
            "environ": {**self.environ, **environ},
            "cwd": str(cwd or self.home),
            "files": list(map(str, names)),
            "die_at": die_at,
            "half": half,
        }
        status = self.server.run(job, timeout)
        out, err = names[1].read_bytes(), names[2].read_bytes()
        return Ran(status, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), out)
