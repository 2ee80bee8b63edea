"""How `oc context` shows a request: as a document, as a table of its parts, as a list of what has changed."""

from typing import Any

from oc.agent.breakdown import breakdown, change_rows
from oc.agent.look import Look
from oc.agent.request import request_tokens
from oc.base.tokens import Counter
from oc.cli.app import App
from oc.cli.stream import warn_skipped

_PARTS = ("group", "name", "tokens", "share", "messages")
_CHANGES = ("change", "entryId", "role", "tool", "tokensBefore", "tokensAfter", "cause")


def tell(app: App, shown: Look) -> None:
    """Says what a reader of the request should know beside it."""
    choice, window = shown.session.choice, shown.window
    warn_skipped(app, shown.session.ref.path, shown.skipped)
    for warning in shown.parts.warnings:
        app.out.warn(warning)
    if shown.is_new:
        app.out.say(f"oc: {shown.session.ref.key} would be a new session")
    if shown.due:
        app.out.say(
            f"oc: a compaction is due: {shown.coming_tokens} tokens, the limit is {shown.threshold_tokens}; "
            "`oc prompt` would compact first"
        )
    app.out.detail(f"model {choice.model} ({choice.origin}), window {window.tokens} tokens ({window.origin})")


def sums(shown: Look, measure: Counter) -> dict[str, Any]:
    tokens = request_tokens(shown.request, measure)
    sizes = {"messages": len(shown.request.messages), "tokens_after": tokens, "count": measure.name}
    return {**sizes, "window_tokens": shown.window.tokens, "window_origin": shown.window.origin}


def _about(shown: Look, measure: Counter) -> dict[str, Any]:
    session, window, speaker = shown.session, shown.window, shown.speaker
    leaf = shown.path[-1].get("id") if shown.path else None
    tokens = request_tokens(shown.request, measure)
    return {
        "session": {
            "key": session.ref.key,
            "sessionId": session.ref.session_id,
            "path": session.ref.path or None,
            "kind": session.kind,
            "isNew": shown.is_new,
            "leafId": leaf,
        },
        "model": {
            "name": session.choice.model,
            "origin": session.choice.origin,
            **speaker._asdict(),
            "speakerOrigin": shown.speaker_origin,
        },
        "window": {"tokens": window.tokens, "origin": window.origin},
        "compaction": {
            "due": shown.due,
            "tokens": shown.coming_tokens,
            "limitTokens": shown.threshold_tokens,
        },
        "count": measure.name,
        "tokens": tokens,
        "freeTokens": window.tokens - tokens,
    }


def document(shown: Look, measure: Counter) -> dict[str, Any]:
    """Returns the request as one object; `messages` ends with the prompt, `entryIds` are theirs, in order."""
    request = shown.request
    tools = [{"name": t.name, "description": t.description, "parameters": t.parameters} for t in request.tools]
    return {
        "system": request.system,
        "messages": request.messages,
        "entryIds": shown.seen.ids,
        "tools": tools,
        "prompt": shown.prompt,
        **_about(shown, measure),
    }


def print_breakdown(app: App, shown: Look, measure: Counter) -> None:
    found = breakdown(shown, measure)
    if app.out.format == "text":
        from oc.cli.breakdown import lines

        about = _about(shown, measure)
        app.out.line(f"Session  {about['session']['key'] or about['session']['path']}")
        app.out.line(f"Model    {about['model']['name']} ({about['model']['origin']})")
        app.out.line(f"Window   {found.window_tokens} tokens ({about['window']['origin']}), counted by {measure.name}")
        app.out.line("")
        for line in lines(found):
            app.out.line(line)
        return
    whole = max(found.window_tokens, 1)
    rows = [{**part._asdict(), "share": round(part.tokens / whole, 6)} for part in found.parts]
    free = {"group": "free", "name": "free", "tokens": found.free_tokens, "messages": 0, "path": None}
    rows.append({**free, "share": round(found.free_tokens / whole, 6)})
    app.out.rows("parts", rows, _PARTS, _about(shown, measure))


def print_changes(app: App, then: Look, now: Look, measure: Counter) -> int:
    """Prints what has changed between two requests; 1 when nothing has."""
    rows = change_rows(then, now, measure)
    sizes = [request_tokens(one.request, measure) for one in (then, now)]
    extra = {"count": measure.name, "tokensBefore": sizes[0], "tokensAfter": sizes[1]}
    app.out.rows("changes", rows, _CHANGES, extra)
    return 0 if rows else 1
