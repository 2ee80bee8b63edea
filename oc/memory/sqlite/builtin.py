"""The built-in backend: one SQLite file per agent, keyword search, nothing that cannot be made anew from the notes."""

import os
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager, suppress

from oc.base.typed import Any
from oc.config.paths import Places
from oc.errors import BadInput, Busy, InputOutput, NotFound, OcError, Unavailable
from oc.memory import read
from oc.memory.backend import Hit, SearchResult, SyncReport
from oc.memory.scan import Listing, scan
from oc.memory.settings import Settings
from oc.memory.sqlite import sync as syncing
from oc.memory.sqlite.driver import MODULE, VERSION, Connection, DatabaseError, OperationalError, connect
from oc.memory.sqlite.generation import Index
from oc.memory.sqlite.schema import Budget

_LOCK_TIMEOUT_MS = 10_000
# A search that has an old index to answer from does not wait long for another writer.
_SEARCH_LOCK_TIMEOUT_MS = 1_000
_MAX_UNREAD = 8
_NO_VECTORS = "this version searches by keywords; vectors are not built"


class Builtin:
    """See backend.Backend; `warnings` are passed on with every search."""

    def __init__(self, settings: Settings, places: Places, *, warnings: Collection[str] = ()) -> None:
        self.settings = settings
        self.workspace = places.workspace
        self.index = Index(places.index)
        self.warnings = tuple(warnings)
        self.budget = Budget(settings.chunk_tokens, settings.chunk_overlap)

    def _scan(self) -> Listing:
        return scan(self.workspace, self.settings.extra_paths)

    def sync(self, *, force: bool = False, lock_timeout_ms: int | None = None) -> SyncReport:
        if not force and self.index.current() is not None:
            listing = self._scan()
            connection = self._up_to_date(listing)
            if connection is not None:
                with closing(connection):
                    self._tidy()
                    return syncing.report(connection, listing, syncing.Changes(), rebuilt=False)
        with _plain_errors(self.index), self.index.lock(_or(lock_timeout_ms, _LOCK_TIMEOUT_MS)):
            return self._write(self._scan(), force=force)

    def _up_to_date(self, listing: Listing) -> Connection | None:
        """Opens the index if it is as the notes are; None when something is to be written."""
        with _plain_errors(self.index):
            found, connection = self._compared(listing)
            if found is None or connection is None:
                return None
            if not found.any() and not found.touched:
                return connection
            connection.close()
            if found.any():
                return None
            # Only stamps have moved: noted if that can be done at once, else the files are read again next time.
            with suppress(Busy, OSError, OperationalError), self.index.lock(0):
                self._write(self._scan(), force=False)
            return self.index.read()

    def _compared(self, listing: Listing) -> tuple[syncing.Changes | None, Connection | None]:
        """Opens the index and compares it with the files; no changes and no connection when there is none that fits."""
        connection = None
        try:
            connection = self.index.read()
            if connection is not None and syncing.is_current(connection, syncing.meta_of(listing, self.budget)):
                return syncing.changes(connection, listing), connection
        except DatabaseError as error:
            if "locked" in str(error):
                raise
        if connection is not None:
            connection.close()
        return None, None

    def _changes(self, listing: Listing) -> syncing.Changes | None:
        found, connection = self._compared(listing)
        if connection is not None:
            connection.close()
        return found

    def _tidy(self) -> None:
        """Removes what a killed writer left; a live one is left alone, as is a disk that cannot be written."""
        if self.index.is_littered():
            with suppress(Busy, OSError), self.index.lock(0):
                pass

    def _write(self, listing: Listing, *, force: bool) -> SyncReport:
        """Does what is to be done; `listing` is from under the lock, since another writer may have been here before."""
        found = None if force else self._changes(listing)
        rebuilt = found is None or syncing.is_many(found, listing)
        if found is not None and not rebuilt and (found.any() or found.touched):
            try:
                syncing.update(self.index, listing, found, self.budget)
            except OperationalError:
                raise
            except DatabaseError:  # damaged: what can be rebuilt is rebuilt
                rebuilt = True
        if rebuilt:
            found = found or syncing.Changes(listing.stamps)
            syncing.rebuild(self.index, listing, self.budget)
        return self._report(listing, found or syncing.Changes(), rebuilt=rebuilt)

    def _report(self, listing: Listing, found: syncing.Changes, *, rebuilt: bool) -> SyncReport:
        connection = self.index.read()
        if connection is None:
            raise InputOutput("the index vanished while it was used", path=self.index.pointer)
        with closing(connection):
            return syncing.report(connection, listing, found, rebuilt=rebuilt)

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
        if mode in ("vector", "hybrid"):
            raise Unavailable(f"no {mode} search: {_NO_VECTORS}", hint="--mode keyword")
        if sources and "memory" not in sources:
            raise Unavailable(f"no source {', '.join(sources)}: notes are indexed only", hint="--source memory")
        warnings = list(self.warnings)
        limit = int(self.settings.max_results) if limit is None else limit
        min_score = self.settings.min_score if min_score is None else min_score
        connection = None
        trouble = None
        if sync and self.settings.on_search:
            listing = self._scan()
            if not listing.stamps and self.index.current() is None:
                # Looking creates nothing: without notes there is no index to make.
                unread = _unread(listing) or [f"there are no notes in {self.workspace}"]
                return SearchResult((), "keyword", (*warnings, *unread))
            connection = self._up_to_date(listing)
            if connection is None:
                trouble = self._sync_for_search(listing, lock_timeout_ms)
            else:
                self._tidy()
            warnings += _unread(listing)
        with _plain_errors(self.index):
            try:
                found = self._query(query, limit, min_score, connection or self._opened(trouble, warnings))
            except OperationalError:
                raise
            except DatabaseError:  # damaged in a place that the sync did not read
                if not sync:
                    raise
                self.sync(force=True, lock_timeout_ms=lock_timeout_ms)
                found = self._query(query, limit, min_score, self._opened(None, warnings))
        told = found if explain else found._replace(explain={}, dropped=())
        return told._replace(warnings=tuple(warnings))

    def _query(self, query: str, limit: int, min_score: float, connection: Connection) -> SearchResult:
        with closing(connection):
            return _search(connection, query, limit, min_score)

    def _sync_for_search(self, listing: Listing, lock_timeout_ms: int | None) -> OcError | OSError | None:
        """Returns why the index could not be brought up to date; `listing` learns what could not be read for it."""
        waits = _or(lock_timeout_ms, _LOCK_TIMEOUT_MS if self.index.current() is None else _SEARCH_LOCK_TIMEOUT_MS)
        try:
            with _plain_errors(self.index), self.index.lock(waits):
                fresh = self._scan()
                self._write(fresh, force=False)
                listing.unread += fresh.unread
        except (Busy, InputOutput, OSError) as error:
            return error
        return None

    def _opened(self, trouble: OcError | OSError | None, warnings: list[str]) -> Connection:
        """Opens the index as it is; where none can be written, one in memory serves this search."""
        connection = self.index.read()
        if connection is not None:
            if trouble is not None:
                warnings.append(f"the index is as it was, not as the notes are: {_reason(trouble)}")
            return connection
        if trouble is None:
            raise Unavailable("there is no index yet", path=self.index.pointer, hint="`oc memory index` makes it")
        if isinstance(trouble, Busy):
            raise trouble
        warnings.append(f"no index can be kept, so this search made its own: {_reason(trouble)}")
        connection = connect(":memory:", "memory")
        syncing.fill(connection, self._scan(), self.budget)
        return connection

    def get(self, path: str, from_line: float | None = None, lines: float | None = None) -> read.Passage:
        passage = read.get(self.workspace, self.settings.extra_paths, path, from_line, lines)
        if not passage.exists:
            raise NotFound("no such note", path=passage.path)
        return passage

    def status(self) -> dict[str, Any]:
        listing = self._scan()
        with _plain_errors(self.index):
            found = self._changes(listing)
            held = {} if found is None else self._held()
        place = self.index.current()
        return {
            "backend": "builtin",
            "tier": "keyword",
            "vectors": _NO_VECTORS,
            "sqlite": f"{VERSION} ({MODULE})",
            "index": place,
            "bytes": os.path.getsize(place) if place and os.path.exists(place) else 0,
            "workspace": listing.workspace,
            "notes": len(listing.stamps),
            "files": held.get("files", 0),
            "chunks": held.get("chunks", 0),
            "new": len(listing.stamps) if found is None else len(found.added),
            "changed": 0 if found is None else len(found.changed),
            "removed": 0 if found is None else len(found.removed),
            "fresh": found is not None and not found.any(),
            "findings": [finding._asdict() for finding in listing.findings],
        }

    def _held(self) -> dict[str, int]:
        connection = self.index.read()
        if connection is None:
            return {}
        with closing(connection):
            files, chunks = syncing.counts(connection)
        return {"files": files, "chunks": chunks}


def _search(connection: Connection, query: str, limit: int, min_score: float) -> SearchResult:
    from oc.memory.sqlite import search as searching

    looked_up = searching.terms(connection, query)
    hits: list[Hit] = []
    dropped: list[Hit] = []
    for candidate in searching.candidates(connection, looked_up, limit):
        if len(hits) >= limit:
            break
        made = searching.hit(candidate, looked_up)
        if made.score < min_score:
            dropped.append(_dropped(made, "below the minimum score"))
        elif _is_shown(made, hits):
            dropped.append(_dropped(made, "shown above"))
        else:
            hits.append(made)
    return SearchResult(hits, "keyword", explain={"units": searching.explained(looked_up)}, dropped=dropped)


def _dropped(made: Hit, reason: str) -> Hit:
    return made._replace(why={**made.why, "dropped": reason})


def _is_shown(made: Hit, hits: list[Hit]) -> bool:
    """Neighbouring chunks share lines: what a better hit shows is not shown again."""
    return any(h.path == made.path and h.start_line <= made.end_line and made.start_line <= h.end_line for h in hits)


def _unread(listing: Listing) -> list[str]:
    """Returns a line for each note or folder that could not be read, the first few of many."""
    lines = [f"{path}: {message}, not read" for path, message in dict.fromkeys(listing.unread)]
    more = len(lines) - _MAX_UNREAD
    return lines if more <= 0 else [*lines[:_MAX_UNREAD], f"{more} more could not be read: `oc memory status`"]


def _or(given: int | None, default: int) -> int:
    return default if given is None else given


def _reason(error: OcError | OSError) -> str:
    return error.message if isinstance(error, OcError) else (error.strerror or str(error)).lower()


@contextmanager
def _plain_errors(index: Index) -> Iterator[None]:
    """Turns SQLite's errors into those that have a status."""
    try:
        yield
    except OperationalError as error:
        text = str(error)
        if "locked" in text or "busy" in text:
            raise Busy("the index is being written", path=index.pointer) from None
        raise InputOutput(text, path=index.pointer) from None
    except DatabaseError as error:
        raise BadInput(f"the index is damaged: {error}", path=index.pointer, hint="`oc memory index --force`") from None
