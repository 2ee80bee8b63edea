"""Findings about workspace files, for people and CI: budgets, secrets, links, headings, marks. Only reads."""

import os
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from oc.base.text import js_trim_end, len16
from oc.message.secrets import find_secrets
from oc.workspace.links import dead_link, relative_links
from oc.workspace.load import File, is_inside, load_extra, load_standard, read_file
from oc.workspace.names import RECOGNISED, Rules
from oc.workspace.report import NEAR_LIMIT_RATIO
from oc.workspace.sections import headings, kept_sections
from oc.workspace.trim import Injected, line_words, trim


class Finding(NamedTuple):
    """`line` is 1-based; `code` a stable name; `severity` is error or warning."""

    path: str
    line: int
    severity: str
    code: str
    message: str


def check_workspace(workspace: str, rules: Rules) -> list[Finding]:
    """Returns the findings of all files that a private session is shown, in their order."""
    extra, diagnostics = load_extra(workspace, rules.extra_patterns)
    present = [file for file in load_standard(workspace) if file.content is not None or file.refused]
    files = [*present, *extra]
    found = [finding for file in files for finding in check_file(workspace, file, rules)]
    for diagnostic in diagnostics:
        path = os.path.join(workspace, diagnostic.path)
        found.append(Finding(path, 1, "error", "not-read", f"this extra file is not used: {diagnostic.problem}"))
    return found + list(_total(files, rules))


def check_path(workspace: str, path: str, rules: Rules) -> list[Finding]:
    """Returns the findings of one file by path; a file outside the workspace is its own folder's."""
    folder, name = os.path.split(os.path.abspath(path))
    if is_inside(os.path.realpath(workspace), os.path.realpath(folder)):
        return list(check_file(workspace, read_file(workspace, os.path.join(folder, name)), rules))
    return list(check_file(os.path.abspath(os.sep), read_file(folder, name), rules))


def check_file(root: str, file: File, rules: Rules) -> Iterator[Finding]:
    """Yields the findings of one file by line; links may not leave `root`, budgets are for files that sessions show."""
    if file.content is None:
        yield Finding(file.path, 1, "error", "not-read", f"{file.problem}; it counts as missing")
        return
    found = [*_secrets(file), *_links(root, file), *_duplicates(file), *_idle_marks(file)]
    if file.name in RECOGNISED:
        found += _budget(file, rules.max_chars)
    if "\ufffd" in file.content:
        line = file.content[: file.content.index("\ufffd")].count("\n") + 1
        found.append(Finding(file.path, line, "warning", "encoding", "not UTF-8, or a replacement character"))
    yield from sorted(found, key=lambda finding: (finding.line, finding.code == "dropped", finding.code))


def sizes(text: str) -> tuple[int, int]:
    """Returns (characters of the file, as `wc -m` counts them; UTF-16 units that the limit is compared with)."""
    return len(text), len16(js_trim_end(text))


def _size_words(text: str) -> str:
    characters, units = sizes(text)
    if characters == units:
        return f"{characters} characters"
    return f"{characters} characters, which count as {units} (UTF-16 units without white space at the end)"


def _budget(file: File, limit: int) -> Iterator[Finding]:
    text = file.content or ""
    units = sizes(text)[1]
    if units <= limit:
        if units >= limit * NEAR_LIMIT_RATIO:
            share = f"{units * 100 // limit} % of the limit of {limit}"
            yield Finding(file.path, 1, "warning", "near-budget", f"{_size_words(text)}: {share}")
        return
    shown = trim([file], limit)[0]
    lost = sum(last - first + 1 for item in shown for first, last in item.dropped)
    message = f"{_size_words(text)}, over the limit of {limit}: {lost} lines are not shown in full"
    yield Finding(file.path, 1, "error", "over-budget", message)
    yield from _dropped(file, shown)


def _dropped(file: File, shown: Sequence[Injected]) -> Iterator[Finding]:
    """Yields a finding for each section of which lines are lost, at the first lost line."""
    text = file.content or ""
    last_line = js_trim_end(text).count("\n") + 1
    starts = [(h.number, f"{'#' * h.level} {h.title}") for h in headings(text)]
    if not starts or starts[0][0] > 1:
        starts.insert(0, (1, "the text before the first heading"))
    ends = [number - 1 for number, _ in starts[1:]] + [last_line]
    kept = {span.number for span in kept_sections(text)[0]}
    for (number, title), end in zip(starts, ends, strict=True):
        parts = [
            (max(first, number), min(last, end))
            for item in shown
            for first, last in item.dropped
            if first <= end and last >= number
        ]
        if parts:
            marked = " although it is marked oc:keep" if number in kept else ""
            message = f"{title}: lines {line_words(parts)} are not shown{marked}"
            yield Finding(file.path, parts[0][0], "error", "dropped", message)


def _total(files: Sequence[File], rules: Rules) -> Iterator[Finding]:
    """Yields what the budget of all files together costs, at the files that lose by it."""
    whole = sum(sizes(file.content)[1] for file in files if file.content is not None)
    limit = rules.total_max_chars
    if whole < limit * NEAR_LIMIT_RATIO:
        return
    alone = {file.path: trim([file], rules.max_chars)[0] for file in files}
    together = {item.path: item for item in trim(files, rules.max_chars, limit)[0]}
    hurt = False
    for file in files:
        before = alone[file.path][0].content if alone[file.path] else ""
        after = together[file.path].content if file.path in together else ""
        if file.content is not None and len16(after) < len16(before):
            hurt = True
            message = f"all files together are over the limit of {limit}: {len16(after)} of {len16(before)} shown"
            yield Finding(file.path, 1, "error", "over-total", message)
    if not hurt and files:
        message = f"all files together have {whole} UTF-16 units, {whole * 100 // limit} % of the limit of {limit}"
        yield Finding(files[0].path, 1, "warning", "near-total", message)


def _secrets(file: File) -> Iterator[Finding]:
    for suspect in find_secrets(file.content or ""):
        yield Finding(file.path, suspect.line, "error", "secret", f"looks like a secret ({suspect.kind})")


def _links(root: str, file: File) -> Iterator[Finding]:
    for line, target in relative_links(file.content or ""):
        problem = dead_link(root, os.path.dirname(file.path), target)
        if problem:
            yield Finding(file.path, line, "error", "dead-link", problem)


def _duplicates(file: File) -> Iterator[Finding]:
    """Yields headings that stand twice under the same parent: the second is never found by its name."""
    seen: dict[tuple[tuple[str, ...], int], int] = {}
    parents: list[tuple[int, str]] = []
    for heading in headings(file.content or ""):
        title = heading.title.strip().casefold()
        parents = [(level, name) for level, name in parents if level < heading.level]
        place = ((*(name for _, name in parents), title), heading.level)
        parents.append((heading.level, title))
        if place in seen:
            message = f"the heading {heading.title!r} stands in line {seen[place]} already"
            yield Finding(file.path, heading.number, "warning", "duplicate-heading", message)
        seen.setdefault(place, heading.number)


def _idle_marks(file: File) -> Iterator[Finding]:
    for line in kept_sections(file.content or "")[1]:
        yield Finding(file.path, line, "warning", "idle-mark", "oc:keep keeps nothing here: no heading follows it")
