"""Compaction with a model: who summarises, what counts as a summary, what is appended. The rules are in oc/compaction.

A model that fails, or that stops before its own end, leaves nothing behind (design D12).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from oc.agent.choice import OFFLINE, Choice, choose_summariser
from oc.agent.model import complete
from oc.base.clock import iso
from oc.base.tokens import Counter
from oc.compaction import plan
from oc.compaction.prepare import Preparation, prepare
from oc.config.load import Config
from oc.errors import Unavailable
from oc.session.entry import Entry
from oc.window.budget import keep_recent_tokens, reserve_tokens


@dataclass(frozen=True, slots=True)
class Compaction:
    """`entry` is what to append, without id and parent; the two sizes are by one counter and can be compared."""

    entry: Entry
    preparation: Preparation
    tokens_after: int

    @property
    def tokens_before(self) -> int:
        return self.preparation.counted_before


@dataclass(frozen=True, slots=True)
class Compactor:
    """Compacts branches of one session; `choice` is who summarises, `warn` takes a line for the user.

    `keep_tokens`: how much of the newest conversation stays, None as configured.
    """

    choice: Choice
    config: Config
    counter: Counter
    warn: Callable[[str], None]
    instructions: str | None = None
    keep_tokens: int | None = None

    def run(self, path: Sequence[Entry], now_ms: int) -> Compaction | None:
        """Returns the compaction of a branch, None when there is nothing to summarise.

        Raises Unavailable when the model fails, ends early, or gives a summary that makes the context no smaller.
        """
        keep = keep_recent_tokens(self.config) if self.keep_tokens is None else self.keep_tokens
        preparation = prepare(path, keep_recent_tokens=keep, counter=self.counter, from_previous_kept=True)
        if preparation is None or preparation.is_empty:
            return None
        summary = self.summary_of(preparation)
        before, after = preparation.counted_before, plan.counted_after(preparation, summary, self.counter)
        if after >= before:
            raise Unavailable(f"compaction refused: the context would grow from {before} to {after} tokens")
        entry = plan.entry_of(preparation, summary, summariser=self.choice.model, timestamp=iso(now_ms))
        return Compaction(entry, preparation, after)

    def summary_of(self, preparation: Preparation) -> str:
        """Returns the summary: by extraction for `oc-offline`, else by the model."""
        if self.choice.offline:
            self._own_up(preparation)
            return _extracted(preparation)
        reserve = reserve_tokens(self.config)
        asked = plan.questions(preparation, reserve_tokens=reserve, instructions=self.instructions)
        answers = {question.part: _answer(self.choice.model, question) for question in asked}
        return plan.joined(preparation, answers.get("history"), answers.get("prefix"))

    def _own_up(self, preparation: Preparation) -> None:
        """Tells when rules summarise what a language model wrote."""
        wrote = plan.models_of([*preparation.messages, *preparation.prefix_messages])
        others = [model for model in wrote if model != f"oc/{OFFLINE}"]
        if others:
            self.warn(f"{OFFLINE} summarises by rules what {', '.join(others)} wrote")


def summariser_of(turn: Choice, row: dict[str, Any], config: Config) -> Choice:
    """Returns who summarises for a turn: `compaction.model`, else the turn's own model."""
    configured = config.get("agents.defaults.compaction.model")
    return choose_summariser(None, row, config) if configured else turn


def _extracted(preparation: Preparation) -> str:
    from oc.compaction import extract

    history, prefix, previous = plan.material(preparation)
    return plan.joined(
        preparation,
        None if history is None else extract.summarise(history, previous),
        None if prefix is None else extract.summarise_prefix(prefix),
    )


def _answer(model: str, question: plan.Question) -> str:
    completion = complete(model, system=question.system, prompt=question.prompt)
    if not completion.whole:
        raise Unavailable(f"{model}: the summary is not whole: it ended with {completion.finish or 'no finish reason'}")
    if not completion.text.strip():
        raise Unavailable(f"{model}: the summary is empty")
    return completion.text.strip()
