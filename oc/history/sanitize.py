"""The wash: every step that makes a context legal for a provider, in order, each of which can be run alone. Pure.

Order and rules follow OpenClaw 2026.3.13, sanitizeSessionHistory and what is called behind it (table:
context-history-pipeline). Steps marked `ours` go beyond it, so that nothing half-written or unpaired is left and a
washed history washes to itself.
"""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from oc.history import content, inputs, reasoning, turns, usage
from oc.history.ids import rewrite_ids
from oc.history.image import LIMITS, Limits
from oc.history.limit import limit_turns
from oc.history.policy import Policy
from oc.history.provenance import mark_inter_session
from oc.history.report import Trail
from oc.message.decision import Decision
from oc.message.pairs import distinct, pair
from oc.message.shapes import Message

Done = tuple[list[Message], list[Decision]]


class Wash(NamedTuple):
    """`allowed_tools`: the only tools whose calls may stay; None: all. `now_ms` dates what is put in."""

    policy: Policy
    now_ms: int
    allowed_tools: Collection[str] | None = None
    limits: Limits = LIMITS


class Step(NamedTuple):
    """`applies` None: under every policy. `ours`: beyond the reference."""

    stage: str
    run: Callable[[Sequence[Message], Wash], Done]
    applies: Callable[[Policy], bool] | None = None
    ours: bool = False


def _pair(messages: Sequence[Message], wash: Wash) -> Done:
    paired = pair(messages, now_ms=wash.now_ms)
    return paired.messages, paired.decisions


_PAIRS = (
    Step("pairs", lambda m, w: distinct(m, w.policy.id_mode), ours=True),
    Step("pairs", _pair),
)
STEPS: tuple[Step, ...] = (
    Step("provenance", lambda m, _: mark_inter_session(m)),
    Step("aborted", lambda m, _: inputs.without_half_written(m), ours=True),
    Step("ids", lambda m, w: rewrite_ids(m, w.policy.id_mode or "strict"), lambda p: p.rewrite_ids),
    Step("content", lambda m, w: content.clean_content(m, w.policy, w.limits, thorough=False)),
    Step("thinking", lambda m, _: content.drop_thinking(m), lambda p: p.drop_thinking),
    # What dropped reasoning left empty, failed messages and blank strings: they may merge with a whole turn.
    Step(
        "content",
        lambda m, w: content.clean_content(m, w.policy, w.limits, thorough=True),
        lambda p: p.full,
        ours=True,
    ),
    Step("inputs", lambda m, w: inputs.sendable_calls(m, w.allowed_tools)),
    *_PAIRS,
    Step("details", lambda m, _: content.drop_details(m)),
    Step("usage", lambda m, _: usage.zero_stale_usage(m)),
    Step("usage", lambda m, _: usage.normalise_usage(m)),
    Step("reasoning", lambda m, _: reasoning.drop_trailing_reasoning(m), lambda p: p.responses),
    Step("reasoning", lambda m, _: reasoning.drop_lone_item_ids(m), lambda p: p.responses),
    Step("start", lambda m, w: turns.start_with_user(m, now_ms=w.now_ms), lambda p: p.user_first),
    Step("start", lambda m, w: turns.start_with_user(m, now_ms=w.now_ms), lambda p: p.merge_users, ours=True),
    Step("turns", lambda m, _: turns.merge_assistants(m), lambda p: p.merge_assistants),
    Step("turns", lambda m, _: turns.merge_users(m), lambda p: p.merge_users),
    # A provider that wants one role's turns merged takes the other's merged as well, and then roles alternate.
    Step("turns", lambda m, _: turns.merge_assistants(m), lambda p: p.merge_users, ours=True),
    Step("turns", lambda m, _: turns.merge_users(m), lambda p: p.merge_assistants, ours=True),
    # A merged message has the time of its first part and the usage of its last.
    Step("usage", lambda m, _: usage.zero_stale_usage(m), ours=True),
    *_PAIRS,
)
# Run when asked for by name only: a later request may need the image again.
SEEN_IMAGES = Step("seen-images", lambda m, _: content.drop_seen_images(m))
STAGES: tuple[str, ...] = (*dict.fromkeys(step.stage for step in STEPS), SEEN_IMAGES.stage)


class Washed(NamedTuple):
    """`skipped`: the stages asked for that the policy has no use for."""

    messages: list[Message]
    trail: Trail
    skipped: list[str]


def sanitize(
    messages: Sequence[Message], wash: Wash, *, only: Collection[str] | None = None, steps: Sequence[Step] = STEPS
) -> Washed:
    """Returns the history as the model's provider takes it, and what was decided on the way.

    `only`: the stages to run, in the order of `STAGES` whatever their order here.
    """
    wanted = [step for step in (*steps, SEEN_IMAGES) if (step.stage in only if only else step is not SEEN_IMAGES)]
    trail = Trail(messages)
    washed = list(messages)
    run = set()
    settled: list[Step] = []  # nothing has changed since they ran
    for step in wanted:
        if step.applies is None or step.applies(wash.policy):
            run.add(step.stage)
            if any(step is done for done in settled):
                continue
            washed, decisions = step.run(washed, wash)
            trail.follow(step.stage, decisions)
            settled = [step] if decisions else [*settled, step]
    skipped = [stage for stage in dict.fromkeys(step.stage for step in wanted) if stage not in run]
    return Washed(washed, trail, skipped)


def limit(messages: Sequence[Message], turns_shown: float | None, *, now_ms: int) -> Washed:
    """Returns the last turns with calls and results paired anew: the cut may have parted them."""
    trail = Trail(messages)
    shown, decisions = limit_turns(messages, turns_shown)
    trail.follow("limit", decisions)
    paired = pair(shown, now_ms=now_ms)
    trail.follow("pairs", paired.decisions)
    return Washed(paired.messages, trail, [])
