"""kill -9 before every disk operation of `oc compact`, and other writers while its model thinks."""

import json
import resource
import shutil
import subprocess

import pytest

from oc.session.transcript import read
from tests.loopback import MODEL_ID, say, serving
from tests.support import OC, Oc, disk_operations
from tests.talk import transcript
from tests.warm import Warm, server

KEEP = ("--keep-recent-tokens", "190")


@pytest.fixture(scope="module")
def forks():
    with server(llm=True) as made:
        yield made


def sessions(here):
    return here.state / "agents" / "main" / "sessions"


def row(here):
    return json.loads((sessions(here) / "sessions.json").read_text())["agent:main:main"]


def by_key(here):
    messages = "\n".join(json.dumps(json.loads(line)["message"]) for line in transcript(12).splitlines()[1:])
    assert 0 == here("session", "append", "main", "--create", stdin=messages).status
    (path,) = sessions(here).glob("*.jsonl")
    return path, "main"


def by_path_of_version_1(here):
    path = here.home / "old.jsonl"
    path.write_text(transcript(12, version=1))
    return path, "old.jsonl"


def chain(path):
    entries = read(str(path)).entries
    assert [None, *(e["id"] for e in entries[:-1])] == [e["parentId"] for e in entries]
    return entries


@pytest.mark.parametrize("prepare", [by_key, by_path_of_version_1])
def test_killed_at_every_operation_it_is_done_once_or_not_at_all(tmp_path, forks, prepare):
    """Every entry is still there, the compaction is whole or absent, and the next run goes on."""
    template = Warm(tmp_path / "template", forks)
    template.home.mkdir()
    path, name = prepare(template)
    relative = path.relative_to(template.home)
    said = [entry["message"] for entry in read(str(path)).entries]
    whole = Warm(tmp_path / "whole", forks)
    shutil.copytree(template.home, whole.home)
    operations = disk_operations(whole, ["compact", name, *KEEP])
    assert len(operations) >= 8
    assert {"write", "fsync"} <= set(operations)
    outcomes = set()
    for at, operation in enumerate(operations, 1):
        for half in (False, True) if operation == "write" else (False,):
            here = Warm(tmp_path / f"{at}-{half}", forks)
            shutil.copytree(template.home, here.home)
            assert -9 == here("compact", name, *KEEP, die_at=at, half=half).status
            entries = chain(here.home / relative)
            assert said == [entry["message"] for entry in entries[: len(said)]]
            done = len(entries) - len(said)
            assert ["compaction"] * done == [entry["type"] for entry in entries[len(said) :]]
            outcomes.add(done)
            assert (1 if done else 0) == here("compact", name, *KEEP).status
            assert len(said) + 1 == len(chain(here.home / relative))
            shutil.rmtree(here.home)
    assert {0, 1} == outcomes


@pytest.fixture
def oc(tmp_path, forks):
    return Warm(tmp_path, forks)


def test_what_is_appended_while_the_model_thinks_stays(oc):
    """The summary holds for the branch as it was; the entry hangs on what came after it, which the context shows.

    A flush before it would be a turn of its own, which keeps other writers out.
    """
    path, _ = by_key(oc)

    def slow(_body):
        assert 0 == Oc(oc.home)("session", "append", "main", stdin='{"role":"user","content":"meanwhile"}\n').status
        return say("SUMMARY")

    with serving(slow) as loopback:
        loopback.configure(oc.home / "llm")
        assert 0 == oc("compact", "main", *KEEP, "--no-flush", "-m", MODEL_ID).status
        assert 1 == len(loopback.requests)
    *_, meanwhile, compaction = chain(path)
    assert ("meanwhile", "compaction") == (meanwhile["message"]["content"], compaction["type"])
    assert 1 == row(oc)["compactionCount"]
    shown = [one["message"] for one in oc("session", "show", "main", "--context").jsonl()]
    assert ["SUMMARY", "meanwhile"] == [shown[0]["summary"].split("\n")[0], shown[-1]["content"]]


def test_a_session_that_was_compacted_meanwhile_is_left_alone(oc):
    """75: the summary speaks of a context that is gone."""
    path, _ = by_key(oc)

    def slow(_body):
        assert 0 == Oc(oc.home)("compact", "main", *KEEP).status
        return say("SUMMARY")

    with serving(slow) as loopback:
        loopback.configure(oc.home / "llm")
        ran = oc("compact", "main", *KEEP, "--no-flush", "-m", MODEL_ID)
    assert (75, "") == (ran.status, ran.out)
    assert "another writer went on with the session meanwhile" in ran.err
    assert 1 == sum(entry["type"] == "compaction" for entry in chain(path))
    assert 1 == row(oc)["compactionCount"]


@pytest.mark.parametrize("prepare", [by_key, by_path_of_version_1])
@pytest.mark.parametrize("room", [0, 1, 2])
def test_a_disk_that_is_full_leaves_every_entry(oc, prepare, room):
    """The system takes no byte, or some of them, beyond a size: 74, and the next run with room goes on."""
    path, name = prepare(oc)
    said = [entry["message"] for entry in read(str(path)).entries]
    most = path.stat().st_size + 400 * room

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    done = subprocess.run(
        [*OC, "compact", name, *KEEP],
        env=oc.environ,
        cwd=oc.home,
        capture_output=True,
        preexec_fn=limit,
        check=False,
    )
    assert (74, b"") == (done.returncode, done.stdout)
    assert b"file too large" in done.stderr
    assert said == [entry["message"] for entry in chain(path)]
    assert [] == [str(left) for left in path.parent.glob("*.tmp")]
    assert 0 == oc("compact", name, *KEEP).status
    assert len(said) + 1 == len(chain(path))


def test_two_at_once_compact_once(oc):
    """The one that comes second finds nothing left to do, or the session changed under its hands."""
    path, _ = by_key(oc)
    running = [Oc(oc.home).popen("compact", "main", *KEEP, stdout=-3, stderr=-3) for _ in range(4)]
    assert [0] == [status for status in sorted(process.wait() for process in running) if status not in (1, 75)]
    assert 1 == sum(entry["type"] == "compaction" for entry in chain(path))
    assert 1 == row(oc)["compactionCount"]
