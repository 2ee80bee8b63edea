"""Lists the notes of a workspace with a stat each: the root files, memory/ and below, then the extra paths.

Symbolic links are not followed, at the root or below; what cannot be read is a finding, never an error.
Behaviour follows openclaw 2026.3.13, listMemoryFiles.
"""

import os
import stat
from collections.abc import Iterable
from operator import attrgetter

from oc.base.typed import NamedTuple
from oc.memory import paths

# mtime in ns, ctime in ns, size in bytes: what tells, without reading, that a file is as it was. ctime moves when
# somebody sets mtime back. A plain tuple, since thousands of them are compared before every search.
Stamp = tuple[int, int, int]
_LINK = "a symbolic link, not read"
_NO_FILE = "no regular file, not read"


class Finding(NamedTuple):
    path: str
    message: str


class Listing:
    """`stamps` is in reading order, keys as in hits; `places` has the file of a key that lies outside the workspace.

    `unread` are those of the findings that tell of a note or folder that should have been read and could not be.
    """

    __slots__ = ("findings", "places", "stamps", "unread", "workspace")

    def __init__(self, workspace: str) -> None:
        self.workspace = workspace
        self.stamps: dict[str, Stamp] = {}
        self.places: dict[str, str] = {}
        self.findings: list[Finding] = []
        self.unread: list[Finding] = []

    def fail(self, path: str, error: OSError) -> None:
        finding = Finding(path, (error.strerror or "cannot be read").lower())
        self.findings.append(finding)
        self.unread.append(finding)

    def place(self, path: str) -> str:
        return self.places.get(path) or os.path.join(self.workspace, path)


def stamp_of(status: os.stat_result) -> Stamp:
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size


def scan(workspace: str, extra: Iterable[str] = ()) -> Listing:
    """Returns the notes of a workspace; `extra` are the extra paths as configured, files or folders."""
    listing = Listing(os.path.abspath(workspace))
    _scan_roots(listing)
    _walk(listing, os.path.join(listing.workspace, paths.FOLDER), paths.FOLDER)
    covered = {os.path.realpath(os.path.join(listing.workspace, paths.FOLDER))}
    for path in paths.extra_paths(listing.workspace, extra):
        _scan_extra(listing, path, covered)
    return listing


def _scan_roots(listing: Listing) -> None:
    seen = set()
    for name in paths.ROOT_NOTES:
        status = _status(listing, os.path.join(listing.workspace, name), name, missing_is_fine=True)
        if status is None or not _is_note(listing, name, status):
            continue
        # A file system that ignores case shows one file under both names; two names of one file elsewhere are two.
        identity = (status.st_dev, status.st_ino)
        if identity in seen and name not in os.listdir(listing.workspace):
            continue
        seen.add(identity)
        listing.stamps[name] = stamp_of(status)


def _status(listing: Listing, place: str, name: str, *, missing_is_fine: bool = False) -> os.stat_result | None:
    try:
        return os.lstat(place)
    except OSError as error:
        if not (missing_is_fine and isinstance(error, FileNotFoundError | NotADirectoryError)):
            listing.fail(name, error)
        return None


def _is_note(listing: Listing, name: str, status: os.stat_result) -> bool:
    if stat.S_ISREG(status.st_mode):
        return True
    listing.findings.append(Finding(name, _LINK if stat.S_ISLNK(status.st_mode) else _NO_FILE))
    return False


def _scan_extra(listing: Listing, place: str, covered: set[str]) -> None:
    name = paths.relative(listing.workspace, place)
    status = _status(listing, place, name)
    if status is None:
        return
    if stat.S_ISDIR(status.st_mode):
        real = os.path.realpath(place)
        if real in covered:
            return
        covered.add(real)
        inside = [c for c in covered if c.startswith(real + os.sep)]
        _walk(listing, place, name, skip=inside)
    elif _is_note(listing, name, status) and paths.is_note_name(place) and not _is_covered(listing, place, covered):
        _keep(listing, name, os.path.dirname(place), status)


def _is_covered(listing: Listing, place: str, covered: set[str]) -> bool:
    real = os.path.realpath(place)
    roots = (os.path.realpath(os.path.join(listing.workspace, n)) for n in paths.ROOT_NOTES if n in listing.stamps)
    return real in roots or any(real.startswith(c + os.sep) for c in covered)


def _keep(listing: Listing, name: str, folder: str, status: os.stat_result) -> None:
    if not name.isascii() and not _is_utf8(name):
        listing.findings.append(Finding(name, "the name is not UTF-8, not read"))
    elif name not in listing.stamps:
        listing.stamps[name] = (status.st_mtime_ns, status.st_ctime_ns, status.st_size)
        if name.startswith(".."):
            listing.places[name] = os.path.join(folder, os.path.basename(name))


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _walk(listing: Listing, folder: str, name: str, skip: Iterable[str] = ()) -> None:
    """Adds the notes below a folder; `skip` are real paths of folders that are listed already."""
    pending = [(folder, name)]
    skipped = frozenset(skip)
    while pending:
        folder, name = pending.pop()
        prefix = "" if name == "." else f"{name}/"
        below = []
        for entry in _entries(listing, folder, name):
            child = prefix + entry.name
            is_note = child.endswith(paths.ENDING)
            if is_note and entry.is_file(follow_symlinks=False):
                # Thousands of files pass here before every search.
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError as error:
                    listing.fail(child, error)
                    continue
                _keep(listing, child, folder, status)
            elif entry.is_dir(follow_symlinks=False):
                if not skipped or os.path.realpath(entry.path) not in skipped:
                    below.append((entry.path, child))
            elif is_note:
                listing.findings.append(Finding(child, _LINK if entry.is_symlink() else _NO_FILE))
        pending += reversed(below)


def _entries(listing: Listing, folder: str, name: str) -> list[os.DirEntry[str]]:
    try:
        if os.path.islink(folder):
            listing.findings.append(Finding(name, _LINK))
            return []
        with os.scandir(folder) as found:
            return sorted(found, key=attrgetter("name"))
    except FileNotFoundError:
        return []
    except OSError as error:
        listing.fail(name, error)
        return []
