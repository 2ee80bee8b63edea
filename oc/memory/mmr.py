"""Maximal marginal relevance: orders hits so that near-repetitions of a better one come later. Pure.

Behaviour follows openclaw 2026.3.13 (table: tests/vectors/memory-mmr.json), but its words are of a to z alone, which
makes any two Chinese snippets the same: here a run of CJK counts as its bigrams (design D7).
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeVar

from oc.base.text import CJK, pattern

T = TypeVar("T")


def words(text: str) -> frozenset[str]:
    """Returns the distinct words of a text in lower case, each CJK run as its bigrams."""
    lowered = text.lower()
    if lowered.isascii():
        return frozenset(pattern("[a-z0-9_]+").findall(lowered))
    found: set[str] = set()
    for run in pattern(f"[{CJK}]+|(?:(?![{CJK}])\\w)+").findall(lowered):
        if pattern(f"[{CJK}]").match(run) and len(run) > 1:
            found.update(run[at : at + 2] for at in range(len(run) - 1))
        else:
            found.add(run)
    return frozenset(found)


def jaccard(a: AbstractSet[str], b: AbstractSet[str]) -> float:
    """Returns the share of common words, 1 for two empty sets."""
    if not a and not b:
        return 1.0
    common = len(a & b)
    return common / (len(a) + len(b) - common)


def rerank(hits: Sequence[T], lambda_: float, *, score: Callable[[T], float], text: Callable[[T], str]) -> list[T]:
    """Returns all hits, next always the one with the best lambda * relevance - (1 - lambda) * similarity.

    Similarity is that to the closest hit already placed. Relevance is the score, between the lowest of the hits (0)
    and the highest (1). Ties go to the higher score, then to the earlier hit; a lambda of 1 or more sorts by score.
    """
    if not hits:
        return []
    lambda_ = min(1.0, max(0.0, lambda_))
    scores = [score(hit) for hit in hits]
    if lambda_ == 1:
        return [hits[at] for at in sorted(range(len(hits)), key=lambda at: -scores[at])]
    low, span = min(scores), max(scores) - min(scores)
    relevance = [(s - low) / span if span else 1.0 for s in scores]
    word_sets = [words(text(hit)) for hit in hits]
    nearest = [0.0] * len(hits)  # similarity to the closest of those already placed
    left = list(range(len(hits)))
    order: list[T] = []
    while left:
        best = max(left, key=lambda at: (lambda_ * relevance[at] - (1 - lambda_) * nearest[at], scores[at], -at))
        left.remove(best)
        order.append(hits[best])
        for at in left:
            nearest[at] = max(nearest[at], jaccard(word_sets[best], word_sets[at]))
    return order
