"""The page of an export: everything escaped, nothing fetched, every entry in it once."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.base.tokens import counter
from oc.session.export_html import Page, html
from oc.session.outline import as_it_is
from oc.session.tree import leaf_path
from tests.session.hostile import TRAPS, transcript
from tests.shapes import branches

COUNTER = counter("estimate")
HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-03-16T09:00:00.000Z", "cwd": "/"}
VOID = {"meta", "input", "img", "br"}
PAGE_TAGS = "html head meta title style body nav div input output button main footer kbd script section h1 h2 h3"
MESSAGE_TAGS = "article header dl dt dd ul li small span p pre details summary b i code img a svg rect line"
TAGS = {*PAGE_TAGS.split(), *MESSAGE_TAGS.split()}


class Elements(HTMLParser):
    """Collects tags, attributes, ids; notes tags that are not closed where they were opened."""

    def __init__(self):
        super().__init__()
        self.tags, self.ids, self.links, self.open, self.bad = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "action", "data", "xlink:href"):
                self.links.append(value)
            if name.startswith("on") or name == "style":
                self.bad.append((tag, name))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.bad.append(("end", tag))


def read(text):
    elements = Elements()
    elements.feed(text)
    elements.close()
    return elements


def page_of(entries, header=HEADER, name=None, **settings):
    path = leaf_path(entries)
    return html(Page(header, entries, path, name), COUNTER, settings.get("clean", as_it_is), settings.get("limit"))


def assert_sound(text, count):
    elements = read(text)
    assert [] == elements.bad
    assert [] == elements.open
    assert set(elements.tags) <= TAGS
    assert (1, 1) == (elements.tags.count("script"), elements.tags.count("style"))
    assert all(
        re.fullmatch(r"#e\d+|data:image/(gif|jpeg|png|webp);base64,[A-Za-z0-9+/]+=*", link) for link in elements.links
    )
    assert len(elements.ids) == len(set(elements.ids))
    assert {f"e{n}" for n in range(1, count + 1)} == {i for i in elements.ids if re.fullmatch(r"e\d+", i)}


@pytest.mark.parametrize("trap", TRAPS)
def test_no_text_breaks_out(trap):
    header, entries = transcript(trap)
    assert_sound(page_of(entries, header, name=trap), len(entries))


@given(branches(), st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=3))
def test_every_entry_has_its_place_once(entries, moved):
    """On the shown branch, on another one, or as the result inside of its call; links lead to something."""
    for child, parent in moved:
        if child < len(entries) and parent < len(entries):
            entries[child] = {**entries[child], "parentId": entries[parent]["id"]}
    assert_sound(page_of(entries), len(entries))


def test_the_policy_is_the_digest_of_what_the_page_holds():
    from base64 import b64encode
    from hashlib import sha256

    text = page_of([])
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        content = re.search(f"<{tag}>(.*)</{tag}>", text, re.DOTALL)[1]
        digest = b64encode(sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_results_stand_in_their_calls_and_are_cut_where_asked():
    entries = [
        {
            "type": "message",
            "id": "a",
            "parentId": None,
            "message": {
                "role": "assistant",
                "content": [{"type": "toolCall", "id": "c", "name": "read", "arguments": {}}],
            },
        },
        {
            "type": "message",
            "id": "b",
            "parentId": "a",
            "message": {"role": "toolResult", "toolCallId": "c", "toolName": "read", "content": "日" * 50},
        },
    ]
    text = page_of(entries, limit=10)
    assert f"<pre>{'日' * 10}\n[40 more characters left out]</pre>" in text
    assert 1 == text.count("<article")
    assert "no result" in page_of(entries[:1])


def test_what_stands_between_fences_is_code():
    entry = {
        "type": "message",
        "id": "a",
        "parentId": None,
        "message": {"role": "user", "content": "x\n```sh\nls\n```\ny"},
    }
    assert '<p class="text">x</p><pre>ls</pre><p class="text">y</p>' in page_of([entry])


def test_pictures_are_taken_as_base64_of_known_types_only():
    block = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
    entry = {"type": "message", "id": "a", "parentId": None, "message": {"role": "user", "content": [block]}}
    assert '<img alt="image" src="data:image/png;base64,AAAA">' in page_of([entry])
    block["mimeType"] = "image/svg+xml"
    assert "<img" not in page_of([entry])
