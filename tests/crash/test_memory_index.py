"""`memory index` is killed anywhere, with readers beside it: the old index answers, the next run goes on."""

import os
import subprocess
import threading
import time

import pytest

from oc.base.files import lock
from tests.memory.store import Store
from tests.support import Oc, run_killed

KILLS = 10


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path)
    for n in range(300):
        lines = "".join(f"- item {k} of note {n}: 数据库部署 staging host-{n * 7 + k} moved\n" for k in range(40))
        made.write(f"memory/{n}.md", f"# Note {n}\n\n{lines}")
    return made


def only_current(store):
    names = store.index_files()
    assert len(names) == 2, names
    assert names[1] == "oc-main.sqlite"
    return names


def test_before_every_disk_operation(tmp_path):
    """A first build and a forced rebuild, killed at each operation that is not SQLite's own."""
    store, oc = Store(tmp_path, {"memory/x.md": "staging"}), Oc(tmp_path)
    for first in (True, False):
        for at in range(1, 40):
            if first:
                for name in store.index_files():
                    os.unlink(store.home / "memory" / name)
            code, points = run_killed(oc, at, ["memory", "index", "--force"])
            if points:
                break
            assert code == -9
            assert store.found("staging") == ["memory/x.md"]
            only_current(store)
        assert at > 6


@pytest.mark.parametrize("change", [False, True])
def test_at_any_moment_with_readers_beside(store, change):
    """A rebuild, or one transaction over many files; `change` makes it the latter."""
    oc = Oc(store.home.parent)
    store.backend.sync()
    started = time.perf_counter()
    oc("memory", "index", "--force")
    whole_s = time.perf_counter() - started
    stop, wrong = threading.Event(), []

    def read():
        reader = store.backend
        while not stop.is_set():
            try:
                found = [hit.path for hit in reader.search("host-700", sync=False).hits]
            except Exception as error:  # noqa: BLE001 - whatever a reader meets is shown below
                found = [repr(error)]
            if "memory/100.md" not in found:
                wrong.append(found)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in readers:
        thread.start()
    try:
        for kill in range(KILLS):
            if change:
                for n in range(0, 300, 4):
                    if n != 100:
                        store.write(f"memory/{n}.md", f"changed {kill} of {n}\n" * 40, age_s=1000 - kill)
            process = oc.popen("memory", "index", *([] if change else ["--force"]), stdout=subprocess.DEVNULL)
            try:
                process.wait(timeout=whole_s * (0.3 + 0.7 * kill / KILLS))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    finally:
        stop.set()
        for thread in readers:
            thread.join()
    assert wrong == []
    done = oc("memory", "index")
    assert (done.status, done.err) == (0, "")
    only_current(store)
    assert "memory/100.md" in store.found("host-700")
    if change:
        assert "memory/8.md" in store.found(f"changed {KILLS - 1} of 8")


def test_a_stale_lock_of_a_killed_writer_is_taken_over(store):
    oc = Oc(store.home.parent)
    process = oc.popen("memory", "index", stdout=subprocess.DEVNULL)
    while not os.path.lexists(store.places.index + ".lock") and process.poll() is None:
        pass
    process.kill()
    process.wait()
    assert oc("memory", "index", "--lock-timeout", "0").status == 0
    only_current(store)


def test_searches_beside_a_rebuild_never_fail(store):
    oc = Oc(store.home.parent)
    store.backend.sync()
    with lock(store.places.index):
        running = [oc.popen("memory", "search", "host-700", stdout=subprocess.PIPE) for _ in range(4)]
        out = [process.communicate(timeout=60)[0] for process in running]
    assert {0} == {process.returncode for process in running}
    assert all(b"memory/100.md" in text for text in out)
