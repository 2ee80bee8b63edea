import json
import multiprocessing
import os
import subprocess
import sys
import time

import pytest

from oc.base import files
from oc.base.files import append, is_alive, lock, replace, sweep_temps
from oc.errors import Busy
from tests.support import ROOT


def test_append_starts_a_new_line_behind_a_torn_one(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a":1}\n{"torn')
    assert append(path, b'{"b":2}\n') == 15 + len(b"")
    assert path.read_bytes() == b'{"a":1}\n{"torn\n{"b":2}\n'


def test_append_makes_private_files(tmp_path):
    append(tmp_path / "a", b"x\n")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


def test_a_full_disk_leaves_the_file_as_it_was():
    with pytest.raises(OSError, match="No space left"):
        append("/dev/full", b"x\n")


def test_replace_keeps_the_mode_and_follows_a_symlink(tmp_path):
    target = tmp_path / "target"
    target.write_bytes(b"old")
    target.chmod(0o640)
    (tmp_path / "link").symlink_to(target)
    replace(tmp_path / "link", b"new")
    assert target.read_bytes() == b"new"
    assert target.stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "link").is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["link", "target"]


def test_replace_into_a_missing_folder_names_the_file(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        replace(tmp_path / "no" / "file", b"x")
    assert error.value.filename == str(tmp_path / "no" / "file")


def test_the_lock_file_has_openclaws_form(tmp_path):
    with lock(tmp_path / "a.jsonl"):
        text = (tmp_path / "a.jsonl.lock").read_text()
        owner = json.loads(text)
        assert owner["pid"] == os.getpid()
        assert text == json.dumps(owner, indent=2)
        assert list(owner)[:2] == ["pid", "createdAt"]
    assert not (tmp_path / "a.jsonl.lock").exists()


def test_a_live_holder_is_named(tmp_path):
    holder = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        (tmp_path / "f.lock").write_text(json.dumps({"pid": holder.pid, "createdAt": "2026-03-16T09:00:00.000Z"}))
        with pytest.raises(Busy, match=f"process {holder.pid}"), lock(tmp_path / "f", timeout_ms=30):
            pass
        assert (tmp_path / "f.lock").exists()
    finally:
        holder.kill()
        holder.wait()


@pytest.mark.parametrize(
    "owner", [{"pid": 2**22 + 12345}, {"pid": os.getpid(), "starttime": 1}], ids=["dead", "recycled"]
)
def test_a_lock_without_its_owner_is_taken_over(tmp_path, owner):
    if "starttime" in owner and not os.path.exists("/proc/self/stat"):
        pytest.skip("no /proc on this system: a recycled pid cannot be told")
    (tmp_path / "f.lock").write_text(json.dumps(owner))
    with lock(tmp_path / "f", timeout_ms=0):
        assert json.loads((tmp_path / "f.lock").read_text())["pid"] == os.getpid()


def test_a_lock_that_is_just_being_written_stands_until_it_is_old(tmp_path):
    path = tmp_path / "f.lock"
    path.write_text("")
    with pytest.raises(Busy), lock(tmp_path / "f", timeout_ms=10):
        pass
    old = time.time() - 3600
    os.utime(path, (old, old))
    with lock(tmp_path / "f", timeout_ms=0):
        pass


def test_a_lock_taken_over_by_somebody_is_not_removed(tmp_path):
    with lock(tmp_path / "f"):
        os.unlink(tmp_path / "f.lock")
        (tmp_path / "f.lock").write_text("another's")
    assert (tmp_path / "f.lock").read_text() == "another's"


def test_a_lock_placed_while_the_old_one_was_judged_is_not_removed(tmp_path, monkeypatch):
    """The old holder lets go and ends after its file was opened: its pid is dead, but the path is another's."""
    path, placed = tmp_path / "f", tmp_path / "f.lock"
    placed.write_text(json.dumps({"pid": os.getpid()}))
    judge = files._judge
    judged = []

    def meanwhile(text, modified_s, stale_ms):
        judged.append(text)
        if len(judged) == 1:
            placed.unlink()
            placed.write_text(json.dumps({"pid": os.getpid(), "third": True}))
            return 7, True
        return judge(text, modified_s, stale_ms)

    monkeypatch.setattr(files, "_judge", meanwhile)
    with pytest.raises(Busy), lock(path, timeout_ms=0):
        pass
    assert "third" in placed.read_text()


LOCKED = """
import os, sys
count = 0
def wrap(name):
    real = getattr(os, name)
    def call(*args, **kwargs):
        global count
        count += 1
        if count == int(sys.argv[2]):
            os.kill(os.getpid(), 9)
        return real(*args, **kwargs)
    setattr(os, name, call)
for name in ("open", "write", "link", "unlink", "fstat", "close"):
    wrap(name)
from oc.base.files import lock
with lock(sys.argv[1]):
    pass
print(count)
"""


def test_a_process_killed_at_any_step_of_locking_locks_nobody_out(tmp_path):
    path = tmp_path / "f"
    for at in range(1, 50):
        done = subprocess.run(
            [sys.executable, "-c", LOCKED, path, str(at)], cwd=ROOT, capture_output=True, text=True, check=False
        )
        with lock(path, timeout_ms=0):
            pass
        if done.returncode == 0:
            break
        assert done.returncode == -9, done.stderr
    assert at > 6
    assert int(done.stdout) == at - 1


def _count(path, times):
    for _ in range(times):
        with lock(path):
            number = int(path.read_text())
            path.write_text(str(number + 1))


def test_eight_processes_never_hold_it_together(tmp_path):
    path = tmp_path / "count"
    path.write_text("0")
    # A stale lock to fight over at the start.
    (tmp_path / "count.lock").write_text(json.dumps({"pid": 2**22 + 12345}))
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_count, args=(path, 25)) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [w.exitcode for w in workers] == [0] * 8
    assert path.read_text() == "200"


def test_no_file_of_the_package_opens_for_writing_elsewhere():
    """One door to the disk: open(..., "w") and friends stand nowhere else (SQLite writes its own files)."""
    import ast

    writers = []
    for path in sorted((ROOT / "oc").rglob("*.py")):
        if path.name == "files.py" and path.parent.name == "base":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("open", "os.fdopen"):
                mode = [*node.args[1:2], *(k.value for k in node.keywords if k.arg == "mode")]
                text = mode[0].value if mode and isinstance(mode[0], ast.Constant) else "r"
                if set(str(text)) & set("wax+"):
                    writers.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert writers == []


def test_a_process_is_alive_or_not():
    child = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    assert is_alive(os.getpid())
    assert not is_alive(int(child.stdout))
    assert not is_alive(10**30)


def test_temporary_files_of_dead_processes_are_swept_and_no_others(tmp_path):
    dead = 2**22 + 1  # above what a pid can be
    left = [f"a.jsonl.{dead}-ab12.tmp", f"a.jsonl.lock.{dead}-ab12.tmp", f"a.jsonl.{10**30}-ab12.tmp"]
    kept = [
        "a.jsonl",
        f"a.jsonl.{os.getpid()}-ab12.tmp",
        f"b.jsonl.{dead}-ab12.tmp",
        "a.jsonl.x-ab12.tmp",
        "a.jsonl.tmp",
    ]
    for name in (*left, *kept):
        (tmp_path / name).touch()
    sweep_temps(tmp_path / "a.jsonl")
    assert sorted(kept) == sorted(os.listdir(tmp_path))
    sweep_temps(tmp_path / "none" / "a.jsonl")
