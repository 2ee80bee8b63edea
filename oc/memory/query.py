"""What a query looks for: units, each an expression of the keyword index with a weight of its own. Pure.

Any string is a legal query: units are built from its letters and digits only, so no operator of FTS5 can be typed.
A string without letters and digits has no unit, and what has no unit finds nothing.
"""

from collections.abc import Iterator

from oc.base.text import pattern
from oc.base.typed import NamedTuple
from oc.memory.text import fold, in_run, is_letter, narrow

MAX_UNITS = 128
MIN_PREFIX_CHARS = 3
# Signs that hold a name together: foo_bar-1, sqlite-vec, a.b@c.com, memory/2026-05-04.md, https://pg-b.internal:5432.
_SIGNS = r"://|:\\|::|[-_./@:+#~\\=]"
_ASCII_NAME = rf"[0-9A-Za-z]+(?:(?:{_SIGNS})[0-9A-Za-z]+)*"
# A name proper, as opposed to words with a hyphen or a slash between them: it has a digit or another sign.
_PROPER = r"[0-9_.@:+#~\\=]|/.*/"
# All parts of a name together: a note that has every part but one is no answer.
_PARTS_OF_NAME = 0.3
_UNSEEN_HYPHEN = 0.5

# Words that questions are made of; they count only when a query has no others.
_STOP_WORDS = """
a about after again all also am an and any are as at be because been before being below between both but by can could
d did do does doing don down during e.g each few for from further had has have having he her here hers him his how i
i.e if in into is it its just ll m me more most my no nor not now of off on once only or other our out over own re s
same she should so some such t than that the their them then there these they this those through to too under until
up ve very was we were what when where which while who whom whose why will with would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
# Chinese pairs and a character that only ask, and characters that mostly join words, whose pairs say little.
_ASKING_PAIRS = frozenset(("怎么", "多少", "哪里", "哪个", "哪些", "哪种", "哪一", "为何", "如何", "是否", "几个"))
_ASKING_PAIRS |= frozenset(("请问", "何时", "何种"))
_ASKING = "什"
_JOINING = frozenset("的了是在和与及或吗呢吧啊么哪谁几这那有被把对从为以于之其")
_JOINING_PAIR = 0.3


class Unit(NamedTuple):
    """`match` is an FTS5 expression, `text` what it stands for (folded), `kind` word, phrase, pair, char or prefix.

    `weight` scales how much its rarity counts.
    """

    match: str
    text: str
    kind: str
    weight: float


def units(query: str) -> list[Unit]:
    """Returns the units of a query, each once, in the order of the query."""
    found: dict[tuple[str, str], Unit] = {}
    for unit in _all_units(narrow(query)):
        found.setdefault((unit.kind, unit.text), unit)
        if len(found) >= MAX_UNITS:
            break
    kept = [unit for unit in found.values() if unit.weight > 0]
    return kept or [unit._replace(weight=1.0) for unit in found.values()]


def _all_units(query: str) -> Iterator[Unit]:
    for piece, is_run in _pieces(query):
        yield from _run_units(piece) if is_run else _name_units(piece)


def _pieces(query: str) -> Iterator[tuple[str, bool]]:
    """Yields runs (True) and names (False)."""
    if query.isascii():
        for match in pattern(_ASCII_NAME).finditer(query):
            yield match[0], False
        return
    at, length = 0, len(query)
    while at < length:
        end = at
        if in_run(query[at]):
            while end < length and in_run(query[end]):
                end += 1
            yield query[at:end], True
        elif is_letter(query[at]):
            end = _name_end(query, at)
            yield query[at:end], False
        at = max(end, at + 1)


def _name_end(query: str, at: int) -> int:
    length = len(query)
    while at < length:
        if is_letter(query[at]) or "\u0300" <= query[at] <= "\u036f":
            at += 1
        elif (signs := pattern(_SIGNS).match(query, at)) and signs.end() < length and is_letter(query[signs.end()]):
            at = signs.end() + 1
        else:
            break
    return at


def _run_units(run: str) -> Iterator[Unit]:
    if len(run) == 1:
        yield Unit(f'"{run}"*', run, "char", _JOINING_PAIR if run in _JOINING else 1.0)
    for at in range(len(run) - 1):
        pair = run[at : at + 2]
        yield Unit(f'"{pair}"', pair, "pair", _pair_weight(pair))


def _pair_weight(pair: str) -> float:
    if pair in _ASKING_PAIRS or _ASKING in pair:
        return 0.0
    joining = not _JOINING.isdisjoint(pair) or all("\u3040" <= char <= "\u309f" for char in pair)
    return _JOINING_PAIR if joining else 1.0


def _name_units(name: str) -> Iterator[Unit]:
    parts = pattern(_SIGNS).split(name)
    if len(parts) == 1 or name.lower() in STOP_WORDS:
        yield _word(name, 0.0 if name.lower() in STOP_WORDS else 1.0)
        return
    proper = pattern(_PROPER).search(name) is not None
    yield Unit(f'"{name}"', fold(" ".join(parts)), "phrase", 1.0)
    for part in parts:
        yield _word(part, _PARTS_OF_NAME / len(parts) if proper else 0.0 if part.lower() in STOP_WORDS else 1.0)


def _word(text: str, weight: float) -> Unit:
    return Unit(f'"{text}"', fold(text), "word", weight)


def unseen(unit: Unit) -> Unit:
    """Returns a unit that stands in no chunk as it counts then: hyphenated words may well be written apart."""
    return unit._replace(weight=unit.weight * _UNSEEN_HYPHEN) if unit.kind == "phrase" and _is_plain(unit) else unit


def _is_plain(unit: Unit) -> bool:
    return pattern(_PROPER).search(unit.match) is None


def as_prefix(unit: Unit) -> Unit | None:
    """Returns the unit that finds words beginning like an unseen word, or None for what is no word or too short."""
    if unit.kind != "word" or len(unit.text) < MIN_PREFIX_CHARS:
        return None
    return unit._replace(match=unit.match + "*", kind="prefix", weight=unit.weight * 0.5)
