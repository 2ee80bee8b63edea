"""The rows of `oc session list`, and which sessions a list is of. Looks at the store and at files' sizes."""

import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from oc.cli.app import App
from oc.cli.lifecycle import when
from oc.session import store
from oc.session.find import SessionRef
from oc.session.fresh import Freshness
from oc.session.keys import key_class
from oc.session_key import chat_type

FIELDS = ("key", "sessionId", "updatedAt", "bytes", "isFresh")


class Wanted(NamedTuple):
    """Which sessions are listed; `due` is compact, flush or None, no `classes` are all."""

    stale: bool
    due: str | None
    classes: tuple[str, ...]

    @property
    def all(self) -> bool:
        return not (self.stale or self.due or self.classes)


def selected(
    app: App, refs: Iterable[SessionRef], wanted: Wanted, judge: Callable[[SessionRef], Freshness]
) -> Iterable[SessionRef]:
    """Returns the sessions that are wanted, the last used first."""
    refs = sorted(refs, key=lambda ref: (-(store.updated_at(ref.row) or 0), ref.key or ""))
    if wanted.classes:
        main_key = str(app.config.get("session.mainKey"))
        refs = [ref for ref in refs if key_class(str(ref.key), main_key) in wanted.classes]
    if wanted.stale:
        refs = [ref for ref in refs if not judge(ref).fresh]
    if wanted.due == "flush":
        from oc.cli.flushing import is_due

        return (ref for ref in refs if is_due(app, ref))
    return refs if wanted.due is None else (ref for ref in refs if _is_over(app, ref))


def _is_over(app: App, ref: SessionRef) -> bool:
    """Says whether a session's context leaves too little of its window free."""
    from oc.window.budget import is_over, reserve_tokens, window

    tokens = store.fresh_tokens(ref.row or {})
    if tokens is None:
        tokens = _context_tokens(ref.path)
    return is_over(tokens, window(app.config, row=ref.row).tokens, reserve_tokens(app.config))


def _context_tokens(path: str) -> int:
    """Returns the size of a context whose row does not know it; a session without a transcript has none."""
    from oc.base.tokens import counter
    from oc.cli.stream import read_context
    from oc.errors import NotFound
    from oc.message.size import context_size

    try:
        entries = read_context(path)
    except NotFound:
        return 0
    return context_size([entry["message"] for entry in entries], counter("estimate")).tokens


def short_row(ref: SessionRef, judged: Freshness | None) -> dict[str, Any]:
    """Returns what a line for people shows."""
    try:
        size: int | None = os.stat(ref.path).st_size
    except OSError:
        size = None
    return {
        "key": ref.key,
        "sessionId": ref.session_id,
        "updatedAt": when(store.updated_at(ref.row)),
        "path": ref.path,
        "bytes": size,
        "isFresh": None if judged is None else judged.fresh,
    }


def long_row(ref: SessionRef, judged: Freshness | None) -> dict[str, Any]:
    """Returns all that is printed of a session as JSON."""
    row = ref.row or {}
    return {
        **short_row(ref, judged),
        "chatType": row.get("chatType") or (chat_type(ref.key) if ref.key else None),
        "class": key_class(ref.key) if ref.key else None,
        "label": row.get("label"),
        "displayName": row.get("displayName"),
        "model": row.get("modelOverride") or row.get("model"),
        "totalTokens": store.fresh_tokens(row),
        "compactionCount": row.get("compactionCount"),
    }
