"""The summary of a branch that is left: by a model, or by rules where that is the choice."""

from typing import Any

from oc.base.clock import iso
from oc.base.tokens import counter
from oc.cli.app import App
from oc.compaction import branch as rules
from oc.session.entry import Entry
from oc.window.budget import window


def summarised(app: App, row: dict[str, Any] | None, left: rules.Left, from_id: str, model: str | None) -> Entry | None:
    """Returns a branch_summary of what is left behind, None when there is nothing to summarise.

    Raises Unavailable when the model fails or ends early; then nothing is written.
    """
    from oc.agent.choice import OFFLINE, choose_summariser
    from oc.agent.compact import answer
    from oc.compaction import extract, plan

    choice = choose_summariser(model, row, app.config)
    budget = max(1, window(app.config, model=model, row=row).tokens - rules.RESERVE_TOKENS)
    found = rules.prepare_branch(left.entries, budget, counter("estimate"))
    if not found.messages:
        app.out.say("oc: nothing to summarise: the branch that is left says nothing")
        return None
    if choice.offline:
        wrote = [name for name in plan.models_of(found.messages) if not name.startswith("oc/")]
        if wrote:
            app.out.warn(f"{OFFLINE} summarises by rules what {', '.join(wrote)} wrote")
        text, summariser = extract.summarise(found.messages, max_tokens=rules.MAX_TOKENS), OFFLINE
    else:
        text, summariser = answer(choice.model, rules.question(found)), choice.model
    stamp = iso(app.clock.now_ms())
    return rules.summary_entry(found, text, from_id=from_id, summariser=summariser, timestamp=stamp)
