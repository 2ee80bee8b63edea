"""Makes a context smaller in the middle of a turn: compaction at the threshold, and what helps after an overflow.

After an overflow at most three compactions are tried, each keeping half as much as the one before; then stored
results that are too long for the window are cut, once. What nothing of this helps is a failure of the turn.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from oc.agent.loop import Loop
from oc.agent.request import Session
from oc.agent.setting import Setting
from oc.base.clock import Ids
from oc.config.load import Config
from oc.errors import Unavailable
from oc.message.cap import cap_message, max_view_chars
from oc.message.size import context_size
from oc.session.context import context_entries
from oc.session.entry import Entry
from oc.session.open import touch
from oc.session.transcript import branch
from oc.session.tree import leaf_path
from oc.window.budget import is_over, keep_recent_tokens, reserve_tokens

MAX_COMPACTIONS = 3
# What a branch that is written anew leaves behind: they speak of entries by id, or of other branches.
_NOT_COPIED = ("label", "branch_summary")


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

    def at_threshold(self) -> None:
        """Compacts when the context has outgrown the window; a failure is a warning and leaves it as it is."""
        tokens = context_size(self.loop.messages, self.loop.counter).tokens
        if is_over(tokens, self.window_tokens, reserve_tokens(self._config)):
            self._compact("threshold", keep_recent_tokens(self._config))

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
        from oc.agent.compact import Compactor, summariser_of

        # Here the branch can be flushed first, when this cycle has had no flush.
        retry = reason == "overflow"
        self.loop.tell({"type": "auto_compaction_start", "reason": reason})
        choice = summariser_of(self.session.choice, self.session.row, self._config)
        compactor = Compactor(choice, self._config, self.loop.counter, self.setting.warn, keep_tokens=keep_tokens)
        end = {"type": "auto_compaction_end", "reason": reason, "result": None, "aborted": False, "willRetry": False}
        try:
            done = compactor.run(self._branch(), self.setting.clock.now_ms())
        except Unavailable as error:
            self.setting.warn(f"the session stays uncompacted: {error}")
            self.loop.tell({**end, "errorMessage": error.message})
            return False
        if done is None:
            self.loop.tell(end)
            return False
        entry = self.loop.recorder.write([done.entry])[0]
        self.loop.messages = [e["message"] for e in context_entries(self._branch())]
        self._note(done.tokens_after)
        self.loop.tell({**end, "result": {**entry, "tokensAfter": done.tokens_after}, "willRetry": retry})
        return True

    def _note(self, tokens_after: int) -> None:
        """Counts the compaction in the session's row, whose other counters speak of the context before it."""
        row, ref = self.session.row, self.session.ref
        row["compactionCount"] = int(row.get("compactionCount") or 0) + 1
        fields = {"totalTokens": tokens_after, "totalTokensFresh": True, "inputTokens": 0, "outputTokens": 0}
        rules = self.setting.rules(ref.agent)
        touch(ref, self.session.places, rules, compactionCount=row["compactionCount"], **fields)

    def _cut_results(self) -> bool:
        """Writes the branch anew from the first shown result that is too long for the window, such results cut."""
        path, limit = self._branch(), max_view_chars(self.window_tokens)
        shown = {entry["id"] for entry in context_entries(path)}
        cut = [_cut(entry, limit) if entry["id"] in shown else entry for entry in path]
        first = next((i for i, (old, new) in enumerate(zip(path, cut, strict=True)) if old is not new), None)
        if first is None:
            return False
        known = {entry["id"] for entry in (*self.entries, *self.loop.recorder.entries)}
        copied = copies(cut[first:], self.setting.ids, known)
        written = branch(self.session.ref.path, path[first].get("parentId"), copied, lock_timeout_ms=None)
        self._path = path[:first] + written
        self.loop.messages = [entry["message"] for entry in context_entries(self._path)]
        self.loop.tell({"type": "results_cut", "entryId": written[0]["id"], "maxChars": limit})
        return True


def copies(entries: Sequence[Entry], ids: Ids, known: set[str]) -> list[Entry]:
    """Returns the entries with new ids, none of them `known`, labels and branch summaries left out.

    A compaction keeps from the copy of what it kept from, or of what followed that (design D21).
    """
    names: dict[str, str] = {}
    for entry in entries:
        if entry["type"] not in _NOT_COPIED:
            known.add(new := ids.entry(known))
            names[entry["id"]] = new
    following = ""
    for entry in reversed(entries):
        following = names.setdefault(entry["id"], following)
    copied = []
    for entry in entries:
        if entry["type"] not in _NOT_COPIED:
            kept = entry.get("firstKeptEntryId")
            moved = {"firstKeptEntryId": names[kept]} if entry["type"] == "compaction" and kept in names else {}
            copied.append({**entry, **moved, "id": names[entry["id"]]})
    return copied


def _cut(entry: Entry, limit: int) -> Entry:
    message = entry.get("message")
    if entry.get("type") != "message" or not isinstance(message, dict) or message.get("role") != "toolResult":
        return entry
    shorter = cap_message(message, limit)
    return entry if shorter is message else {**entry, "message": shorter}
