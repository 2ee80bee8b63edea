"""What the budgets did to the workspace files: sizes, causes, and the warning that goes into the prompt. Pure.

Behaviour follows openclaw 2026.3.13 (table: context-bootstrap-budget.json). Lengths are UTF-16 code units.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from oc.base.jsonl import js_text
from oc.base.text import js_trim_end, len16
from oc.workspace.load import File
from oc.workspace.trim import Injected, line_words

NEAR_LIMIT_RATIO = 0.85
WARNING_MODES = ("off", "once", "always")
_SEEN_LIMIT = 32
_SHOWN_FILES = 3
_LABELS = {"per-file-limit": "max/file", "total-limit": "max/total"}


class FileStat(NamedTuple):
    """`truncated` only when less is injected than there is: the markers can make up for what was cut."""

    name: str
    path: str
    missing: bool
    raw_chars: int
    injected_chars: int
    truncated: bool
    near_limit: bool = False
    causes: tuple[str, ...] = ()


class Analysis(NamedTuple):
    files: tuple[FileStat, ...]
    max_chars: int
    total_max_chars: int
    total_near_limit: bool

    @property
    def truncated_files(self) -> tuple[FileStat, ...]:
        return tuple(file for file in self.files if file.truncated)

    @property
    def near_limit_files(self) -> tuple[FileStat, ...]:
        return tuple(file for file in self.files if file.near_limit)

    @property
    def raw_chars(self) -> int:
        return sum(file.raw_chars for file in self.files)

    @property
    def injected_chars(self) -> int:
        return _present(self.files)

    @property
    def truncated_chars(self) -> int:
        return max(0, self.raw_chars - self.injected_chars)


class Notice(NamedTuple):
    """`lines` go into the prompt; `seen` is what the session row should remember."""

    signature: str | None
    shown: bool
    lines: tuple[str, ...]
    seen: tuple[str, ...]


def _present(files: Sequence[FileStat]) -> int:
    return sum(file.injected_chars for file in files if not file.missing)


def analyse(files: Sequence[File], injected: Sequence[Injected], max_chars: int, total_max_chars: int) -> Analysis:
    """Compares what there is with what is injected and says which limit cut it."""
    stats = _stats(files, injected)
    total = _present(stats)
    judged = []
    for stat in stats:
        causes = []
        if stat.truncated and stat.raw_chars > max_chars:
            causes.append("per-file-limit")
        if stat.truncated and total >= total_max_chars:
            causes.append("total-limit")
        near = not stat.missing and stat.raw_chars >= math.ceil(max_chars * NEAR_LIMIT_RATIO)
        judged.append(stat._replace(near_limit=near, causes=tuple(causes)))
    return Analysis(tuple(judged), max_chars, total_max_chars, total >= math.ceil(total_max_chars * NEAR_LIMIT_RATIO))


def _stats(files: Sequence[File], injected: Sequence[Injected]) -> list[FileStat]:
    by_path: dict[str, int] = {}
    by_name: dict[str, int] = {}
    for item in injected:
        by_path.setdefault(item.path, len16(item.content))
        by_name.setdefault(item.path.replace("\\", "/").rpartition("/")[2], len16(item.content))
    stats = []
    for file in files:
        raw = len16(js_trim_end(file.content or ""))
        shown = by_path.get(file.path, by_name.get(file.name, 0))
        missing = file.content is None
        stats.append(FileStat(file.name, file.path, missing, raw, shown, not missing and shown < raw))
    return stats


class Shown(NamedTuple):
    """What became of a file.

    `status`: `shown`, `truncated`, `left out` (no budget left, or blank), `missing`, `refused`; `cause` says why;
    `dropped`: ranges of lines that are lost in whole or in part.
    """

    stat: FileStat
    status: str
    cause: str = ""
    dropped: tuple[tuple[int, int], ...] = ()


def shown_files(files: Sequence[File], injected: Sequence[Injected], analysis: Analysis) -> list[Shown]:
    """Returns what became of each file, in their order."""
    by_path = {item.path: item for item in injected}
    return [_shown(file, by_path.get(file.path), stat) for file, stat in zip(files, analysis.files, strict=True)]


def _shown(file: File, item: Injected | None, stat: FileStat) -> Shown:
    if file.content is None:
        return Shown(stat, "refused" if file.refused else "missing", file.problem or "")
    causes = ", ".join(stat.causes)
    if item is None:
        return Shown(stat, "left out", causes or ("total-limit" if stat.raw_chars else "blank"))
    if item.dropped:
        # The markers can make up for what was cut: then the reference calls the file whole, and names no cause.
        cause = f"{causes or 'per-file-limit'}: lines {line_words(item.dropped)}"
        return Shown(stat, "truncated", cause, item.dropped)
    return Shown(stat, "shown")


def signature(analysis: Analysis) -> str | None:
    """Returns a text that is the same as long as the same is cut from the same files; None when nothing is."""
    rows = [
        {
            "path": f.path or f.name,
            "rawChars": f.raw_chars,
            "injectedChars": f.injected_chars,
            "causes": sorted(f.causes),
        }
        for f in analysis.truncated_files
    ]
    if not rows:
        return None
    rows.sort(key=lambda r: (str(r["path"]).casefold(), r["path"], r["rawChars"], r["injectedChars"], r["causes"]))
    limits = {"bootstrapMaxChars": analysis.max_chars, "bootstrapTotalMaxChars": analysis.total_max_chars}
    return js_text({**limits, "files": rows})


def truncation_warning(
    analysis: Analysis, mode: str = "once", seen: Sequence[str] = (), previous: str | None = None
) -> Notice:
    """Returns the lines for the prompt: with `once` only what the session has not been told; 32 are remembered."""
    known = _last_unique([*seen, previous or ""])
    now = signature(analysis)
    show = now is not None and mode != "off" and (mode == "always" or now not in known)
    kept = _last_unique([*known, now]) if now is not None and mode != "off" else known
    return Notice(now, show, warning_lines(analysis) if show else (), kept)


def _last_unique(signatures: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(s.strip() for s in signatures if s.strip()))[-_SEEN_LIMIT:]


def warning_lines(analysis: Analysis) -> tuple[str, ...]:
    """Returns a line for each of the first three truncated files, the number of the others, and what can be done."""
    cut = analysis.truncated_files
    if not cut:
        return ()
    names = Counter(file.name for file in cut)
    lines = [_line(file, ambiguous=names[file.name] > 1) for file in cut[:_SHOWN_FILES]]
    if len(cut) > _SHOWN_FILES:
        lines.append(f"+{len(cut) - _SHOWN_FILES} more truncated file(s).")
    return (
        *lines,
        (
            "To show more, raise agents.defaults.bootstrapMaxChars or agents.defaults.bootstrapTotalMaxChars, "
            "or shorten the file."
        ),
    )


def _line(file: FileStat, *, ambiguous: bool) -> str:
    label = f"{file.name} ({file.path})" if ambiguous and file.path.strip() else file.name
    # Math.round: half goes up.
    percent = math.floor((file.raw_chars - file.injected_chars) / file.raw_chars * 100 + 0.5) if file.raw_chars else 0
    causes = ", ".join(_LABELS[cause] for cause in file.causes)
    removed = f"~{max(0, percent)}% removed" + (f"; {causes}" if causes else "")
    return f"{label}: {file.raw_chars} raw -> {file.injected_chars} injected ({removed})."
