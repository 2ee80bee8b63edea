"""What tools may reach: in groups and channels, long-term memory and private transcripts are closed (D10)."""

import os

from oc.base.typed import NamedTuple
from oc.workspace.load import is_inside
from oc.workspace.names import LONG_TERM

CLOSED = "closed to a session that others read along in"
_LONG_TERM = frozenset(name.lower() for name in LONG_TERM)


class Scope(NamedTuple):
    """`private`: one reader. `transcript` is the session's own, which is open to it in any case."""

    workspace: str
    sessions: str
    transcript: str
    private: bool

    def refuses_path(self, real_path: str) -> str | None:
        """Says why a real path is closed, None when it is open."""
        if self.private:
            return None
        relative = os.path.relpath(real_path, os.path.realpath(self.workspace))
        if is_long_term(relative.replace(os.sep, "/")) or self._is_same_file(real_path):
            return CLOSED
        in_sessions = is_inside(os.path.realpath(self.sessions), real_path)
        return CLOSED if in_sessions and real_path != os.path.realpath(self.transcript) else None

    def shows(self, path: str, source: str) -> bool:
        """Says whether a hit of memory search may be shown: path as the index has it, source memory or sessions."""
        if self.private:
            return True
        if source == "sessions":
            return os.path.basename(path) == os.path.basename(self.transcript)
        return not (is_long_term(path) or self._is_same_file(os.path.join(self.workspace, path)))

    def _is_same_file(self, path: str) -> bool:
        """Says whether a file is the long-term memory under another name: a hard link, or what MEMORY.md links to."""
        found = _identity(path)
        return found is not None and any(_identity(os.path.join(self.workspace, name)) == found for name in LONG_TERM)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def is_long_term(path: str) -> bool:
    """Says whether a path relative to the workspace is the long-term memory file; case counts for nothing."""
    return os.path.normpath(path).replace(os.sep, "/").lower() in _LONG_TERM
