"""The summary of a compaction in full: old chunks apart, recent turns word for word, what must not get lost. Pure.

Behaviour follows openclaw 2026.3.13, compaction-safeguard (table: context-compact-safeguard), but for a model that
fails: no summary is made of that (design D12).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from oc.base.tokens import Counter
from oc.compaction import quality, sections
from oc.compaction.chunks import SAFETY_MARGIN, chunk_ratio, drop_oldest, history_budget
from oc.compaction.files import FileOps, file_lists, file_section
from oc.compaction.prompts import SPLIT_TURN
from oc.compaction.quality import Words
from oc.compaction.stages import Ask, Stages, identifier_text
from oc.errors import Unavailable
from oc.message.shapes import Message
from oc.message.size import total_tokens

# What a request for a summary takes beside the messages.
OVERHEAD_TOKENS = 4096
_REAL = ("user", "assistant", "toolResult")
_PREFIX_FOCUS = """\
These messages are the first part of one turn; the rest of it stays in the conversation. Tell what the user asked for, \
what was done so far, and what the rest relies on."""


@dataclass(frozen=True, slots=True)
class Rules:
    """`agents.defaults.compaction` as the safeguard reads it."""

    window_tokens: int
    history_share: float = 0.5
    recent_turns: int = sections.PRESERVED_TURNS
    identifier_policy: str = "strict"
    identifier_instructions: str | None = None
    quality_retries: int | None = None
    """How often a summary that is not good enough is asked for again; None: it is not looked at."""


@dataclass(frozen=True, slots=True)
class Matter:
    """What is to be summarised: history, the first part of a split turn, and what came before."""

    history: Sequence[Message]
    prefix: Sequence[Message]
    previous_summary: str | None
    tokens_before: int
    files: FileOps
    focus: str
    workspace_rules: str = ""

    @property
    def messages(self) -> list[Message]:
        return [*self.history, *self.prefix]

    @property
    def is_real(self) -> bool:
        """Says whether anybody said anything."""
        return any(message.get("role") in _REAL for message in self.messages)


@dataclass(frozen=True, slots=True)
class Safeguard:
    """Makes summaries with a model; `words` are those that name a text's subject."""

    ask: Ask
    counter: Counter
    rules: Rules
    words: Words
    now_ms: int

    def summary(self, matter: Matter) -> str | None:
        """Returns the whole summary, None when there is nothing to summarise; raises Unavailable when the model fails.

        When all that is there stays word for word, no model is asked.
        """
        if not matter.is_real:
            return None
        history, previous = self._within_budget(matter)
        rest, recent = sections.preserve(history, self.rules.recent_turns, now_ms=self.now_ms)
        made = self._checked(matter, rest, recent, previous)
        for section in (
            sections.failures_section(matter.messages),
            file_section(*file_lists(matter.files)),
            sections.rules_section(matter.workspace_rules),
        ):
            made = sections.with_section(made, section)
        return made

    def _stages(self, messages: Sequence[Message]) -> Stages:
        window = self.rules.window_tokens
        ratio = chunk_ratio(messages, self.counter, window_tokens=window)
        most = max(1, math.floor(window * ratio) - OVERHEAD_TOKENS)
        exact = identifier_text(self.rules.identifier_policy, self.rules.identifier_instructions)
        return Stages(self.ask, self.counter, most, window, exact)

    def _within_budget(self, matter: Matter) -> tuple[list[Message], str | None]:
        """Returns the history and the previous summary.

        When what stays takes more than its share, the oldest chunks of the history go into a summary of their own,
        which stands for the previous one.
        """
        rules, history = self.rules, list(matter.history)
        new_tokens = max(0, matter.tokens_before - total_tokens(matter.messages, self.counter))
        if new_tokens <= math.floor(rules.window_tokens * rules.history_share * SAFETY_MARGIN):
            return history, matter.previous_summary
        budget = history_budget(rules.window_tokens, rules.history_share)
        done = drop_oldest(history, self.counter, budget_tokens=budget, now_ms=self.now_ms)
        if not done.dropped:
            return history, matter.previous_summary
        old = self._stages(done.dropped).summary(done.dropped, matter.previous_summary, quality.form(matter.focus))
        return done.kept, old

    def _checked(self, matter: Matter, rest: Sequence[Message], recent: Sequence[Message], previous: str | None) -> str:
        """Returns history, split turn and recent turns; asked for again as long as the text is not good enough.

        A second try that fails leaves the first one standing.
        """
        focus = quality.form(matter.focus)
        stages = self._stages([*rest, *matter.prefix])
        made = self._joined(stages, matter, rest, previous, focus) + sections.preserved_section(recent)
        if self.rules.quality_retries is None or not (rest or matter.prefix):
            return made
        identifiers, ask = quality.recent_identifiers(matter.messages), quality.latest_ask(matter.messages)
        for _ in range(self.rules.quality_retries):
            policy = self.rules.identifier_policy
            found = quality.reasons(made, identifiers, ask, policy=policy, words=self.words)
            if not found:
                break
            again = f"{focus}\n\n{quality.feedback(found)}"
            try:
                text = self._joined(stages, matter, rest, previous, again)
            except Unavailable:
                break
            made = text + sections.preserved_section(recent)
        return made

    def _joined(self, stages: Stages, matter: Matter, rest: Sequence[Message], previous: str | None, focus: str) -> str:
        made = stages.summary(rest, previous, focus) if rest else sections.structured(previous)
        if matter.prefix:
            first = stages.summary(matter.prefix, None, f"{_PREFIX_FOCUS}\n\n{focus}")
            made += f"\n\n---\n\n{SPLIT_TURN}\n\n{first}"
        return made
