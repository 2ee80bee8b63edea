import json

import pytest

from oc.base.files import lock


@pytest.fixture
def noted(oc):
    oc("memory", "add", "the staging host is pg-b")
    return oc


def test_index_says_what_it_did(noted):
    first, second = noted("memory", "index"), noted("memory", "index")
    assert (0, "1 added, 0 changed, 0 removed, 0 unchanged; 1 chunks\n", "") == (first.status, first.out, first.err)
    assert "0 added, 0 changed, 0 removed, 1 unchanged; 1 chunks\n" == second.out
    forced = noted("memory", "index", "--force", "--json").json()
    assert {
        "added": 1,
        "changed": 0,
        "removed": 0,
        "unchanged": 0,
        "chunks": 1,
        "rebuilt": True,
        "findings": [],
    } == forced
    assert ["oc-main.2.sqlite", "oc-main.sqlite"] == sorted(p.name for p in (noted.state / "memory").iterdir())


def test_what_is_not_read_is_said(noted):
    (noted.workspace / "memory" / "l.md").symlink_to("/etc/passwd")
    done = noted("memory", "index")
    assert (0, "oc: warning: memory/l.md: a symbolic link, not read\n") == (done.status, done.err)
    assert {"path": "memory/l.md", "message": "a symbolic link, not read"} in noted(
        "memory", "status", "--json"
    ).json()["findings"]


def test_a_held_lock_is_status_75(noted):
    (noted.state / "memory").mkdir()
    with lock(noted.state / "memory" / "oc-main.sqlite"):
        done = noted("memory", "index", "--lock-timeout", "10", "--json")
    assert (75, "busy") == (done.status, done.json()["error"]["code"])


def test_a_search_beside_a_writer_answers_from_the_old_index(noted):
    noted("memory", "index")
    noted("memory", "add", "a new staging fact")
    with lock(noted.state / "memory" / "oc-main.sqlite"):
        done = noted("memory", "search", "staging", "--lock-timeout", "10")
    assert (0, 1) == (done.status, len(done.out.splitlines()))
    assert done.err.startswith("oc: warning: the index is as it was")


def test_another_programs_file_is_bad_input(noted):
    theirs = noted.home / "theirs.sqlite"
    theirs.write_bytes(b"SQLite format 3\0")
    tree = {"agents": {"defaults": {"memorySearch": {"store": {"path": str(theirs)}}}}}
    (noted.state / "oc.json").write_text(json.dumps(tree))
    done = noted("memory", "index")
    assert (65, b"SQLite format 3\0") == (done.status, theirs.read_bytes())
    assert f"oc: {theirs}: not an index of oc\n" == done.err.partition("hint")[0]


def test_status_tells_what_there_is(noted):
    before = noted("memory", "status", "--json").json()
    assert (None, 1, False) == (before["index"], before["new"], before["fresh"])
    noted("memory", "index")
    told = noted("memory", "status", "--json").json()
    assert (1, 1, True, "keyword") == (told["files"], told["chunks"], told["fresh"], told["tier"])
    assert str(noted.state / "memory" / "oc-main.1.sqlite") == told["index"]
    lines = dict(line.split("\t") for line in noted("memory", "status").out.splitlines())
    assert ("1", "true") == (lines["chunks"], lines["fresh"])
    assert "vectors are not built" in lines["vectors"]


def test_agents_have_indexes_and_workspaces_of_their_own(noted):
    noted("memory", "add", "only work knows", "--agent", "work")
    assert 1 == noted("memory", "search", "knows").status
    done = noted("memory", "search", "knows", "--agent", "work")
    assert (0, True) == (done.status, (noted.state / "memory" / "oc-work.sqlite").exists())
