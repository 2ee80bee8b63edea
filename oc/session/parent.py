"""Whether the session of a thread starts as a fork of its parent's. Behaviour follows OpenClaw 2026.3.13."""

from typing import Any

from oc.session.find import SessionRef
from oc.session.forked import Source
from oc.session.open import Start

_DEFAULT_MAX_TOKENS = 100_000


def start_of(parent: SessionRef | None, thread_id: str | None, max_tokens: Any) -> Start:
    """Returns how a session that has a parent starts; a parent whose context is larger than `max_tokens` is not forked.

    0 is no limit. That the parent was considered is noted in the row in any case, so that it is never considered again.
    """
    if parent is None:
        return Start(thread_id)
    total = (parent.row or {}).get("totalTokens")
    tokens = total if isinstance(total, int | float) and not isinstance(total, bool) else 0
    usable = isinstance(max_tokens, int | float) and not isinstance(max_tokens, bool) and max_tokens >= 0
    limit = int(max_tokens) if usable else _DEFAULT_MAX_TOKENS
    fields = {"forkedFromParent": True}
    if 0 < limit < tokens:
        return Start(thread_id, None, fields)
    return Start(thread_id, Source(parent.path), fields)
