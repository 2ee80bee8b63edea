"""The real command in a process of its own that has llm loaded already: a fork of a waiting one.

Loading llm costs a second, and most tests of models are not about that. The server below runs in a process without
threads; each request names arguments, environment, folder and the files for stdin, stdout and stderr.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.support import ROOT, Oc, Ran

SERVER = r"""
import json, os, sys
import llm, llm.default_plugins.openai_models, openai
from llm.plugins import load_plugins
load_plugins()
import oc.agent.model, oc.agent.run, oc.cli.run, oc.cli.cmd.prompt
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
        from oc.cli.run import run
        status = run(job["args"])
        sys.stdout.flush()
        os._exit(status)
    print(child, flush=True)
    _, code = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(code), flush=True)
"""


class Server:
    def __init__(self) -> None:
        environ = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ, text=True
        )

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()


class Warm(Oc):
    """As Oc; `during` is called with the process id while the command runs."""

    def __init__(self, home: Path, server: Server) -> None:
        super().__init__(home)
        self.server = server

    def __call__(self, *args, stdin="", cwd=None, timeout=60, during=None, **environ) -> Ran:
        names = [self.home / f".{name}" for name in ("stdin", "stdout", "stderr")]
        names[0].write_bytes(stdin.encode() if isinstance(stdin, str) else stdin)
        job = {
            "args": list(map(str, args)),
            "environ": {**self.environ, **environ},
            "cwd": str(cwd or self.home),
            "files": list(map(str, names)),
        }
        channel = self.server.process
        channel.stdin.write(json.dumps(job) + "\n")
        channel.stdin.flush()
        pid = int(channel.stdout.readline())
        if during is not None:
            during(pid, names[1])
        old = signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
        signal.alarm(timeout)
        status = int(channel.stdout.readline())
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)
        out, err = names[1].read_bytes(), names[2].read_bytes()
        return Ran(status, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), out)
