"""Several turns of one session at once: one after the other, none lost."""

import json
import subprocess

from tests.support import OC


def test_eight_turns_at_once_are_eight_turns_in_one_chain(oc):
    assert 0 == oc("prompt", "hello first").status
    waiting = ["--lock-timeout", "60000"]
    running = [
        subprocess.Popen(
            [*OC, "prompt", *waiting, f"hello {n}"],
            env={**oc.environ, "OC_SEED": str(n)},
            cwd=oc.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for n in range(8)
    ]
    for process in running:
        _, err = process.communicate(timeout=120)
        assert (0, b"") == (process.returncode, err)
    (path,) = (oc.state / "agents" / "main" / "sessions").glob("*.jsonl")
    found = [json.loads(line) for line in path.read_text().splitlines()][1:]
    assert [None, *(entry["id"] for entry in found[:-1])] == [entry["parentId"] for entry in found]
    assert ["user", "assistant"] * 9 == [entry["message"]["role"] for entry in found]
    said = {entry["message"]["content"][0]["text"] for entry in found[::2]}
    assert {"hello first", *(f"hello {n}" for n in range(8))} == said
