import os
import resource
import shutil
import sqlite3

import pytest

from oc.base.files import lock
from oc.errors import BadInput, Busy, InputOutput, NotFound, Unavailable
from oc.memory.sqlite.generation import Index
from tests.memory.store import Store


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path, {"MEMORY.md": "- the staging host is pg-b\n", "memory/x.md": "one\ntwo\n"})


def test_a_search_makes_the_index_and_sees_every_change(store):
    assert ["MEMORY.md"] == store.found("staging")
    store.write("memory/new.md", "- a new fact\n", age_s=0)
    assert ["memory/new.md"] == store.found("fact")
    store.write("memory/new.md", "- another thing\n", age_s=0)
    assert ([], ["memory/new.md"]) == (store.found("fact"), store.found("thing"))
    os.unlink(store.workspace / "memory" / "new.md")
    assert [] == store.found("thing")


def test_without_sync_the_index_is_searched_as_it_is(store):
    with pytest.raises(Unavailable):
        store.found("staging", sync=False)
    store.backend.sync()
    store.write("memory/new.md", "fact")
    assert [] == store.found("fact", sync=False)


def test_a_workspace_without_notes_makes_nothing(tmp_path):
    store = Store(tmp_path)
    result = store.backend.search("x")
    assert ([], 1) == (list(result.hits), len(result.warnings))
    assert [] == store.index_files()


def test_a_busy_lock_means_the_old_index_and_a_word(store):
    store.backend.sync()
    store.write("memory/new.md", "staging fact")
    with lock(store.places.index):
        result = store.backend.search("staging fact", lock_timeout_ms=10)
        assert ["MEMORY.md"] == [hit.path for hit in result.hits]
        assert "locked by process" in result.warnings[0]
        with pytest.raises(Busy):
            store.backend.sync(lock_timeout_ms=10)
    assert "memory/new.md" == store.found("staging fact")[0]


def test_a_busy_lock_and_no_index_is_busy(store):
    (store.home / "memory").mkdir()
    with lock(store.places.index), pytest.raises(Busy):
        store.found("staging", lock_timeout_ms=10)


@pytest.mark.parametrize("touched", [False, True])
def test_nothing_changed_does_not_wait_for_a_writer(store, touched):
    """A stat that moved alone is no change either."""
    store.backend.sync()
    if touched:
        store.write("memory/x.md", "one\ntwo\n", age_s=30)
    with lock(store.places.index):
        assert ((), 1) == ((found := store.backend.search("staging")).warnings, len(found.hits))


def test_where_nothing_can_be_written_a_search_makes_its_own_index(store):
    (store.home / "memory").write_text("a file where the folder should be")
    result = store.backend.search("staging")
    assert ["MEMORY.md"] == [hit.path for hit in result.hits]
    assert "no index can be kept" in result.warnings[0]
    with pytest.raises(OSError, match=r"[Nn]ot a directory|exists"):
        store.backend.sync()


def test_a_disk_that_cannot_be_written_means_the_old_index_and_a_word(store):
    store.backend.sync()
    store.write("memory/new.md", "staging fact")
    os.mkdir(store.places.index + ".lock")  # no lock can be made or taken over, whoever runs the tests
    result = store.backend.search("staging")
    assert ["MEMORY.md"] == [hit.path for hit in result.hits]
    assert "as it was" in result.warnings[0]


def spoil_terms(path):
    """Overwrites the page with the terms, which a sync does not read."""
    connection = sqlite3.connect(path)
    (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'chunks_fts_data'").fetchone()
    connection.close()
    with open(path, "r+b") as file:
        file.seek(4096 * (page - 1))
        file.write(b"\xff" * 4096)


@pytest.mark.parametrize("damage", ["text", "cut", "terms"])
def test_a_damaged_index_is_built_anew(store, damage):
    store.backend.sync()
    path = Index(store.places.index).current()
    if damage == "text":
        with open(path, "wb") as file:
            file.write(b"no database" * 1000)
    elif damage == "cut":
        os.truncate(path, 4096)
    else:
        spoil_terms(path)
    assert ["MEMORY.md"] == store.found("staging")
    assert ["oc-main.2.sqlite", "oc-main.sqlite"] == store.index_files()


def test_a_damaged_index_that_may_not_be_rebuilt_is_bad_input(store):
    store.backend.sync()
    spoil_terms(Index(store.places.index).current())
    with pytest.raises(BadInput):
        store.found("staging", sync=False)


def test_another_programs_database_is_left_alone(tmp_path):
    theirs = tmp_path / "theirs.sqlite"
    connection = sqlite3.connect(theirs)
    connection.execute("CREATE TABLE t (x)")
    connection.close()
    before = theirs.read_bytes()
    store = Store(tmp_path, {"MEMORY.md": "x"}, store={"path": str(theirs)})
    for act in (store.backend.sync, lambda: store.found("x"), store.backend.status):
        with pytest.raises(BadInput):
            act()
    assert before == theirs.read_bytes()


def test_an_index_elsewhere(tmp_path):
    store = Store(tmp_path, {"MEMORY.md": "staging"}, store={"path": str(tmp_path / "deep" / "{agentId}.db")})
    assert ["MEMORY.md"] == store.found("staging")
    assert ["main.1.db", "main.db"] == sorted(os.listdir(tmp_path / "deep"))


def test_a_full_disk_keeps_the_old_index(store):
    store.backend.sync()
    for n in range(40):
        store.write(f"memory/{n}.md", f"note {n} " * 400)
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, old[1]))
    try:
        for force in (False, True):
            with pytest.raises(InputOutput):
                store.backend.sync(force=force)
        result = store.backend.search("staging")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
    assert (["MEMORY.md"], 1) == ([hit.path for hit in result.hits], len(result.warnings))
    assert ["oc-main.1.sqlite", "oc-main.sqlite"] == store.index_files()
    assert 40 == store.backend.sync().added


def test_turned_off_is_unavailable(tmp_path):
    store = Store(tmp_path, enabled=False)
    with pytest.raises(Unavailable):
        store.backend.sync()


def test_what_is_not_there_yet_is_unavailable(store):
    for how in ({"mode": "vector"}, {"mode": "hybrid"}, {"sources": ["sessions"]}):
        with pytest.raises(Unavailable):
            store.found("x", **how)


def test_another_backend_is_served_by_the_built_in_one_with_a_word(store):
    (store.home / "oc.json").write_text('{"memory": {"backend": "qmd"}}')
    result = store.backend.search("staging")
    assert ("qmd" in result.warnings[0], ["MEMORY.md"]) == (True, [hit.path for hit in result.hits])


def test_sync_on_search_may_be_turned_off(tmp_path):
    store = Store(tmp_path, {"MEMORY.md": "one"}, sync={"onSearch": False})
    store.backend.sync()
    store.write("memory/new.md", "fact")
    assert [] == store.found("fact")


def test_get_returns_text_or_says_there_is_none(store):
    assert ("memory/x.md", "two") == store.backend.get("memory/x.md", 2, 1)[:2]
    with pytest.raises(NotFound):
        store.backend.get("memory/none.md")


def test_status_tells_how_far_the_index_is_and_writes_nothing(store):
    told = store.backend.status()
    assert (None, 2, 0, 2, False) == tuple(told[key] for key in ("index", "notes", "files", "new", "fresh"))
    assert [] == store.index_files()
    store.backend.sync()
    store.write("memory/x.md", "changed", age_s=30)
    store.write("memory/y.md", "new")
    os.unlink(store.workspace / "MEMORY.md")
    told = store.backend.status()
    assert (2, 2, 1, 1, 1) == tuple(told[key] for key in ("notes", "files", "new", "changed", "removed"))
    assert ("keyword", False, True) == (told["tier"], told["fresh"], told["bytes"] > 0)


def test_a_moved_workspace_is_another_one(store, tmp_path):
    store.backend.sync()
    (tmp_path / "other").mkdir()
    shutil.copytree(store.workspace, tmp_path / "other" / "ws")
    (store.home / "oc.json").write_text('{"agents": {"defaults": {"workspace": "%s"}}}' % (tmp_path / "other" / "ws"))
    assert store.backend.sync().rebuilt
