"""`oc prompt`: one turn with a model, end to end."""

import click

from oc.agent.run import Ask, run_turn
from oc.cli.app import App
from oc.cli.options import oc_command, report_option
from oc.cli.sessions import named_or_default
from oc.cli.stream import Report
from oc.cli.turn import Watcher, said_of, setting_of
from oc.errors import Unavailable, Usage


@oc_command("prompt")
@click.argument("text", required=False)
@click.option("-s", "--session", metavar="SESSION", help="Session of the turn (default: $OC_SESSION, main).")
@click.option("-m", "--model", metavar="MODEL", help="Model that answers; default is the one that llm is set to.")
@click.option("--no-tools", is_flag=True, help="Offer the model no tools.")
@click.option("--literal", is_flag=True, help="Take a reset trigger at the start of TEXT as text.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), metavar="S", help="Give up after S seconds.")
@click.option(
    "--max-steps", type=click.IntRange(min=1), default=32, metavar="N", help="Call the model N times at most."
)
@report_option
def command(
    app: App,
    text: str | None,
    session: str | None,
    model: str | None,
    *,
    no_tools: bool,
    literal: bool,
    timeout: float | None,
    max_steps: int,
    report: str | None,
) -> int:
    """Run one turn of a session with a model."""
    if app.out.format == "tsv":
        raise Usage("a turn has no --tsv", hint="--json prints one document, --jsonl the events")
    said = said_of(text)
    if said is None:
        raise Usage("nothing to say: give TEXT, or text on stdin")
    ask = Ask(named_or_default(app, session), said, model, not no_tools, literal, timeout, max_steps)
    setting = setting_of(app)
    with Report(report) as decisions:
        view = Watcher(app, decisions)
        turn = run_turn(ask, setting, view.tell)
        choice, window = turn.session.choice, turn.window
        decisions.add("prompt", "model", model=choice.model, rule=choice.origin, window_tokens=window.tokens)
        app.out.detail(f"model {choice.model} ({choice.origin}), window {window.tokens} tokens ({window.origin})")
        if turn.outcome is None:
            app.out.say(f"oc: a new session for {turn.session.ref.key}: {turn.session.ref.session_id}")
        elif turn.outcome.stop_reason == "length":
            app.out.warn("the answer was cut at the model's output limit")
        view.finish(turn)
    failure = turn.outcome.failure if turn.outcome else None
    if failure is not None:
        raise Unavailable(failure.message, hint=failure.hint)
    return 0
