"""Many processes write to one session: nothing is lost, every line parses, the entries are one chain."""

import json
import multiprocessing
import subprocess

from oc.base.clock import Ids
from oc.session.transcript import append, read
from tests.support import Oc

WORKERS = 8


def message(text):
    return {"type": "message", "timestamp": "2026-03-16T09:00:00.000Z", "message": {"role": "user", "content": text}}


def assert_one_chain(path, count):
    found = read(str(path))
    assert [] == found.skipped
    assert count == len(found.entries) == len({entry["id"] for entry in found.entries})
    assert [None, *(entry["id"] for entry in found.entries[:-1])] == [entry["parentId"] for entry in found.entries]
    return [entry["message"]["content"] for entry in found.entries]


def test_eight_processes_append_fifty_entries_each_by_the_command(tmp_path):
    """All begin at once with a session that is not there yet; each line of each process is there, in its order."""
    oc = Oc(tmp_path)
    workers = [oc.popen("session", "append", "main", "--create", stdin=subprocess.PIPE) for _ in range(WORKERS)]
    for number, worker in enumerate(workers):
        lines = [json.dumps({"role": "user", "content": f"{number}-{n}"}) for n in range(50)]
        worker.stdin.write("\n".join(lines).encode())
    for worker in workers:
        worker.stdin.close()
    assert [0] * WORKERS == [worker.wait(timeout=60) for worker in workers]
    (path,) = (oc.state / "agents/main/sessions").glob("*.jsonl")
    said = assert_one_chain(path, 400)
    for number in range(WORKERS):
        assert [f"{number}-{n}" for n in range(50)] == [text for text in said if text.startswith(f"{number}-")]
    assert [] == list(path.parent.glob("*.lock"))
    assert 0 == oc("session", "check", "main").status


def _append_fifty(path, number):
    for n in range(50):
        append(path, [message(f"{number}-{n}")], ids=Ids("1" if number % 2 else None), lock_timeout_ms=60_000)


def test_eight_processes_append_one_entry_fifty_times_each(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text('{"type":"session","version":3,"id":"s"}\n')
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_append_fifty, args=(str(path), number)) for number in range(WORKERS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [0] * WORKERS == [worker.exitcode for worker in workers]
    assert 400 == len(set(assert_one_chain(path, 400)))


def test_appends_and_resets_at_once_lose_nothing(tmp_path):
    """An append finds its transcript renamed under it now and then, and goes to the new one."""
    oc = Oc(tmp_path)
    oc("session", "open", "main")
    workers = [
        oc.popen("session", "append", "main", "--role", "user", str(n), stdout=subprocess.DEVNULL) for n in range(10)
    ]
    resets = [oc.popen("session", "reset", "main", stdout=subprocess.DEVNULL) for _ in range(4)]
    assert [0] * 14 == [worker.wait(timeout=60) for worker in workers + resets]
    said = []
    for path in (oc.state / "agents/main/sessions").glob("*.jsonl*"):
        said += [entry["message"]["content"][0]["text"] for entry in read(str(path)).entries]
    assert sorted(map(str, range(10))) == sorted(said)
    # Nobody brought an archived transcript back: the only one without a stamp is the key's own.
    assert [oc("session", "path", "main").out.strip()] == [
        str(path) for path in (oc.state / "agents/main/sessions").glob("*.jsonl")
    ]


def test_keys_opened_at_once_all_get_their_row(tmp_path):
    oc = Oc(tmp_path)
    workers = [oc.popen("session", "open", f"k{n}", stdout=subprocess.DEVNULL) for n in range(12)]
    assert [0] * 12 == [worker.wait(timeout=60) for worker in workers]
    store = json.loads((oc.state / "agents/main/sessions/sessions.json").read_text())
    assert {f"agent:main:k{n}" for n in range(12)} == set(store)
    assert 12 == len({row["sessionId"] for row in store.values()})


def test_a_call_that_waits_gets_one_result_whoever_writes(tmp_path):
    """All see that a result is missing; the one that comes first makes it up."""
    oc = Oc(tmp_path)
    call = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a"}}
    oc("session", "append", "main", "--create", stdin=json.dumps({"role": "assistant", "content": [call]}))
    oc("session", "set", "main", "providerOverride=anthropic", "modelOverride=claude-x")
    workers = [
        oc.popen("session", "append", "main", "--role", "user", str(n), stdout=subprocess.DEVNULL) for n in range(6)
    ]
    assert [0] * 6 == [worker.wait(timeout=60) for worker in workers]
    roles = [message["role"] for message in oc("session", "show", "--messages").jsonl()]
    assert ["assistant", "toolResult", *["user"] * 6] == roles


def test_branches_and_appends_at_once_lose_nothing(tmp_path):
    oc = Oc(tmp_path)
    first = '{"type":"message","id":"first","message":{"role":"user","content":"0"}}'
    oc("session", "append", "main", "--create", stdin=first)
    workers = [
        oc.popen("session", "branch", "main", "first", "--summary", str(n), stdout=subprocess.DEVNULL) for n in range(5)
    ]
    workers += [
        oc.popen("session", "append", "main", "--role", "user", str(n), stdout=subprocess.DEVNULL) for n in range(5)
    ]
    assert [0] * 10 == [worker.wait(timeout=60) for worker in workers]
    entries = oc("session", "show", "main", "--entries").jsonl()
    assert 11 == len({entry["id"] for entry in entries})
    branched = [entry for entry in entries if entry["type"] == "branch_summary"]
    assert ["first"] * 5 == [entry["parentId"] for entry in branched]
    assert sorted("01234") == sorted(entry["summary"] for entry in branched)
    assert 0 == oc("session", "check", "main").status
