"""A branch of a transcript as Markdown. Pure.

A fence is longer than any run of backticks in what it holds, and what a message leaves open is closed behind it, so
that no text can break out of its place.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from oc.base.text import len16, pattern
from oc.message.derived import from_entry
from oc.message.shapes import Block, Message, blocks, call_arguments, call_name, calls, text
from oc.session.entry import Entry
from oc.session.outline import Cleaner, limited, pretty, string

_FENCE = r"^ {0,3}(`{3,}|~{3,})(.*)$"


class Form(NamedTuple):
    """`clean` is applied to every text; `max_result_chars` limits tool results, None for all of them; `fold` folds."""

    clean: Cleaner
    max_result_chars: int | None
    fold: bool


def markdown(header: Entry, path: Sequence[Entry], name: str | None, form: Form) -> str:
    """Returns the document: a heading with what is known of the session, then a section for each message."""
    facts = {"session": header.get("id"), "started": header.get("timestamp"), "folder": header.get("cwd")}
    lines = [f"# {_line(form.clean(name or string(header.get('id'))))}", ""]
    lines += [f"- {fact}: {_code(form.clean(string(value)))}" for fact, value in facts.items() if value]
    sections = [part for entry in path for part in _section(entry, form)]
    return "\n".join([*lines, "", *sections]).rstrip("\n") + "\n"


def _section(entry: Entry, form: Form) -> Iterator[str]:
    message = from_entry(entry)
    if message is None:
        if entry.get("type") == "model_change":
            yield f"*Model: {_code(form.clean(string(entry.get('modelId'))))}*\n"
        return
    role = string(message.get("role"))
    when = f" · {_line(form.clean(string(entry['timestamp'])))}" if entry.get("timestamp") else ""
    if role == "toolResult":
        yield from _result(message, form)
        return
    yield f"## {_TITLES.get(role, _line(form.clean(role)))}{when}\n"
    if role == "bashExecution":
        yield fenced(f"$ {form.clean(string(message.get('command')))}", "console") + "\n"
        yield from _output(form.clean(string(message.get("output"))), "Output", form)
        return
    if role in ("compactionSummary", "branchSummary"):
        yield closed(form.clean(string(message.get("summary")))) + "\n"
        return
    for block in blocks(message):
        yield from _block(block, form)
    for call in calls(message):
        yield f"**Tool call** {_code(form.clean(call_name(call) or 'unknown'))}\n"
        yield fenced(form.clean(pretty(call_arguments(call))), "json") + "\n"
    if message.get("errorMessage"):
        yield f"**Error:** {_line(form.clean(string(message['errorMessage'])))}\n"


_TITLES = {
    "user": "User",
    "assistant": "Assistant",
    "custom": "Note",
    "bashExecution": "Command",
    "compactionSummary": "Summary of what came before",
    "branchSummary": "Summary of another branch",
}


def _block(block: Block, form: Form) -> Iterator[str]:
    kind = block.get("type")
    if kind == "text":
        yield closed(form.clean(string(block.get("text")))) + "\n"
    elif kind == "thinking" and block.get("thinking"):
        yield _folded("Thinking", fenced(form.clean(string(block["thinking"])), "text")) + "\n"
    elif kind == "image":
        yield f"*[image, {_line(form.clean(string(block.get('mimeType')))) or 'of an unknown type'}]*\n"


def _result(message: Message, form: Form) -> Iterator[str]:
    title = f"{'Error' if message.get('isError') else 'Result'} of {string(message.get('toolName')) or 'a tool'}"
    images = sum(block.get("type") == "image" for block in blocks(message))
    yield from _output(form.clean(text(message)), form.clean(title), form)
    if images:
        yield f"*[{images} image{'' if images == 1 else 's'}]*\n"


def _output(output: str, title: str, form: Form) -> Iterator[str]:
    shown = fenced(limited(output, form.max_result_chars), "text")
    if form.fold:
        yield _folded(f"{title}, {len16(output)} characters", shown) + "\n"
    else:
        yield f"**{_line(title)}**\n\n{shown}\n"


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{_line(title)}</summary>\n\n{body}\n\n</details>"


def fenced(content: str, language: str = "") -> str:
    """Returns the text between fences that nothing in it can close."""
    longest = max(map(len, pattern("`+").findall(content)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{content}\n{fence}"


def closed(said: str) -> str:
    """Returns what somebody said, with a fence that it leaves open closed behind it, and HTML tags shown as text."""
    fence = ""
    lines = []
    for line in said.split("\n"):
        match = pattern(_FENCE).match(line)
        inside = bool(fence)
        if match and not fence and (match[1][0] == "~" or "`" not in match[2]):
            fence = match[1]
        elif match and fence and match[1][0] == fence[0] and len(match[1]) >= len(fence) and not match[2].strip():
            fence = ""
        lines.append(line if inside or fence else _without_tags(line))
    return "\n".join([*lines, fence] if fence else lines)


def _without_tags(line: str) -> str:
    """Returns the line with each bracket that could begin HTML escaped, code spans apart."""
    pieces = pattern(r"((`+)(?!`).*?(?<!`)\2(?!`))").split(line)
    return "".join(
        piece if index % 3 == 1 else pattern(r"<(?=[a-zA-Z/!?])").sub(r"\\<", piece)
        for index, piece in enumerate(pieces)
        if index % 3 != 2
    )


def _line(words: Any) -> str:
    """Returns a text as part of a line: no line feed, nothing that is markup."""
    return pattern(r"([\\`*_\[\]<>#|])").sub(r"\\\1", " ".join(str(words).split()))


def _code(words: str) -> str:
    plain = " ".join(words.split())
    longest = max(map(len, pattern("`+").findall(plain)), default=0)
    marks = "`" * (longest + 1)
    return f"{marks}{plain}{marks}" if not longest else f"{marks} {plain} {marks}"
