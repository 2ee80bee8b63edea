"""The built-in summariser: rules, no language model. It quotes what was said and never words anything anew. Pure.

The same conversation always gives the same summary. What an earlier summary held is carried on under a cap: when it
does not all fit, the oldest of each section goes first, and a section that must be there says "(none)".
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from oc.base.text import len16, pattern, weight16
from oc.compaction import facts as kinds
from oc.compaction import prompts
from oc.compaction.facts import Fact, facts, sentences, short
from oc.compaction.identifiers import KINDS, Identifier, ranked
from oc.message.shapes import Message, text

MAX_TOKENS = 4000
PREFIX_MAX_TOKENS = 1200
MAX_VALUES = 80
NOTHING = "(none)"
_CARRIED = -1_000_000  # order of what comes from the previous summary: before everything new

_LAYOUT = {
    prompts.GOAL: (kinds.REQUEST,),
    prompts.CONSTRAINTS: (kinds.CONSTRAINT,),
    prompts.DONE: (kinds.DONE,),
    prompts.IN_PROGRESS: (kinds.DOING,),
    prompts.BLOCKED: (kinds.BLOCKED,),
    prompts.DECISIONS: (kinds.DECISION,),
    prompts.NEXT: (kinds.NEXT, kinds.QUESTION),
    prompts.CONTEXT: (kinds.VALUE, kinds.ERROR),
}
_PREFIX_LAYOUT = {
    prompts.ORIGINAL_REQUEST: (kinds.REQUEST,),
    prompts.EARLY_PROGRESS: (kinds.DONE, kinds.DOING, kinds.DECISION),
    prompts.FOR_SUFFIX: (kinds.CONSTRAINT, kinds.BLOCKED, kinds.NEXT, kinds.QUESTION, kinds.VALUE, kinds.ERROR),
}
# How many facts of a section a summary takes at most; of what is under way only the last words count.
_MOST = {prompts.GOAL: 14, prompts.IN_PROGRESS: 3, prompts.BLOCKED: 6, prompts.NEXT: 10}
_MOST_OTHER = 30
_MARKS = {prompts.DONE: "- [x] ", prompts.IN_PROGRESS: "- [ ] "}
# Headings of other summarisers, and where their lines belong.
_OTHER_HEADINGS = {
    "decisions": prompts.DECISIONS,
    "open todos": prompts.NEXT,
    "constraints/rules": prompts.CONSTRAINTS,
    "pending user asks": prompts.GOAL,
    "original request": prompts.GOAL,
    "early progress": prompts.DONE,
}
_IDENTIFIER_LINE = rf"^({'|'.join(KINDS)}): (?=`)"


class Line(NamedTuple):
    """A line of a section; the dearest and newest are taken first."""

    section: str
    text: str
    order: int
    weight: int


def summarise(messages: Sequence[Message], previous_summary: str | None = None, *, max_tokens: int = MAX_TOKENS) -> str:
    """Returns the summary of a history, at most about `max_tokens` by the estimate, headings apart."""
    old, old_values = carried(previous_summary or "")
    lines = old + list(_lines(facts(messages), _LAYOUT))
    values = list(dict.fromkeys([*ranked(_weighed(messages)), *old_values]))
    return _laid_out(prompts.SECTIONS, lines, values, max_tokens)


def summarise_prefix(messages: Sequence[Message], *, max_tokens: int = PREFIX_MAX_TOKENS) -> str:
    """Returns the summary of the first part of a turn whose last part stays."""
    lines = list(_lines(facts(messages), _PREFIX_LAYOUT))
    return _laid_out(prompts.PREFIX_SECTIONS, lines, ranked(_weighed(messages)), max_tokens)


def _lines(found: Iterable[Fact], layout: dict[str, tuple[str, ...]]) -> Iterator[Line]:
    sections = {kind: section for section, taken in layout.items() for kind in taken}
    first = True
    for fact in found:
        weight = fact.weight
        if fact.kind == kinds.REQUEST and first:
            weight, first = 2, False
        yield Line(sections[fact.kind], fact.text, fact.order, weight)


def _weighed(messages: Iterable[Message]) -> Iterator[tuple[str, int]]:
    """Yields the texts in which identifiers are looked for; what the user wrote weighs more."""
    for message in messages:
        role = message.get("role")
        if role in ("user", "assistant", "custom"):
            yield text(message), 3 if role == "user" else 1
        elif role == "toolResult" and message.get("isError"):
            yield text(message)[:2000], 1


def carried(summary: str) -> tuple[list[Line], list[Identifier]]:
    """Returns the lines of an earlier summary, by whomever it was written, and the identifiers it lists."""
    lines: list[Line] = []
    values: list[Identifier] = []
    section = prompts.CONTEXT
    for number, raw in enumerate(summary.split("\n")):
        if raw.lstrip().startswith("#"):
            section = _section_of(raw)
            continue
        plain = pattern(r"^\s*(?:[-*+]\s+|\d{1,3}[.)]\s+)?(?:\[[ xX]\]\s+)?").sub("", raw).strip()
        listed = pattern(_IDENTIFIER_LINE).match(plain)
        if listed:
            values += [Identifier(listed[1], value) for value in pattern(r"`([^`]+)`").findall(plain)]
        elif plain.strip("*.-_ ") and plain not in (prompts.NO_HISTORY, prompts.SPLIT_TURN, NOTHING):
            weight = 2 if section == prompts.GOAL and not any(line.section == section for line in lines) else 1
            parts = [plain] if len16(plain) <= kinds.MAX_CHARS else sentences(plain)
            lines += [Line(section, short(part), _CARRIED + number, weight) for part in parts]
    return lines, values


def _section_of(heading: str) -> str:
    name = heading.strip("# \t").lower()
    own = {section.strip("# ").lower(): section for section in prompts.SECTIONS}
    section = own.get(name) or _OTHER_HEADINGS.get(name, prompts.CONTEXT)
    return prompts.CONTEXT if section == prompts.PROGRESS else section


def _laid_out(sections: Sequence[str], lines: Sequence[Line], values: Sequence[Identifier], max_tokens: int) -> str:
    by_section = {section: _newest_first(lines, section) for section in sections}
    last = sections[-1]
    chosen = _fitting(by_section, list(values[:MAX_VALUES]), max_tokens * 4)
    parts = []
    for section in sections:
        kept = sorted(chosen[section], key=lambda line: line.order)
        shown = [_MARKS.get(section, "- ") + line.text for line in kept]
        if section == last:
            shown += _value_lines(chosen[_VALUES])
        parts.append("\n".join([section, *(shown or ([] if section == prompts.PROGRESS else [NOTHING]))]))
    return "\n\n".join(parts)


_VALUES = "values"


def _newest_first(lines: Sequence[Line], section: str) -> list[Line]:
    """Returns a section's lines, each text once and as late as it was said, dearest and newest first."""
    unique: dict[str, Line] = {}
    for line in lines:
        if line.section == section:
            known = unique.pop(line.text.casefold(), line)
            unique[line.text.casefold()] = line._replace(weight=max(line.weight, known.weight))
    ordered = sorted(unique.values(), key=lambda line: (-line.weight, -line.order))
    return ordered[: _MOST.get(section, _MOST_OTHER)]


def _fitting(by_section: dict[str, list[Line]], values: list[Identifier], budget: int) -> dict[str, list[Line]]:
    """Returns as much as the budget (quarter tokens) holds, a line of each section in turn, so that none starves."""
    queues = {section: list(lines) for section, lines in by_section.items()}
    queues[_VALUES] = [Line(_VALUES, f"{kind}\n{value}", 0, 1) for kind, value in values]
    chosen: dict[str, list[Line]] = {section: [] for section in queues}
    while any(queues.values()):
        for section, queue in queues.items():
            # A line of identifiers is short: several weigh as much as one sentence.
            for _ in range(4 if section == _VALUES else 1):
                if queue:
                    line = queue.pop(0)
                    cost = weight16(line.text) + 7
                    if cost <= budget:
                        budget -= cost
                        chosen[section].append(line)
    return chosen


def _value_lines(chosen: Iterable[Line]) -> list[str]:
    found: dict[str, list[str]] = {}
    for line in chosen:
        kind, _, value = line.text.partition("\n")
        found.setdefault(kind, []).append(f"`{value}`")
    return [f"- {kind}: {', '.join(found[kind])}" for kind in KINDS if kind in found]
