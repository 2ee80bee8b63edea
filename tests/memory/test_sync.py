import hashlib
import json
import os
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oc.memory.sqlite import sync as syncing
from oc.memory.sqlite.generation import Index
from tests.memory.store import Store


def dump(store):
    """Everything an index holds, without ids: chunks, and each term's places in them."""
    connection = Index(store.places.index).read()
    rows = connection.execute(
        "SELECT c.id, f.path, c.start_line, c.end_line, c.hash, c.context, c.text FROM chunks c "
        "JOIN files f ON f.id = c.file_id"
    ).fetchall()
    names = {row[0]: row[1:4] for row in rows}
    connection.execute("CREATE VIRTUAL TABLE temp.v USING fts5vocab(main, chunks_fts, instance)")
    terms = [(term, names[doc], *rest) for term, doc, *rest in connection.execute("SELECT * FROM temp.v")]
    files = connection.execute("SELECT path, hash, size, chunks FROM files").fetchall()
    connection.close()
    return sorted(row[1:] for row in rows), sorted(terms), sorted(files)


def counts(report):
    return report.added, report.changed, report.removed, report.unchanged


def fresh(store):
    """The same notes indexed from nothing, in another state directory."""
    other = Store(store.home.parent / "fresh")
    other.workspace = store.workspace
    config = {"agents": {"defaults": {"workspace": str(store.workspace)}}}
    (other.home / "oc.json").write_text(json.dumps(config))
    other.backend.sync(force=True)
    return dump(other)


def test_the_first_run_adds_the_next_does_nothing(tmp_path):
    store = Store(tmp_path, {"MEMORY.md": "a", "memory/x.md": "b\n\n# h\nc"})
    assert (2, 0, 0, 0) == counts(store.backend.sync())
    before = store.index_files(), os.stat(store.places.index).st_mtime_ns
    assert (0, 0, 0, 2) == counts(store.backend.sync())
    assert before == (store.index_files(), os.stat(store.places.index).st_mtime_ns)


def test_one_changed_file_is_written_into_the_same_generation(tmp_path):
    store = Store(tmp_path, {"MEMORY.md": "a", "memory/x.md": "b"})
    store.backend.sync()
    store.write("memory/x.md", "changed", age_s=30)
    store.write("memory/y.md", "new")
    os.unlink(store.workspace / "MEMORY.md")
    report = store.backend.sync()
    assert ((1, 1, 1, 0), False) == (counts(report), report.rebuilt)
    assert ["oc-main.1.sqlite", "oc-main.sqlite"] == store.index_files()
    assert (["memory/x.md"], []) == (store.found("changed"), store.found("b"))
    assert fresh(store) == dump(store)


def test_a_moved_stat_alone_is_noted_without_indexing(tmp_path, monkeypatch):
    monkeypatch.setattr(syncing, "_TICK_NS", 0)
    store = Store(tmp_path, {"memory/x.md": "b"})
    store.backend.sync()
    store.write("memory/x.md", "b", age_s=30)
    assert (0, 0, 0, 1) == counts(store.backend.sync())
    connection = Index(store.places.index).read()
    assert syncing.known_stamps(connection) == store.backend._scan().stamps
    connection.close()


def test_a_change_that_keeps_size_and_time_is_seen(tmp_path):
    store = Store(tmp_path)
    file = store.write("memory/x.md", "alpha")
    store.backend.sync()
    status = file.stat()
    file.write_text("omega")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (["memory/x.md"], []) == (store.found("omega"), store.found("alpha"))


def test_a_file_that_was_fresh_when_read_is_read_again():
    """Its clock may not tick between the reading and the next change."""
    now = time.time_ns()
    assert syncing._settled((now, now, 5)) == (0, now, 5)
    assert syncing._settled((now - 10**9, now - 10**9, 5)) == (now - 10**9, now - 10**9, 5)
    whole = now // 10**9 * 10**9 - 10**9
    assert syncing._settled((whole, whole, 5)) == (0, whole, 5)


@pytest.mark.parametrize(
    ("before", "after"),
    [({}, {"chunking": {"tokens": 50}}), ({}, {"chunking": {"overlap": 0}})],
)
def test_another_budget_is_a_rebuild(tmp_path, before, after):
    store = Store(tmp_path, {"memory/x.md": "word " * 300}, **before)
    store.backend.sync()
    store.memory_search = after
    report = store.backend.sync()
    assert report.rebuilt
    assert ["oc-main.2.sqlite", "oc-main.sqlite"] == store.index_files()
    assert not store.backend.sync().rebuilt


def test_extra_paths_come_and_go_without_a_rebuild(tmp_path):
    store = Store(tmp_path, {"memory/x.md": "a", "docs/y.md": "b"})
    store.backend.sync()
    store.memory_search = {"extraPaths": ["docs"]}
    assert (1, 0, 0, 1) == counts(store.backend.sync())
    store.memory_search = {"extraPaths": []}
    assert (0, 0, 1, 1) == counts(store.backend.sync())


def test_force_writes_a_new_generation(tmp_path):
    store = Store(tmp_path, {"memory/x.md": "a"})
    store.backend.sync()
    before = dump(store)
    assert store.backend.sync(force=True).rebuilt
    assert (["oc-main.2.sqlite", "oc-main.sqlite"], before) == (store.index_files(), dump(store))


def test_many_changes_are_a_new_generation(tmp_path):
    store = Store(tmp_path, {f"memory/{n}.md": f"old {n}" for n in range(501)})
    store.backend.sync()
    for n in range(501):
        store.write(f"memory/{n}.md", f"new {n}", age_s=30)
    assert store.backend.sync().rebuilt
    assert (["memory/77.md"], []) == (store.found("new 77")[:1], store.found("old"))


def test_rebuilds_do_not_grow_the_index(tmp_path):
    store = Store(tmp_path, {f"memory/{n}.md": f"note {n} " * 50 for n in range(20)})
    sizes = set()
    for _ in range(20):
        store.backend.sync(force=True)
        sizes.add(os.path.getsize(Index(store.places.index).current()))
    assert max(sizes) - min(sizes) <= 4096


def test_a_file_that_cannot_be_read_is_reported_and_does_not_write_every_time(tmp_path, monkeypatch):
    monkeypatch.setattr(syncing, "_TICK_NS", 0)
    store = Store(tmp_path, {"memory/x.md": "a", "memory/y.md": "b"})
    store.backend.sync()
    store.write("memory/z.md", "c")
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: not path.endswith("z.md") and real(path, mode))
    before = os.stat(Index(store.places.index).current()).st_mtime_ns
    report = store.backend.sync()
    assert ((0, 0, 0, 2), [("memory/z.md", "permission denied")]) == (counts(report), list(report.findings))
    assert before == os.stat(Index(store.places.index).current()).st_mtime_ns


def test_odd_bytes_are_indexed_as_far_as_they_are_text(tmp_path):
    notes = {
        "memory/nul.md": b"before\0after \xff\xfe staging\n",
        "memory/empty.md": "",
        "memory/blank.md": " \n\n\t\n",
        "memory/cr.md": "one\r\ntwo\rthree\r\n",
        "memory/line.md": "数据" * 40_000,
    }
    store = Store(tmp_path, notes)
    report = store.backend.sync()
    assert 5 == report.added
    assert ["memory/nul.md"] == store.found("staging")
    assert ["memory/cr.md"] == store.found("three")
    assert {"memory/line.md"} == set(store.found("数据"))
    chunks, _, files = dump(store)
    assert {"memory/empty.md": 0, "memory/blank.md": 0} == {f[0]: f[3] for f in files if f[0][7] in "eb"}
    assert all(hashlib.sha256(text.encode()).digest() == digest for *_, digest, _, text in chunks)


def test_headings_above_a_chunk_belong_to_it(tmp_path):
    text = "# Servers\n\n## Staging\n" + "\n".join(f"- machine {n} runs" for n in range(200)) + "\n## Other\nlast\n"
    store = Store(tmp_path, {"memory/hosts.md": text})
    store.backend.sync()
    contexts = [row[4] for row in dump(store)[0]]
    assert "hosts" == contexts[0]
    assert {"hosts Servers Staging"} == set(contexts[1:])


NAMES = [f"memory/{name}.md" for name in "abc"] + ["MEMORY.md", "memory/sub/d.md"]
TEXTS = ["", "staging", "# T\nx\n", "数据库 部署\n", "long line " * 90, "- a\n" * 150, "é\r\nü"]
EDITS = st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(TEXTS) | st.none()), min_size=1, max_size=8)


@settings(max_examples=40)
@given(st.lists(EDITS, min_size=1, max_size=4))
def test_after_any_edits_the_index_is_as_if_built_from_nothing(tmp_path_factory, rounds):
    store = Store(tmp_path_factory.mktemp("prop"))
    age = 1000
    for edits in rounds:
        for name, text in edits:
            age -= 1
            if text is None:
                (store.workspace / name).unlink(missing_ok=True)
            else:
                store.write(name, text, age_s=age)
        store.backend.sync()
    assert fresh(store) == dump(store)
