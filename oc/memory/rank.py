"""How well a chunk answers a query, by words: coverage first, then bm25, then how close together the words stand. Pure.

Coverage is the share of the query's mass that stands in the chunk, mass being rarity (idf) times the unit's weight.
bm25 alone cannot say "nothing here": it always has a best. Coverage can, so a query of which almost nothing is found
is answered with nothing.
"""

import math
from collections.abc import Sequence

from oc.base.typed import NamedTuple
from oc.memory.query import Unit

# Below so many chunks rarity is judged as if there were so many, else one note could tell nothing from everything.
_MIN_CHUNKS = 50
# Scores are on the scale of openclaw's minScore, whose default .35 means "enough": half of it is coverage, half how
# much of the query stands close together. Of 1,190 questions in each of two languages .15 keeps all but one in a
# thousand of those that are answered; of questions about something else it leaves one in fifteen.
ENOUGH_SCORE = 0.35
ENOUGH_EVIDENCE = 0.15
# How much of a pair's mass counts when no chunk has it, by how many of its neighbours are found: a pair between two
# found ones only spans the border of two words.
_UNSEEN_PAIR = (0.5, 0.25, 0.0)


class Rated(NamedTuple):
    """The parts of a score, each 0 to 1."""

    score: float
    coverage: float
    bm25: float
    closeness: float


def rarity(chunks: int, holding: int) -> float:
    """Returns the idf of what `holding` of `chunks` chunks contain; always above 0."""
    return math.log1p((max(chunks, holding, _MIN_CHUNKS) - holding + 0.5) / (holding + 0.5))


def masses(units: Sequence[Unit], holding: Sequence[int], chunks: int) -> list[float]:
    """Returns the mass of each unit; `holding` is how many of the `chunks` chunks contain it."""
    return [
        unit.weight * rarity(chunks, count) * (1.0 if count else _unseen(units, holding, at))
        for at, (unit, count) in enumerate(zip(units, holding, strict=True))
    ]


def _unseen(units: Sequence[Unit], holding: Sequence[int], at: int) -> float:
    unit = units[at]
    if unit.kind != "pair":
        return 1.0
    before = at > 0 and holding[at - 1] and units[at - 1].text[-1] == unit.text[0]
    after = at + 1 < len(units) and holding[at + 1] and units[at + 1].text[0] == unit.text[-1]
    return _UNSEEN_PAIR[bool(before) + bool(after)]


def rate(coverage: float, bm25: float, closeness: float) -> Rated:
    """Returns the score of a chunk; `bm25` is over the best of the pool, the others are shares of the query's mass.

    With enough evidence the score is above ENOUGH_SCORE however far bm25 puts others above it: an exact hit is never
    dropped. The order is that of bm25 times the root of the evidence.
    """
    evidence = (coverage + closeness) / 2
    if evidence < ENOUGH_EVIDENCE:
        score = ENOUGH_SCORE * evidence / ENOUGH_EVIDENCE
    else:
        score = ENOUGH_SCORE + (1 - ENOUGH_SCORE) * evidence * bm25 * bm25
    return Rated(min(1.0, score), coverage, bm25, closeness)
