"""Shows a turn as it goes: text on a terminal as it arrives, whole answers into a pipe, events or one document.

What is shown is on disk already, streamed pieces apart. A reader that goes away does not stop the turn.
"""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from oc.agent.setting import Setting
from oc.base.jsonl import dump_line
from oc.base.text import cut16, neutral, without_lone_surrogates
from oc.cli.app import App
from oc.cli.stream import Report
from oc.cli.texts import argument, from_stdin
from oc.message.shapes import text
from oc.workspace.prompt import NO_REPLY

if TYPE_CHECKING:
    from oc.agent.run import Turn

Event = dict[str, Any]
_USAGE = ("input", "output", "cacheRead", "cacheWrite", "totalTokens")


def setting_of(app: App) -> Setting:
    """Returns the run as a turn takes part in it."""
    return Setting(
        app.agent,
        lambda agent: app.for_agent(agent).config,
        app.places_of,
        app.clock,
        app.ids,
        app.out.warn,
        app.lock_timeout_ms,
        lambda agent: app.for_agent(agent).hooks,
    )


def said_of(text: str | None, *, stdin: bool = True) -> str | None:
    """Returns TEXT and stdin, a blank line between; None for neither, or nothing but white space.

    Raises BadInput for what is not UTF-8.
    """
    parts = [] if text in (None, "-") else [argument(str(text))]
    if stdin and sys.stdin is not None and not sys.stdin.isatty():
        parts.append(from_stdin().rstrip("\n"))
    return "\n\n".join(part for part in parts if part.strip()) or None


class Watcher:
    """Takes the events of a turn; `broken` tells that nobody reads stdout any more."""

    def __init__(self, app: App, report: Report) -> None:
        self.app = app
        self.report = report
        self.broken = False
        self.calls = 0
        self._held = ""
        self._line_open = False

    def tell(self, event: Event) -> None:
        self._note(event)
        if self.broken or event["type"] in ("view", "results_cut"):
            return
        try:
            if self.app.out.format == "jsonl":
                self.app.out.write(dump_line(event))
            elif self.app.out.format == "text":
                self._show(event)
            sys.stdout.flush()
        except BrokenPipeError:
            self.broken = True

    def _show(self, event: Event) -> None:
        kind = event["type"]
        if kind == "message_end" and not self.app.out.terminal:
            said = text(event["message"])
            if said.strip() and event["message"]["stopReason"] != "error" and not is_silent(said):
                self.app.out.write(_encoded(said) + b"\n")
        elif kind == "message_update" and self.app.out.terminal:
            delta = event["assistantMessageEvent"]
            if delta["type"] == "text_delta":
                self._stream(delta["delta"])
        elif kind == "message_end":
            self._end_line(text(event["message"]))

    def _stream(self, piece: str) -> None:
        """Writes a piece, held back as long as the answer may turn out to be the one word that says nothing."""
        self._held += piece
        if not self._line_open and NO_REPLY.startswith(self._held.strip()):
            return
        self.app.out.write(_encoded(neutral(self._held)))
        self._line_open, self._held = True, ""

    def _end_line(self, said: str) -> None:
        if self._held and not is_silent(said):
            self.app.out.write(_encoded(neutral(self._held)))
            self._line_open = True
        if self._line_open:
            self.app.out.write(b"\n")
        self._line_open, self._held = False, ""

    def _note(self, event: Event) -> None:
        """Puts decisions into the report, and a dim line on a terminal's stderr."""
        if event["type"].startswith("auto_compaction"):
            self._note_compaction(event)
        elif event["type"].startswith("memory_flush"):
            self._note_flush(event)
        elif event["type"] == "results_cut":
            self._aside("the context is too large: stored results are shortened")
            for row in event["decisions"]:
                self.report.add("store", **row)
        elif event["type"] == "view":
            report_rows(self.app, self.report, event["decisions"])
            self._note_shortened(event["decisions"])
        elif event["type"] == "tool_execution_start":
            self.calls += 1
            self._aside(f"{event['toolName']} {_shortly(event['args'])}")
        elif event["type"] == "tool_execution_end":
            if event["isError"]:
                self._aside(f"{event['toolName']} failed: {_shortly(text(event['result']))}")
            if event["charsAfter"] < event["charsBefore"]:
                sizes = {"chars_before": event["charsBefore"], "chars_after": event["charsAfter"]}
                self.report.add("store", "cap", entry_id=event["entryId"], tool=event["toolName"], **sizes, rule="hard")

    def _note_compaction(self, event: Event) -> None:
        if event["type"] == "auto_compaction_start":
            self._aside(f"compacting the session: {event['reason']}")
            return
        result = event["result"] or {}
        sizes = {"tokens_before": result.get("tokensBefore"), "tokens_after": result.get("tokensAfter")}
        action = "compact" if result else "refuse" if event.get("errorMessage") else "nothing-to-compact"
        self.report.add("compact", action, entry_id=result.get("id"), **sizes, rule=event["reason"])

    def _note_flush(self, event: Event) -> None:
        if event["type"] == "memory_flush_start":
            self._aside(f"saving facts to the notes: {event['reason']}")
            return
        facts = {name: event.get(name) for name in ("path", "lines", "messages")}
        self.report.add("flush", event["result"], rule=event["reason"], **facts)
        if event.get("lines"):
            self._aside(f"saved: {event['path']}#L{event['lines'][0]}")

    def _note_shortened(self, rows: list[dict[str, Any]]) -> None:
        """Tells what the model is shown less of than there is."""
        for stage, actions in (("guard", ("truncate", "strip", "clear")), ("prune", ("trim", "clear"))):
            count = sum(1 for row in rows if row["stage"] == stage and row["action"] in actions)
            if count:
                self._aside(f"{stage}: {count} tool {'result is' if count == 1 else 'results are'} shown shortened")

    def _aside(self, line: str) -> None:
        out = self.app.out
        if out.quiet or not (sys.stderr.isatty() or out.verbose):
            return
        line = neutral(without_lone_surrogates(line).replace("\n", " "))
        dim = sys.stderr.isatty() and out.colored
        sys.stderr.write(f"\x1b[2m{line}\x1b[0m\n" if dim else f"{line}\n")
        sys.stderr.flush()

    def finish(self, turn: "Turn") -> None:
        """Prints the document of --json, ends the report; raises BrokenPipeError when the reader had gone."""
        outcome = turn.outcome
        if outcome is not None:
            used = {"input_tokens": outcome.input_tokens, "output_tokens": outcome.output_tokens}
            counts = {"answers": len(outcome.answers), "tool_calls": self.calls}
            self.report.add("prompt", "summary", **counts, **used, stop_reason=outcome.stop_reason)
        if self.app.out.format == "json" and (outcome is None or outcome.failure is None):
            self.app.out.document(document(turn))
        if self.broken:
            raise BrokenPipeError


def report_rows(app: App, report: Report, rows: Iterable[dict[str, Any]]) -> None:
    """Reports decisions, and tells them one a line with --verbose."""
    for row in rows:
        report.add(**row)
        if app.out.verbose:
            app.out.detail("oc: " + neutral(without_lone_surrogates(line_of(row))))


def line_of(row: dict[str, Any]) -> str:
    """Returns a decision as one line: stage, action, what it is about, sizes, rule."""
    words = [f"{row['stage']}: {row['action']}"]
    words += [str(row[name]) for name in ("role", "tool", "file") if row.get(name)]
    for unit in ("chars", "tokens", "messages"):
        sizes = [str(row[f"{unit}_{when}"]) for when in ("before", "after") if row.get(f"{unit}_{when}") is not None]
        words += [f"{' -> '.join(sizes)} {unit}"] if sizes else []
    words += [f"({row['rule']})"] if row.get("rule") else []
    words += [str(row["entry_id"])] if row.get("entry_id") else []
    return " ".join(words)


def is_silent(said: str) -> bool:
    """Says whether an answer is the word by which a model says that nothing needs to be said."""
    return said.strip() == NO_REPLY


def document(turn: "Turn") -> dict[str, Any]:
    outcome, ref = turn.outcome, turn.session.ref
    answers = outcome.answers if outcome else []
    said = [answer for answer in map(text, answers) if answer.strip() and not is_silent(answer)]
    return {
        "text": "\n\n".join(said),
        "usage": {name: sum(answer["usage"][name] for answer in answers) for name in _USAGE},
        "entryIds": [entry["id"] for entry in turn.entries],
        "stopReason": outcome.stop_reason if outcome else None,
        "session": {
            "key": ref.key,
            "sessionId": ref.session_id,
            "path": ref.path,
            "isNew": turn.opened.is_new,
        },
        "model": turn.session.choice.model,
        "modelOrigin": turn.session.choice.origin,
    }


def _encoded(said: str) -> bytes:
    return without_lone_surrogates(said).encode()


def _shortly(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={_shortly(item)}" for name, item in value.items())
    line = " ".join(str(value).split())
    return line if len(line) <= 100 else cut16(line, 99) + "…"
