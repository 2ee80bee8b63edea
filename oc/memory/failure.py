"""What the texts of errors in memory mean: try again, take the fallback, the index is read-only. Pure.

Texts are all that a plugin's client gives; where a status is known it decides instead (embed/http.py).
Behaviour follows openclaw 2026.3.13 (tables: memory-retry, memory-citations).
"""

from typing import Any

from oc.base.text import js_trim, pattern

# A status of 5xx counts as a number of its own: the reference takes any three digits after a 5, as in "of 1536".
_RETRYABLE = r"(?i)rate[_ ]limit|too many requests|429|resource has been exhausted|\b5\d\d\b|cloudflare|tokens per day"
_EMBEDDING = "(?i)embedding|batch"
_READONLY = "(?i)attempt to write a readonly database|database is read-only|SQLITE_READONLY"
_QUOTA = "(?i)quota|429"


def is_retryable(text: str) -> bool:
    """Says whether the same request may succeed later: rate limits and failures of the server."""
    return pattern(_RETRYABLE).search(text) is not None


def concerns_embedding(text: str) -> bool:
    """Says whether another embedder may do what failed."""
    return pattern(_EMBEDDING).search(text) is not None


def is_readonly(text: str) -> bool:
    """Says whether SQLite refused to write because file or disk is read-only."""
    return pattern(_READONLY).search(text) is not None


def unavailable(error: str | None) -> dict[str, Any]:
    """Returns what a model is told when memory cannot be searched."""
    text = js_trim(error or "") or "memory search unavailable"
    if pattern(_QUOTA).search(text):
        warning = "The embedder's quota is used up, so memory cannot be searched."
        action = "Wait, raise the quota or choose another embedder; then call memory_search again."
    else:
        warning = "Memory cannot be searched because of an error of the embedder or of the index."
        action = "See `oc memory status`; then call memory_search again."
    return {
        "results": [],
        "disabled": True,
        "unavailable": True,
        "error": text,
        "warning": warning,
        "action": action,
    }
