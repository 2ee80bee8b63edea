"""Makes a context smaller in the middle of a turn: compaction at the threshold, and what helps after an overflow.

After an overflow at most three compactions are tried, each keeping half as much as the one before; then stored
results that are too long for the window are cut, once. What nothing of this helps is a failure of the turn.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from oc.agent.answer import Request
from oc.agent.flush import Flusher
from oc.agent.loop import Loop
from oc.agent.refresh import queue_refresh
from oc.agent.request import Session, coming_tokens
from oc.agent.setting import Setting
from oc.config.load import Config
from oc.errors import Unavailable
from oc.message.shapes import Message
from oc.message.size import context_size
from oc.session.context import context_entries
from oc.session.entry import Entry
from oc.session.open import touch
from oc.session.transcript import branch
from oc.session.tree import leaf_path
from oc.window.budget import is_over, keep_recent_tokens, reserve_tokens
from oc.window.overflow import shorten_stored

if TYPE_CHECKING:
    from oc.agent.compact import Compactor

MAX_COMPACTIONS = 3


@dataclass(slots=True)
class Recovery:
    """`entries` are those of the transcript before the turn; what the turn wrote hangs on the last of them."""

    session: Session
    loop: Loop
    entries: Sequence[Entry]
    window_tokens: int
    setting: Setting
    compactions: int = 0
    _path: list[Entry] = field(init=False)
    _taken: int = 0
    _rewritten: bool = False

    def __post_init__(self) -> None:
        self._path = leaf_path(self.entries)

    @property
    def _config(self) -> Config:
        return self.session.config

    def before_turn(self, asked: Sequence[Message]) -> None:
        """Compacts when what is about to be said would be too much for the window; otherwise as `at_threshold`."""
        fixed = Request(self.loop.system, [], tuple(self.loop.tools))
        tokens = coming_tokens(self._branch(), asked, fixed, self.loop.counter)
        keep_tokens = keep_recent_tokens(self._config)
        if self._is_over(tokens) and self._compactor(keep_tokens).prepare(self._branch()) is not None:
            self._compact("threshold", keep_tokens)

    def at_threshold(self) -> None:
        """Compacts when the context has outgrown the window; a failure is a warning and leaves it as it is."""
        if self._is_over(context_size(self.loop.messages, self.loop.counter).tokens):
            self._compact("threshold", keep_recent_tokens(self._config))

    def _is_over(self, tokens: int) -> bool:
        return is_over(tokens, self.window_tokens, reserve_tokens(self._config))

    def _compactor(self, keep_tokens: int) -> "Compactor":
        from oc.agent.compact import Compactor, summariser_of

        choice = summariser_of(self.session.choice, self.session.row, self._config)
        return Compactor(choice, self._config, self.loop.counter, self.setting.warn, keep_tokens=keep_tokens)

    def after_overflow(self) -> bool:
        """Says whether the context became smaller, so that the request may be tried again."""
        for attempt in range(self.compactions, MAX_COMPACTIONS):
            self.compactions = attempt + 1
            if self._compact("overflow", keep_recent_tokens(self._config) >> attempt):
                return True
        if self._rewritten:
            return False
        self._rewritten = True
        return self._cut_results()

    def _branch(self) -> list[Entry]:
        """Returns the branch as it is now."""
        written = self.loop.recorder.entries
        self._path += written[self._taken :]
        self._taken = len(written)
        return self._path

    def _compact(self, reason: str, keep_tokens: int) -> bool:
        retry = reason == "overflow"
        self.loop.tell({"type": "auto_compaction_start", "reason": reason})
        compactor = self._compactor(keep_tokens)
        end = {"type": "auto_compaction_end", "reason": reason, "result": None, "aborted": False, "willRetry": False}
        preparation = compactor.prepare(self._branch())
        if preparation is None:
            self.loop.tell(end)
            return False
        self._flusher().before_compaction(self._branch(), self.loop.tell)
        hooked = self.loop.recorder.hooked
        try:
            done = hooked.compaction(compactor, preparation, self.setting.clock.now_ms())
        except Unavailable as error:
            self.setting.warn(f"the session stays uncompacted: {error}")
            self.loop.tell({**end, "errorMessage": error.message})
            return False
        if done is None:
            self.loop.tell({**end, "aborted": True})
            return False
        entry = self.loop.recorder.write([done.entry])[0]
        self._show(self._branch())
        self._note(done.tokens_after)
        queue_refresh(self.session.ref, self._config, self.session.places, self.setting)
        self.loop.tell({**end, "result": {**entry, "tokensAfter": done.tokens_after}, "willRetry": retry})
        hooked.fire("after_compaction", {"entry": entry, "tokensAfter": done.tokens_after})
        return True

    def _flusher(self) -> Flusher:
        return Flusher(self.session, self.window_tokens, self.setting, self.loop.counter, self.loop.limits.deadline_s)

    def _show(self, path: Sequence[Entry]) -> None:
        """Lets the turn go on with the context of the path, and with what was said but not written."""
        self.loop.entries = [*context_entries(path), *self.loop.recorder.unwritten]

    def _note(self, tokens_after: int) -> None:
        """Counts the compaction in the session's row, whose other counters speak of the context before it."""
        row, ref = self.session.row, self.session.ref
        row["compactionCount"] = int(row.get("compactionCount") or 0) + 1
        fields = {"totalTokens": tokens_after, "totalTokensFresh": True, "inputTokens": 0, "outputTokens": 0}
        rules = self.setting.rules(ref.agent)
        touch(ref, self.session.places, rules, compactionCount=row["compactionCount"], **fields)

    def _cut_results(self) -> bool:
        """Writes the branch anew from the first shown result that is too long for the window, such results cut."""
        path = self._branch()
        known = {entry["id"] for entry in (*self.entries, *self.loop.recorder.entries)}

        def new_id() -> str:
            known.add(made := self.setting.ids.entry(known))
            return made

        rewrite = shorten_stored(path, window_tokens=self.window_tokens, new_id=new_id)
        if rewrite is None:
            return False
        written = branch(self.session.ref.path, rewrite.parent_id, rewrite.entries, lock_timeout_ms=None)
        kept = next((i + 1 for i, entry in enumerate(path) if entry["id"] == rewrite.parent_id), 0)
        self._path = path[:kept] + written
        self._show(self._path)
        self.loop.tell({"type": "results_cut", "decisions": rewrite.rows})
        return True
