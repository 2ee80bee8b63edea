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
from oc.compaction.files import without_files
from oc.compaction.prepare import Preparation, prepare
from oc.config.load import Config
from oc.errors import Unavailable
from oc.session import store
from oc.session.entry import Entry
from oc.session.find import SessionRef
from oc.window.budget import keep_recent_tokens, reserve_tokens

_COUNTED = ("inputTokens", "outputTokens", "cacheRead", "cacheWrite")


@dataclass(frozen=True, slots=True)
class Compaction:
    """`entry` is what to append, without id and parent; the two sizes are by one counter and can be compared."""

    entry: Entry
    preparation: Preparation
    tokens_after: int

    @property
    def tokens_before(self) -> int:
        return self.preparation.counted_before

    def refuse_growth(self) -> None:
        """Raises Unavailable when the summary makes the context no smaller."""
        before, after = self.tokens_before, self.tokens_after
        if after >= before:
            raise Unavailable(f"compaction refused: the context would grow from {before} to {after} tokens")


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

    def prepare(self, path: Sequence[Entry]) -> Preparation | None:
        """Returns what a compaction of the branch would summarise and keep, None when there is nothing to summarise."""
        keep = keep_recent_tokens(self.config) if self.keep_tokens is None else self.keep_tokens
        preparation = prepare(path, keep_recent_tokens=keep, counter=self.counter, from_previous_kept=True)
        return None if preparation is None or preparation.is_empty else preparation

    def run(self, path: Sequence[Entry], now_ms: int) -> Compaction | None:
        """Returns the compaction of a branch, None when there is nothing to summarise.

        Raises Unavailable when the model fails, ends early, or gives a summary that makes the context no smaller.
        """
        preparation = self.prepare(path)
        if preparation is None:
            return None
        done = self.compaction(preparation, self.summary_of(preparation), now_ms)
        done.refuse_growth()
        return done

    def compaction(self, preparation: Preparation, summary: str, now_ms: int, writer: str | None = None) -> Compaction:
        """Returns the compaction with that summary; `writer` names who wrote it, if not the model."""
        name = writer or (OFFLINE if self.choice.offline else self.choice.model)
        entry = plan.entry_of(preparation, summary, summariser=name, timestamp=iso(now_ms))
        return Compaction(entry, preparation, plan.counted_after(preparation, summary, self.counter))

    def summary_of(self, preparation: Preparation) -> str:
        """Returns the summary: by extraction for `oc-offline`, else by the model."""
        if self.choice.offline:
            self._own_up(preparation)
            return extracted(preparation)
        reserve = reserve_tokens(self.config)
        asked = plan.questions(preparation, reserve_tokens=reserve, instructions=self.instructions)
        answers = {question.part: answer(self.choice.model, question) for question in asked}
        return plan.joined(preparation, answers.get("history"), answers.get("prefix"))

    def completed(self, preparation: Preparation, summary: str) -> str:
        """Returns a whole summary that somebody else wrote, with the file lists at its end."""
        return plan.joined(preparation, without_files(summary), None)

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


def extracted(preparation: Preparation) -> str:
    """Returns the summary by rules, in at most half of the tokens that it stands for."""
    from oc.compaction import extract

    history, prefix, previous = plan.material(preparation)
    half = (preparation.counted_before - preparation.counted_kept) // 2
    cap, prefix_cap = min(extract.MAX_TOKENS, half), min(extract.PREFIX_MAX_TOKENS, half // 2)
    return plan.joined(
        preparation,
        None if history is None else extract.summarise(history, previous, max_tokens=cap),
        None if prefix is None else extract.summarise_prefix(prefix, max_tokens=prefix_cap),
    )


def count_compaction(ref: SessionRef, store_path: str, tokens_after: int, now_ms: int, lock_timeout_ms: int) -> None:
    """Notes a compaction in the session's row; what else the row counts speaks of the context before it."""

    def change(rows: store.Store) -> None:
        row = store.look_up(rows, str(ref.key)).row
        if row is None or row.get("sessionId") != ref.session_id:
            return
        old = {name: value for name, value in row.items() if name not in _COUNTED}
        count = row.get("compactionCount")
        fields = {"compactionCount": (count if isinstance(count, int) else 0) + 1}
        fields |= {"totalTokens": tokens_after, "totalTokensFresh": True}
        store.put(rows, str(ref.key), store.merge(old, fields, now_ms=now_ms))

    if ref.key is not None:
        store.update(store_path, change, lock_timeout_ms=lock_timeout_ms)


def answer(model: str, question: plan.Question) -> str:
    """Returns a summary that the model has finished; raises Unavailable for any other end, and for an empty one."""
    completion = complete(model, system=question.system, prompt=question.prompt)
    if not completion.whole:
        raise Unavailable(f"{model}: the summary is not whole: it ended with {completion.finish or 'no finish reason'}")
    if not completion.text.strip():
        raise Unavailable(f"{model}: the summary is empty")
    return completion.text.strip()
