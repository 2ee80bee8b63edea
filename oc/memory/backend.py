"""What every backend of the notes is to the rest of `oc`: sync, search, get, status. Nothing in here prints.

`open_backend` returns the one that the configuration names. Only the built-in index exists so far.
"""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from oc.base.typed import TYPE_CHECKING, Any, NamedTuple
from oc.config.load import Config
from oc.config.paths import Places
from oc.errors import Unavailable
from oc.memory.read import Passage
from oc.memory.scan import Finding
from oc.memory.settings import PREFIX, settings

if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object

MODES = ("auto", "keyword", "vector", "hybrid")


class Hit(NamedTuple):
    """`start_line` to `end_line` are the lines of the snippet; `chunk` are first and last line of what was ranked.

    `why` says how the score came about: coverage, bm25, closeness (0 to 1) and the words that were found.
    """

    path: str
    start_line: int
    end_line: int
    score: float
    snippet: str
    source: str
    chunk: tuple[int, int]
    why: dict[str, Any]


class SearchResult(NamedTuple):
    """`mode` is how it was searched; `warnings` are lines for people.

    On demand only: `explain` has the units of the query, `dropped` hits that are not shown, with the reason in `why`.
    """

    hits: Sequence[Hit]
    mode: str
    warnings: Sequence[str] = ()
    explain: Mapping[str, Any] = MappingProxyType({})
    dropped: Sequence[Hit] = ()


class SyncReport(NamedTuple):
    """How many files were what; `rebuilt` says that a new generation was written, `findings` what was not read."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    chunks: int = 0
    rebuilt: bool = False
    findings: Sequence[Finding] = ()


class Backend(Protocol):
    def sync(self, *, force: bool = False, lock_timeout_ms: int | None = None) -> SyncReport:
        """Brings the index up to date; raises Busy when another writer holds it for too long."""

    def search(  # noqa: PLR0913 - options, by keyword
        self,
        query: str,
        *,
        limit: int | None = None,
        min_score: float | None = None,
        mode: str = "auto",
        sources: Collection[str] = (),
        sync: bool = True,
        explain: bool = False,
        lock_timeout_ms: int | None = None,
    ) -> SearchResult:
        """Syncs what changed and searches; None is what the configuration says, no sources are all of them."""

    def get(self, path: str, from_line: float | None = None, lines: float | None = None) -> Passage:
        """Returns lines of a note; raises NotFound when there is none."""

    def status(self) -> dict[str, Any]:
        """Returns what the index holds and how far it is from the files; writes nothing."""


def open_backend(config: Config, places: Places, *, now_ms: int) -> Backend:  # noqa: ARG001
    """Returns the backend of an agent's notes; raises Unavailable when the configuration turned memory off.

    `now_ms` is the time from which the age of notes counts, for rankings that know age.
    """
    from oc.memory.sqlite.builtin import Builtin

    chosen = settings(config)
    if not chosen.enabled:
        raise Unavailable(f"memory search is off: {PREFIX}enabled is false")
    named = config.get("memory.backend")
    warnings = () if named == "builtin" else (f"memory.backend {named} is not available, the built-in index serves",)
    return Builtin(chosen, places, warnings=warnings)
