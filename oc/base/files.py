"""Every byte that `oc` puts on disk: whole-line appends, atomic replacement, OpenClaw's lock files.

Paths are strings, here and on every hot path: importing pathlib costs a fifth of a filter's start-up.

All writes go through os.write, os.fsync, os.replace, os.truncate and os.unlink, by these names, so that tests can
stop a process before each of them.
"""

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime

import orjson

from oc.base.typed import Any, BinaryIO
from oc.errors import BadInput, Busy, InputOutput, NotFound

StrPath = str | os.PathLike[str]
TRANSCRIPT_STALE_MS = 30 * 60 * 1000
STORE_STALE_MS = 30 * 1000
# What link() says on file systems without hard links.
_NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK)


def make_folder(path: StrPath, mode: int = 0o700) -> None:
    os.makedirs(path, mode=mode, exist_ok=True)


def write_all(descriptor: int, data: bytes) -> None:
    """Writes all of `data`: one write() unless the system takes less."""
    view = memoryview(data)
    while view:
        written = os.write(descriptor, view)
        if written == 0:
            raise InputOutput("the system wrote nothing")
        view = view[written:]


def append(path: StrPath, data: bytes, mode: int = 0o600) -> int:
    """Appends whole lines and returns the offset at which `data` starts; on disk (fsync) when it returns.

    A file that does not end in a line feed gets one first, else a torn tail would swallow the new line.
    A write that fails half-way is cut off again. The caller holds the lock.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), mode)
    try:
        size = os.fstat(descriptor).st_size
        torn = size > 0 and _byte_at(descriptor, size - 1) != b"\n"
        try:
            write_all(descriptor, b"\n" + data if torn else data)
            os.fsync(descriptor)
        except OSError as error:
            with suppress(OSError):
                os.truncate(path, size)
            error.filename = error.filename or os.fspath(path)
            raise
        return size + torn
    finally:
        os.close(descriptor)
        if size == 0:
            sync_folder(os.path.dirname(path) or ".")


def _byte_at(descriptor: int, offset: int) -> bytes:
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, 1)


def replace(path: StrPath, data: bytes, mode: int | None = None) -> None:
    """Puts `data` in place of the file atomically: temp file beside it, fsync, rename. A symlink's target is replaced.

    The mode is that of the old file, or 0600 for a new one, unless given.
    """
    target = os.path.realpath(path)
    if mode is None:
        try:
            mode = os.stat(target).st_mode & 0o7777
        except FileNotFoundError:
            mode = 0o600
    temp = f"{target}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    try:
        descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        try:
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temp, target)
    except OSError as error:
        error.filename = os.fspath(path)
        error.filename2 = None
        with suppress(OSError):
            os.unlink(temp)
        raise
    sync_folder(os.path.dirname(target))


def replace_keeping(path: StrPath, data: bytes, before: bytes, backup: str) -> str:
    """Replaces a file as `replace` does, what it held put into `backup` first, whose name it returns.

    Where that fails there is no backup either, as long as the file is the one from before.
    """
    status = os.stat(path)
    mode = status.st_mode & 0o777
    replace(backup, before, mode)
    try:
        replace(path, data, mode)
    except (OSError, InputOutput):
        if os.path.samestat(os.stat(path), status):
            _unlink(backup)
        raise
    return backup


def free_name(name: str) -> str:
    """Returns the name, counted up until it is nobody's: one process may keep two copies within a millisecond."""
    found, count = name, 1
    while os.path.lexists(found):
        count += 1
        found = f"{name}.{count}"
    return found


def open_output(path: StrPath) -> BinaryIO:
    """Opens a file that the user named for output (`--report FILE`); what it held before is gone."""
    return open(path, "wb")


def open_input(path: StrPath) -> BinaryIO:
    """Opens a file that is read to its end; NotFound without it, BadInput for a device, whose end may never come.

    A pipe may be read: that is what `<(...)` gives.
    """
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            raise BadInput("not a regular file", path=path)
        return open(path, "rb", buffering=1 << 17)
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound("no such file", path=path) from None


def need_regular(path: StrPath) -> None:
    """Raises unless there is a regular file, or a link to one; opens nothing, so never blocks.

    NotFound without it, BadInput for a pipe or a device, IsADirectoryError as opening a folder does.
    """
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound("no such file", path=path) from None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if not stat.S_ISREG(mode):
        raise BadInput("not a regular file", path=path)


def sync_folder(path: StrPath) -> None:
    """Makes a new or renamed name durable; where folders cannot be synced (Windows) there is nothing to do."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def lock(path: StrPath, *, timeout_ms: int = 10_000, stale_ms: int = TRANSCRIPT_STALE_MS) -> Iterator[None]:
    """Holds `<path>.lock` in OpenClaw's format; raises Busy, with the holder's pid, after `timeout_ms`.

    The lock of a dead or recycled process is taken over at once; one older than `stale_ms` too.
    """
    folder, name = os.path.split(os.path.abspath(path))
    target = os.path.join(os.path.realpath(folder), name + ".lock")
    descriptor = _acquire(target, timeout_ms, stale_ms)
    try:
        yield
    finally:
        _release(target, descriptor)


def _acquire(target: str, timeout_ms: int, stale_ms: int) -> int:
    deadline = time.monotonic() + timeout_ms / 1000
    delay_s = 0.002
    while True:
        descriptor = None if os.path.lexists(target) else _place(target)
        if descriptor is not None:
            return descriptor
        holder = _take_over(target, stale_ms)
        if holder is None:
            continue
        if time.monotonic() >= deadline:
            raise Busy(
                f"locked by process {holder or 'unknown'}", path=target, hint="try again, or wait with --lock-timeout"
            )
        # Waiters must not wake in step: the low bits of the clock spread them.
        spread = 0.5 + time.monotonic_ns() % 1000 / 1000
        time.sleep(min(delay_s * spread, max(0.001, deadline - time.monotonic())))
        delay_s = min(0.05, delay_s * 1.5)


def _place(target: str) -> int | None:
    """Makes the lock file, whole with its owner in it, and returns it open; None when there is one already.

    A process killed between making an empty file and naming itself in it would lock everybody out until that is stale.
    """
    temp = f"{target}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    descriptor = -1
    try:
        descriptor = os.open(temp, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        write_all(descriptor, _lock_text())
        try:
            os.link(temp, target)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            os.replace(temp, target)
            return descriptor
    except OSError as error:
        if descriptor >= 0:
            os.close(descriptor)
            _unlink(temp)
        if isinstance(error, FileExistsError):
            return None
        error.filename, error.filename2 = target, None
        raise
    _unlink(temp)
    return descriptor


def sweep_temps(path: StrPath) -> None:
    """Removes what killed processes left of writing `path` or its lock: `<name>[.lock].<pid>-<hex>.tmp` beside it."""
    folder, name = os.path.split(os.path.abspath(path))
    try:
        found = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return
    for other in found:
        if other.startswith(name + ".") and other.endswith(".tmp"):
            pid = other.split(".")[-2].partition("-")[0]
            if pid.isdecimal() and not is_alive(int(pid)):
                _unlink(os.path.join(folder, other))


def _unlink(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)


def _lock_text() -> bytes:
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    owner: dict[str, Any] = {"pid": os.getpid(), "createdAt": now}
    started = start_time(os.getpid())
    if started is not None:
        owner["starttime"] = started
    return orjson.dumps(owner, option=orjson.OPT_INDENT_2)


def _release(target: str, descriptor: int) -> None:
    """Removes the lock unless somebody took it over meanwhile."""
    try:
        _hold(descriptor)
        if _is_there(target, descriptor):
            os.unlink(target)
    finally:
        os.close(descriptor)


def _hold(descriptor: int) -> None:
    """Keeps others who look at the same lock file waiting until this descriptor is closed."""
    try:
        import fcntl
    except ImportError:  # Windows: a stale lock is taken over without the guard
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX)


def _is_there(target: str, descriptor: int) -> bool:
    """Says whether the path still names the open file, not another one put in its place."""
    mine = os.fstat(descriptor)
    try:
        there = os.stat(target)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (mine.st_dev, mine.st_ino)


def _take_over(target: str, stale_ms: int) -> int | None:
    """Removes a stale lock and returns None; returns the holder's pid (0: not known) when it stands.

    flock on the lock file itself keeps two takers, and a taker and the holder, from removing a fresh lock of a third.
    """
    try:
        descriptor = os.open(target, os.O_RDWR)
    except FileNotFoundError:
        return None
    try:
        _hold(descriptor)
        if not _is_there(target, descriptor):
            return None
        pid, stale = _judge(os.read(descriptor, 4096), os.fstat(descriptor).st_mtime, stale_ms)
        if not stale:
            return pid
        # A holder that is dead by now may have let go just before: what stands there then is somebody else's.
        if _is_there(target, descriptor):
            os.unlink(target)
        return None
    finally:
        os.close(descriptor)


def remove_stale_lock(lock_file: str, stale_ms: int) -> bool:
    """Removes the lock file of an owner that is gone, as one who wants the lock would; False while it stands."""
    return _take_over(lock_file, stale_ms) is None


def _judge(text: bytes, modified_s: float, stale_ms: int) -> tuple[int, bool]:
    """Returns the holder's pid (0: none stated) and whether the lock is stale."""
    try:
        owner = orjson.loads(text)
        pid = owner["pid"] if isinstance(owner["pid"], int) and owner["pid"] > 0 else 0
    except (ValueError, KeyError, TypeError):
        owner, pid = {}, 0
    too_old = (time.time() - modified_s) * 1000 > stale_ms
    if pid == 0:  # somebody may be just writing it
        return 0, too_old
    started = start_time(pid)
    dead = not is_alive(pid)
    recycled = isinstance(owner.get("starttime"), int) and started is not None and started != owner["starttime"]
    return pid, dead or recycled or too_old


def is_alive(pid: int) -> bool:
    """Says whether a process of that number runs; where that cannot be asked (Windows) it does."""
    if os.name == "nt":
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):  # a lock may name any number
        return False
    except PermissionError:
        return True
    try:
        return _process_fields(pid)[0] != "Z"
    except (OSError, IndexError):
        return True


def start_time(pid: int) -> int | None:
    """Returns field 22 of /proc/<pid>/stat, by which a recycled pid is told; None where there is no /proc."""
    try:
        return int(_process_fields(pid)[19])
    except (OSError, IndexError, ValueError):
        return None


def _process_fields(pid: int) -> list[str]:
    """Returns the fields of /proc/<pid>/stat from the third on: the second may hold spaces and parentheses."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()
