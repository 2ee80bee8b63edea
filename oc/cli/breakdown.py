"""Draws where the window goes: a line a part, with a bar, in 79 columns; wide characters take two."""

from collections.abc import Iterator

from oc.agent.breakdown import GROUPS, Breakdown, Part
from oc.base.text import columns, one_line

_NAME, _TOKENS, _BAR = 40, 10, 20
_TITLES = {
    "system": "System prompt",
    "tools": "Tools",
    "summary": "Summary",
    "history": "History",
    "prompt": "Prompt",
}
_EIGHTHS = " ▏▎▍▌▋▊▉"


def lines(shown: Breakdown) -> Iterator[str]:
    """Yields the table: groups with their parts, the request as a whole, what is free."""
    whole = max(shown.window_tokens, 1)
    for group in GROUPS:
        parts = [part for part in shown.parts if part.group == group]
        if parts:
            yield _line(_TITLES[group], sum(part.tokens for part in parts), whole)
        if group not in ("summary", "prompt"):
            yield from (_line(f"  {_name(part)}", part.tokens, whole, dim=True) for part in parts)
    yield _line("Request", shown.tokens, whole)
    free = shown.free_tokens
    yield _line("Free", free, whole) if free >= 0 else _line("Over the window", -free, whole)
    yield _line("Window", shown.window_tokens, whole, bar=False)


def _name(part: Part) -> str:
    return f"{part.name} ({part.messages})" if part.messages else part.name


def _line(name: str, tokens: int, whole: int, *, dim: bool = False, bar: bool = True) -> str:
    share = tokens / whole
    drawn = _bar(share) if bar else ""
    drawn = drawn.replace("█", "▒") if dim else drawn
    percent = f"{share:.1%}" if share < 10 else ">999%"
    return f"{fitted(name, _NAME)}{tokens:>{_TOKENS}}{percent:>8}  {drawn}".rstrip()


def _bar(share: float) -> str:
    """Returns the share in eighths of a cell; what is there at all shows."""
    eighths = min(_BAR * 8, max(round(share * _BAR * 8), 1 if share > 0 else 0))
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")


def fitted(text: str, width: int) -> str:
    """Returns the text padded, or cut with an ellipsis, to a width in columns."""
    text = one_line(text)
    if columns(text) > width:
        while columns(text) > width - 1:
            text = text[:-1]
        text += "…"
    return text + " " * (width - columns(text))
