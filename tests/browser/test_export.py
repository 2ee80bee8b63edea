"""The page of an export in a real browser, at the size of a phone and of a desktop."""

import struct
import zlib

import pytest

from oc.base.clock import iso
from oc.base.jsonl import dump_line
from oc.base.tokens import counter
from oc.session.export_html import Page, html
from oc.session.outline import as_it_is
from oc.session.tree import leaf_path
from tests.browser.driver import Browser
from tests.session.hostile import TRAPS, transcript
from tests.support import Oc

PHONE, DESKTOP = (390, 844), (1280, 800)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    made = Browser(tmp_path_factory.mktemp("browser"))
    yield made
    made.close()


def conversation():
    """Twelve turns with calls, two compactions, a prune clock and a branch that was left."""
    header = {"type": "session", "version": 3, "id": "s", "timestamp": iso(0), "cwd": "/srv/shop"}
    entries = []

    def add(kind, parent=None, **fields):
        last = entries[-1]["id"] if entries else None
        number = len(entries)
        entry = {"type": kind, "id": f"e{number}", "parentId": parent or last, "timestamp": iso(number * 1000)}
        entries.append({**entry, **fields})
        return entries[-1]["id"]

    for turn in range(12):
        asked = add("message", message={"role": "user", "content": f"question {turn} 结账 " + "long" * 60})
        call = {"type": "toolCall", "id": f"c{turn}", "name": "read", "arguments": {"path": "x" * 300}}
        usage = {"totalTokens": 1000 * (turn % 5 + 1)}
        add("message", message={"role": "assistant", "content": [call], "usage": usage})
        add("message", message={"role": "toolResult", "toolCallId": f"c{turn}", "content": "output\n" * 200})
        if turn == 3:
            add("custom", customType="openclaw.cache-ttl", data={})
        if turn in (4, 9):
            add("compaction", summary="so far", firstKeptEntryId=asked, tokensBefore=5000)
    left = add("message", parent="e0", message={"role": "user", "content": "the other way"})
    add("message", parent=entries[-2]["id"], message={"role": "user", "content": "thanks"})
    assert left == entries[-2]["id"]
    return header, entries


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page that the real command writes."""
    folder = tmp_path_factory.mktemp("export")
    oc = Oc(folder)
    header, entries = conversation()
    (folder / "s.jsonl").write_bytes(b"".join(map(dump_line, (header, *entries))))
    ran = oc("session", "export", folder / "s.jsonl", "-o", folder / "page.html")
    assert (0, "") == (ran.status, ran.err)
    return f"file://{folder}/page.html"


def colours(png):
    """How many different colours a picture has: a blank one has one."""
    place, data, width = 8, b"", 0
    while place < len(png):
        size, kind = struct.unpack(">I4s", png[place : place + 8])
        if kind == b"IHDR":
            width, _, depth, form = struct.unpack(">IIBB", png[place + 8 : place + 18])
            assert depth == 8
            channels = {2: 3, 6: 4}[form]
        if kind == b"IDAT":
            data += png[place + 8 : place + 8 + size]
        place += size + 12
    raw = zlib.decompress(data)
    return len({raw[i : i + 16] for i in range(0, len(raw), width * channels // 8)})


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_fits_and_can_be_read(browser, page, size, dark):
    browser.open(page, *size, dark=dark)
    wide, inner = browser.run("return [document.documentElement.scrollWidth, innerWidth]")
    assert (size[0], size[0]) == (wide, inner)
    assert [] == browser.log()
    assert 0 == browser.run("return performance.getEntriesByType('resource').length")
    sizes = browser.run(
        "return [...document.querySelectorAll('p.text, pre, small, summary')]"
        ".filter((e) => e.offsetParent).map((e) => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= 12
    ink, paper = browser.run(
        "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor].map("
        "(c) => c.match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0))"
    )
    assert (ink > paper) is dark
    assert abs(ink - paper) > 400
    assert colours(browser.picture()) > 20


def test_the_window_has_a_bar_for_each_turn_and_leads_to_it(browser, page):
    browser.open(page, *DESKTOP)
    bars, compactions, prunes = browser.run(
        "return ['rect', 'line.mark-compaction', 'line.mark-prune']"
        ".map((what) => document.querySelectorAll(`svg ${what}`).length)"
    )
    assert (13, 2, 1) == (bars, compactions, prunes)
    heights = browser.run(
        "return [...document.querySelectorAll('svg rect')].map((r) => r.getBoundingClientRect().height)"
    )
    assert heights[4] == max(heights) > 100
    assert heights[0] < heights[4] / 3
    assert browser.run(
        "return new Promise((done) => {"
        " addEventListener('hashchange', () => requestAnimationFrame(() => done(scrollY > 300)), {once: true});"
        " location.hash = document.querySelectorAll('svg a')[6].href.baseVal; })"
    )


def test_keys_search_and_branches(browser, page):
    browser.open(page, *DESKTOP)
    browser.type("jj")
    assert "e2" == browser.run("return document.querySelector('article.now').id")
    browser.type("k")
    assert "e1" == browser.run("return document.querySelector('article.now').id")
    assert not browser.run("return document.querySelector('details.branch').open")
    browser.type("/other way")
    shown, said = browser.run(
        "return [[...document.querySelectorAll('article')].filter((a) => a.offsetParent).map((a) => a.textContent),"
        " document.getElementById('found').textContent]"
    )
    assert 1 == len(shown)
    assert "the other way" in shown[0]
    assert said.startswith("1 of ")
    browser.type("\ue00c")  # escape
    browser.type("o")
    assert browser.run("return [...document.querySelectorAll('details.call')].every((d) => d.open)")
    browser.type("o")
    assert not browser.run("return [...document.querySelectorAll('details.call')].some((d) => d.open)")


def test_a_link_into_what_is_folded_opens_it(browser, page):
    browser.open(f"{page}#e3", *PHONE)
    assert browser.run("return document.getElementById('e3').closest('details').open")
    other = browser.run("return document.querySelector('details.branch article').id")
    browser.open(f"{page}#{other}", *PHONE)
    assert browser.run("return document.querySelector('details.branch').open")


@pytest.mark.parametrize("trap", TRAPS)
def test_no_transcript_runs_a_script_or_asks_the_network(browser, tmp_path, trap):
    header, entries = transcript(trap)
    path = tmp_path / "hostile.html"
    text = html(Page(header, entries, leaf_path(entries), trap), counter("estimate"), as_it_is, None)
    path.write_bytes(text.encode())
    browser.open(f"file://{path}", *PHONE)
    browser.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    broken, loaded, frames = browser.run(
        "return [window.broken === undefined, performance.getEntriesByType('resource').length, window.length]"
    )
    assert (True, 0, 0) == (broken, loaded, frames)
    assert [] == browser.log()
    shown = browser.run("return document.querySelector('article.user p.text').textContent")
    assert as_it_is(trap).replace("\x00", "") == shown
    assert browser.run("return document.querySelectorAll('article').length") >= len(entries) - 1


def test_the_policy_stops_what_would_get_through(browser, tmp_path, page):
    """Were something not escaped, the page's own rule would still keep it from running."""
    source = page.removeprefix("file://")
    with open(source, encoding="utf-8") as file:
        text = file.read().replace("<h1>", "<script>window.broken=1</script><img src=http://127.0.0.1:9/x><h1>")
    path = tmp_path / "broken.html"
    path.write_text(text, encoding="utf-8")
    browser.open(f"file://{path}", *PHONE)
    assert browser.run("return window.broken === undefined")
    assert 2 == sum("Content Security Policy" in line for line in browser.log())
