"""How the context of a session is shown to a model, and every decision on the way. Nothing here is stored.

Order: sanitize, pairs, limit, pairs; hook `context`; guard; prune when it is configured. Each request goes through
all of it.
"""

from collections.abc import Iterable, Sequence

from oc.agent.hooked import Hooked
from oc.agent.request import Session
from oc.agent.wire import Speaker
from oc.base.tokens import ESTIMATE, Counter
from oc.base.typed import Any, NamedTuple
from oc.config.load import Config
from oc.history.image import limits_of
from oc.history.limit import turns_for_key
from oc.history.policy import Model, policy
from oc.history.sanitize import STEPS, Wash, Washed, limit, sanitize
from oc.message.derived import for_model
from oc.message.shapes import Message
from oc.session.entry import Entry
from oc.window.guard import guard, ours
from oc.window.prune import prune, stopped
from oc.window.rules import PruneRules, caches_prompts, is_expired, last_request, rules_from

Row = dict[str, Any]
# What an answer has used is no part of what a model is shown; to bring it into form takes a quarter of the wash.
_SHOWN = tuple(dict.fromkeys(step.stage for step in STEPS if step.stage != "usage"))


class Pruning(NamedTuple):
    """`gate` names what keeps old results from being shortened in this turn; empty: they are."""

    rules: PruneRules = PruneRules()
    gate: str = "mode"


class Seen:
    """What one request shows: messages, the id of the entry that each comes from (None: made here), decisions."""

    __slots__ = ("ids", "messages", "rows")

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.messages: list[Message] = [entry["message"] for entry in entries]
        self.ids: list[str | None] = [entry.get("id") for entry in entries]
        self.rows: list[Row] = []


class View(NamedTuple):
    """`turns`: how many turns before the prompt are shown, None for all."""

    wash: Wash
    turns: float | None = None
    window_tokens: int | None = None
    pruning: Pruning = Pruning()
    hooked: Hooked = Hooked()
    counter: Counter = ESTIMATE

    def history(self, entries: Sequence[Entry], *, prompted: bool = False) -> Seen:
        """Returns the entries' messages as the model takes them; with `prompted` the last turn is not counted."""
        turns = self.turns + 1 if self.turns and self.turns > 0 and prompted else self.turns
        seen = Seen(entries)
        _follow(seen, sanitize(seen.messages, self.wash, only=_SHOWN))
        if turns is not None:
            _follow(seen, limit(seen.messages, turns, now_ms=self.wash.now_ms))
        _as_for_model(seen)
        if self.wash.policy.merge_users or self.wash.policy.merge_assistants:
            # Summaries and events have become user messages, and may now stand beside others.
            _follow(seen, sanitize(seen.messages, self.wash, only=("turns",)))
        return seen

    def of(self, entries: Sequence[Entry], *, prompted: bool = True, answers: int = 0) -> Seen:
        """Returns what a request shows; `answers` of the turn under way do not move the line up to which is pruned."""
        seen = self.history(entries, prompted=prompted)
        self._ask_hooks(seen)
        if self.window_tokens is None:
            return seen
        guarded = guard(seen.messages, window_tokens=self.window_tokens, manner=ours(self.counter))
        seen.rows += _with_ids("guard", guarded.rows(), seen.ids)
        seen.messages = guarded.messages
        if self.pruning.gate:
            rows = stopped(seen.messages, self.pruning.gate) if self.pruning.gate != "mode" else [_OFF]
        else:
            rules = self.pruning.rules
            rules = rules._replace(keep_last_assistants=rules.keep_last_assistants + answers)
            seen.messages, rows = prune(seen.messages, window_tokens=self.window_tokens, rules=rules)
        seen.rows += _with_ids("prune", rows, seen.ids)
        return seen

    def _ask_hooks(self, seen: Seen) -> None:
        """Lets the hooks change the view; what they leave unpaired is paired anew."""
        changed = self.hooked.view(seen.messages)
        if changed is None or changed == seen.messages:
            return
        messages, ids = for_model(changed), _ids_after(seen, for_model(changed))
        left = {entry_id for entry_id in ids if entry_id is not None}
        for index, (message, entry_id) in enumerate(zip(seen.messages, seen.ids, strict=True)):
            if entry_id is not None and entry_id not in left:
                row = {"stage": "context", "action": "drop", "entry_id": entry_id, "index": index, "rule": "hook"}
                seen.rows.append({**row, "role": message.get("role")})
        sizes = {"messages_before": len(seen.messages), "messages_after": len(messages)}
        seen.rows.append({"stage": "context", "action": "summary", "rule": "hook", **sizes})
        seen.messages, seen.ids = messages, ids
        _follow(seen, sanitize(messages, self.wash, only=("pairs", "turns")))


_MODEL_ROLES = ("user", "assistant", "toolResult")
_OFF: Row = {"action": "gate", "rule": "mode"}


def _follow(seen: Seen, washed: Washed) -> None:
    """Takes the washed messages over, with the ids of the entries that they come from."""
    if not washed.trail.changed:
        seen.messages = washed.messages
        return
    rows = [{**row, "entry_id": seen.ids[row["index"]]} for row in washed.trail.rows()]
    origins = [washed.trail.origin(message) for message in washed.messages]
    seen.rows += rows
    seen.ids = [None if origin.made else seen.ids[origin.place] for origin in origins]
    seen.messages = washed.messages


def _as_for_model(seen: Seen) -> None:
    if all(message.get("role") in _MODEL_ROLES for message in seen.messages):
        return
    shown: list[tuple[Message, str | None]] = []
    for index, (message, entry_id) in enumerate(zip(seen.messages, seen.ids, strict=True)):
        (*found,) = for_model((message,))
        shown += [(one, entry_id) for one in found]
        if not found:
            row = {"stage": "model", "action": "drop", "entry_id": entry_id, "index": index, "rule": "not-shown"}
            seen.rows.append({**row, "role": message.get("role")})
    seen.messages, seen.ids = [message for message, _ in shown], [entry_id for _, entry_id in shown]


def _ids_after(seen: Seen, messages: Sequence[Message]) -> list[str | None]:
    """Returns the entry ids of the messages that a hook left as they were, in their order; None for the others."""
    ids: list[str | None] = []
    at = 0
    for message in messages:
        found = next((i for i in range(at, len(seen.messages)) if seen.messages[i] == message), None)
        ids.append(None if found is None else seen.ids[found])
        at = at if found is None else found + 1
    return ids


def _with_ids(stage: str, rows: Iterable[Row], ids: Sequence[str | None]) -> list[Row]:
    return [{"stage": stage, **row, **({"entry_id": ids[row["index"]]} if "index" in row else {})} for row in rows]


def view_of(session: Session, speaker: Speaker, *, window_tokens: int, now_ms: int) -> View:
    """Returns how the session is shown to that model, with neither pruning nor hooks yet."""
    config = session.config
    limits = limits_of(config.get("agents.defaults.imageMaxDimensionPx"))
    rules = policy(Model(speaker.provider, speaker.api, speaker.model))
    turns = turns_for_key(session.ref.key or "", config.merged("channels"))
    return View(Wash(rules, now_ms, limits=limits), turns, window_tokens)


def pruning_of(config: Config, speaker: Speaker, entries: Iterable[Entry], now_ms: int) -> Pruning:
    """Returns how old results are pruned in a turn that starts now, after `entries` (design D18).

    Asked once per turn: a request in the middle of it would find the cache warm, and show what the one before it did
    not.
    """
    if config.get("agents.defaults.contextPruning.mode") != "cache-ttl":
        return Pruning()
    rules = rules_from(lambda name: config.get(f"agents.defaults.contextPruning.{name}"))
    if not caches_prompts(speaker.provider, speaker.model):
        return Pruning(rules, "provider")
    return Pruning(rules, "" if is_expired(last_request(entries), rules.ttl_ms, now_ms) else "ttl")
