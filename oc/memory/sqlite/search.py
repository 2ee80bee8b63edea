"""Keyword search in an index: which chunks hold which units, a pool by bm25, then the ranking of memory/rank.py."""

from collections.abc import Sequence

from oc.base.jsonl import dump
from oc.base.typed import Any, NamedTuple
from oc.memory import query as queries
from oc.memory.backend import Hit
from oc.memory.match import Place, closeness, places
from oc.memory.query import Unit
from oc.memory.rank import Rated, masses, rate
from oc.memory.snippet import snippet
from oc.memory.sqlite.driver import Connection

# bm25 decides who is rated at all, the rating without closeness who is read.
_POOL = 200
_READ = 40
# The weights of bm25: a match in the name or the headings above counts half of one in the text.
_SELECT_POOL = """
SELECT rowid, -bm25(chunks_fts, 1.0, 0.5) FROM chunks_fts WHERE chunks_fts MATCH ?
ORDER BY bm25(chunks_fts, 1.0, 0.5), rowid LIMIT ?
"""
_SELECT_ROWS = """
SELECT c.id, f.path, f.source, c.start_line, c.end_line, c.text FROM chunks c JOIN files f ON f.id = c.file_id
WHERE c.id IN (SELECT value FROM json_each(?))
"""


class Terms(NamedTuple):
    """The units of a query as this index has them: the chunks that hold each, and their masses."""

    units: Sequence[Unit]
    chunks: Sequence[frozenset[int]]
    masses: Sequence[float]

    @property
    def mass(self) -> float:
        return sum(self.masses)


class Candidate(NamedTuple):
    id: int
    path: str
    source: str
    start_line: int
    end_line: int
    text: str
    rated: Rated
    found: Sequence[Place]


def terms(connection: Connection, query: str) -> Terms:
    """Looks the units of a query up; an unseen word counts as the beginning of a word if that is seen."""
    total = connection.execute("SELECT coalesce(sum(chunks), 0) FROM files").fetchone()[0]
    units, chunks = [], []
    for unit in queries.units(query):
        held = _holding(connection, unit)
        if not held:
            prefix = queries.as_prefix(unit)
            held = _holding(connection, prefix) if prefix else held
            unit = prefix if prefix and held else queries.unseen(unit)  # noqa: PLW2901
        units.append(unit)
        chunks.append(held)
    return Terms(units, chunks, masses(units, [len(held) for held in chunks], total))


def _holding(connection: Connection, unit: Unit) -> frozenset[int]:
    found = connection.execute("SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ?", (unit.match,))
    return frozenset(row[0] for row in found)


def candidates(connection: Connection, looked_up: Terms, limit: int) -> list[Candidate]:
    """Returns the best chunks, best first: by score, then path, then line."""
    pool = _pool(connection, looked_up, max(_POOL, 4 * limit))
    if not pool or not looked_up.mass:
        return []
    best = max(bm25 for _, bm25 in pool) or 1.0
    rated = []
    for number, bm25 in pool:
        mass = sum(m for m, held in zip(looked_up.masses, looked_up.chunks, strict=True) if number in held)
        share = mass / looked_up.mass
        rated.append((number, rate(share, bm25 / best, share)))
    rated.sort(key=lambda pair: (-pair[1].score, pair[0]))
    wanted = dict(rated[: max(_READ, 2 * limit)])
    rows = connection.execute(_SELECT_ROWS, (dump(list(wanted)).decode(),))
    read = [_candidate(row, wanted[row[0]], looked_up) for row in rows]
    return sorted(read, key=lambda c: (-c.rated.score, c.path, c.start_line, c.end_line))


def _pool(connection: Connection, looked_up: Terms, size: int) -> list[tuple[int, float]]:
    """Returns chunks that hold any unit with their bm25, greater is better."""
    seen = [unit.match for unit, held in zip(looked_up.units, looked_up.chunks, strict=True) if held]
    if not seen:
        return []
    return connection.execute(_SELECT_POOL, (" OR ".join(seen), size)).fetchall()


def _candidate(row: Any, rated: Rated, looked_up: Terms) -> Candidate:
    text = row[5]
    found = places(text, looked_up.units)
    near = closeness(text, found, looked_up.masses)
    here = {place.unit for place in found}
    # What stands in the note's name or the headings above is half as close as what stands beside the rest.
    around = sum(
        mass
        for at, (mass, held) in enumerate(zip(looked_up.masses, looked_up.chunks, strict=True))
        if row[0] in held and at not in here
    )
    share = (near + around / 2) / looked_up.mass
    number, path, source, start_line, end_line, _ = row
    rated = rate(rated.coverage, rated.bm25, min(share, rated.coverage))
    return Candidate(number, path, source, start_line, end_line, text, rated, found)


def hit(candidate: Candidate, looked_up: Terms) -> Hit:
    """Returns a candidate as callers see it, with the lines that answer."""
    shown = snippet(candidate.text, candidate.found, looked_up.masses)
    first = candidate.start_line + shown.first
    words = [unit.text for unit, held in zip(looked_up.units, looked_up.chunks, strict=True) if candidate.id in held]
    rated = candidate.rated
    why = {
        "coverage": round(rated.coverage, 4),
        "bm25": round(rated.bm25, 4),
        "closeness": round(rated.closeness, 4),
        "words": words,
    }
    return Hit(
        candidate.path,
        first,
        candidate.start_line + shown.last,
        round(rated.score, 6),
        shown.text,
        candidate.source,
        (candidate.start_line, candidate.end_line),
        why,
    )


def explained(looked_up: Terms) -> list[dict[str, Any]]:
    """Returns each unit of the query with how many chunks hold it and what it counts."""
    rows = zip(looked_up.units, looked_up.chunks, looked_up.masses, strict=True)
    return [
        {"text": unit.text, "kind": unit.kind, "chunks": len(held), "mass": round(mass, 4)} for unit, held, mass in rows
    ]
