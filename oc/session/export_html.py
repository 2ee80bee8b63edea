"""A transcript as one page: the window over time, the tree, every message.

Pure but for reading the page's own style and script.

A transcript is untrusted: every text is escaped, pictures are taken only as base64 of known types, and a policy in the
page forbids every request and every script but the page's own.
"""

import os
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, NamedTuple

from oc.base.text import len16, pattern
from oc.base.tokens import Counter
from oc.message.derived import from_entry
from oc.message.shapes import Block, Message, blocks, call_arguments, call_name, calls, text
from oc.session.entry import Entry
from oc.session.outline import Cleaner, Segment, Step, limited, pretty, results_by_call, segments, steps, string
from oc.session.tree import labels
from oc.session.window_picture import picture

ASSETS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "export")
_IMAGES = ("image/gif", "image/jpeg", "image/png", "image/webp")
_TITLES = {
    "user": "User",
    "assistant": "Assistant",
    "toolResult": "Tool result",
    "custom": "Note",
    "bashExecution": "Command",
    "compactionSummary": "Summary of what came before",
    "branchSummary": "Summary of another branch",
}


class Page(NamedTuple):
    """What is exported: the header, all entries, the path that is shown first, and the session's name if it has one."""

    header: Entry
    entries: Sequence[Entry]
    path: Sequence[Entry]
    name: str | None


class _Writer:
    """Writes the parts; `number` gives each entry the number that its place in the page is named by."""

    def __init__(self, page: Page, clean: Cleaner, max_result_chars: int | None) -> None:
        self.page = page
        self._clean = clean
        self.max_result_chars = max_result_chars
        self.number = {id(entry): place for place, entry in enumerate(page.entries, 1)}
        self.labels = labels(page.entries)
        self.results: dict[str, Entry] = {}
        self.in_calls: set[int] = set()

    def show(self, value: Any) -> str:
        return escape(self._clean(string(value)))

    def head(self) -> str:
        return self.show(self.page.name or self.page.header.get("id"))

    def facts(self, taken: Sequence[Step]) -> str:
        header, messages = self.page.header, [m for e in self.page.entries if (m := from_entry(e)) is not None]
        models = dict.fromkeys(string(m.get("model")) for m in messages if m.get("role") == "assistant")
        facts = {
            "Session": header.get("id"),
            "Started": header.get("timestamp"),
            "Last entry": self.page.entries[-1].get("timestamp") if self.page.entries else None,
            "Folder": header.get("cwd"),
            "Models": ", ".join(model for model in models if model),
            "Messages": f"{len(messages):,}",
            "Turns": f"{sum(step.kind == 'turn' for step in taken):,}",
            "Compactions": f"{sum(step.kind == 'compaction' for step in taken):,}",
        }
        rows = (f"<div><dt>{name}</dt><dd>{self.show(value)}</dd></div>" for name, value in facts.items() if value)
        return f'<dl class="facts">{"".join(rows)}</dl>'

    def tree(self, found: Sequence[Segment]) -> str:
        here = {id(entry) for entry in self.page.path}
        items = []
        for segment in found:
            first = segment.entries[0]
            kind = "here" if id(first) in here else ""
            entries = entries_of(len(segment.entries))
            link = f'<a href="#e{self.number[id(first)]}">{self.gist(segment.entries)}</a>'
            items.append(f'<li class="{kind} d{min(segment.depth, 6)}">{link} <small>{entries}</small></li>')
        return f'<ul class="tree">{"".join(items)}</ul>'

    def gist(self, entries: Sequence[Entry]) -> str:
        """Returns the first words that somebody said in a run of entries."""
        for entry in entries:
            message = from_entry(entry) or {}
            words = " ".join((text(message) or string(message.get("summary"))).split())
            if words:
                return escape(self._clean(words[:400])[:90])
        return self.show(entries[0].get("type"))

    def articles(self, entries: Sequence[Entry]) -> Iterator[str]:
        """Yields the entries of a run; a result whose call is among them stands in the call."""
        self.results = results_by_call(entries)
        called = {string(c.get("id")) for e in entries for c in calls(from_entry(e) or {})}
        self.in_calls = {id(entry) for call, entry in self.results.items() if call in called}
        for entry in entries:
            yield self.article(entry)

    def article(self, entry: Entry) -> str:
        number, message = self.number[id(entry)], from_entry(entry)
        if id(entry) in self.in_calls:
            return ""
        if message is None:
            return self.aside(entry, number)
        role = string(message.get("role"))
        kind = role if role in _TITLES else "custom"
        label = self.labels.get(entry["id"])
        parts = [
            f"<h3>{_TITLES.get(role) or self.show(role)}</h3>",
            f'<span class="label">{self.show(label)}</span>' if label else "",
            f"<small>{self.about(entry, message)}</small>",
            f'<a href="#e{number}" title="{self.show(entry["id"])}">#{number}</a>',
        ]
        body = "".join(self.body(message))
        return f'<article id="e{number}" class="{kind}"><header>{"".join(parts)}</header>{body}</article>'

    def about(self, entry: Entry, message: Message) -> str:
        known = [entry.get("timestamp"), message.get("model"), message.get("toolName")]
        usage = message.get("usage")
        if isinstance(usage, dict) and isinstance(usage.get("totalTokens"), int) and usage["totalTokens"]:
            known.append(f"{usage['totalTokens']:,} tokens")
        return " · ".join(self.show(each) for each in known if each)

    def aside(self, entry: Entry, number: int) -> str:
        kind = string(entry.get("type"))
        rest = {k: v for k, v in entry.items() if k not in ("type", "id", "parentId", "timestamp")}
        return (
            f'<article id="e{number}" class="aside"><details><summary>{self.show(kind.replace("_", " "))} '
            f"<small>{self.show(entry.get('timestamp'))}</small></summary>{self.pre(pretty(rest))}</details></article>"
        )

    def body(self, message: Message) -> Iterator[str]:
        role = message.get("role")
        if role == "bashExecution":
            yield self.pre(f"$ {string(message.get('command'))}")
            yield self.output(string(message.get("output")), "Output")
            return
        if role == "toolResult":
            yield from self.result(message)
            return
        if role in ("compactionSummary", "branchSummary"):
            yield from self.said(string(message.get("summary")))
            return
        for block in blocks(message):
            yield from self.block(block)
        for call in calls(message):
            yield self.call(call)
        if message.get("errorMessage"):
            yield f'<p class="text bad">{self.show(message["errorMessage"])}</p>'

    def block(self, block: Block) -> Iterator[str]:
        kind = block.get("type")
        if kind == "text":
            yield from self.said(string(block.get("text")))
        elif kind == "thinking":
            thought = self.show(block.get("thinking")) or "(hidden)"
            yield f'<details class="fold"><summary>Thinking</summary><p class="text">{thought}</p></details>'
        elif kind == "image":
            yield self.image(block)
        elif kind not in ("toolCall", "toolUse", "functionCall"):
            yield self.pre(pretty(block))

    def said(self, words: str) -> Iterator[str]:
        """Yields a text with what stands between fences as code; everything else as it was written."""
        parts = pattern(r"(?ms)^ {0,3}(`{3,}|~{3,})[^\n]*\n(.*?)(?:^ {0,3}\1[`~]*[ \t]*$|\Z)").split(words)
        for index in range(0, len(parts), 3):
            if parts[index].strip():
                yield f'<p class="text">{self.show(parts[index].strip(chr(10)))}</p>'
            if index + 2 < len(parts):
                yield self.pre(parts[index + 2].removesuffix("\n"))

    def call(self, call: Block) -> str:
        arguments = call_arguments(call)
        short = " ".join(pretty(arguments).split())[:300]
        entry = self.results.get(string(call.get("id")))
        result = "<p><small>no result</small></p>"
        if entry is not None:
            result = (
                f'<div id="e{self.number[id(entry)]}">{"".join(self.result(entry["message"], unfolded=True))}</div>'
            )
        bad = ' <span class="bad">error</span>' if entry is not None and entry["message"].get("isError") else ""
        title = f"<b>{self.show(call_name(call) or 'unknown')}</b>{bad} <code>{escape(self._clean(short)[:90])}</code>"
        return f'<details class="fold call"><summary>{title}</summary>{self.pre(pretty(arguments))}{result}</details>'

    def result(self, message: Message, *, unfolded: bool = False) -> Iterator[str]:
        yield self.output(text(message), "Error" if message.get("isError") else "Result", unfolded=unfolded)
        yield from (self.image(block) for block in blocks(message) if block.get("type") == "image")

    def output(self, output: str, title: str, *, unfolded: bool = False) -> str:
        shown = self.pre(limited(self._clean(output), self.max_result_chars), cleaned=True)
        summary = f"{title} <small>{len16(output):,} characters</small>"
        kind = "fold result" if unfolded else "fold"
        return f'<details class="{kind}"{" open" if unfolded else ""}><summary>{summary}</summary>{shown}</details>'

    def pre(self, content: str, *, cleaned: bool = False) -> str:
        return f"<pre>{escape(content if cleaned else self._clean(content))}</pre>"

    def image(self, block: Block) -> str:
        kind, data = block.get("mimeType"), block.get("data")
        if kind in _IMAGES and isinstance(data, str) and pattern(r"(?a)[A-Za-z0-9+/]+={0,2}").fullmatch(data):
            return f'<img alt="image" src="data:{kind};base64,{data}">'
        return f"<p><small>image, {self.show(kind)}, not shown</small></p>"


def html(page: Page, counter: Counter, clean: Cleaner, max_result_chars: int | None) -> str:
    """Returns the page; `clean` is applied to every text before it is escaped."""
    writer = _Writer(page, clean, max_result_chars)
    taken = steps(page.path, counter)
    found = segments(page.entries)
    here = {id(entry) for entry in page.path}
    current = "\n".join(writer.articles(page.path)) or "<p><small>no entries</small></p>"
    others = []
    for segment in found:
        rest = [entry for entry in segment.entries if id(entry) not in here]
        if not rest:
            continue
        articles = "\n".join(writer.articles(rest))
        title = f"{entries_of(len(rest))}: {writer.gist(rest)}"
        others.append(f'<details class="branch"><summary>{title}</summary>{articles}</details>')
    style, script = _asset("page.css"), _asset("page.js")
    marks = {
        "POLICY": f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'",
        "STYLE": style,
        "SCRIPT": script,
        "TITLE": writer.head(),
        "FACTS": writer.facts(taken),
        "WINDOW": picture(taken, writer.number),
        "TREE": writer.tree(found),
        "MESSAGES": current,
        "OTHERS": f"<h2>Other branches</h2>{''.join(others)}" if others else "",
    }
    # One pass: what a transcript says must not be taken for a mark.
    return pattern(r"\{\{([A-Z]+)\}\}").sub(lambda match: marks[match[1]], _asset("page.html"))


def entries_of(count: int) -> str:
    return f"{count:,} entr{'y' if count == 1 else 'ies'}"


def _asset(name: str) -> str:
    with open(os.path.join(ASSETS, name), encoding="utf-8") as file:
        return file.read()


def _digest(content: str) -> str:
    from base64 import b64encode
    from hashlib import sha256

    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"
