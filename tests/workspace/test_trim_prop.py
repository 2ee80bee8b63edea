from hypothesis import given
from hypothesis import strategies as st

from oc.base.text import js_trim_end, len16
from oc.workspace.load import File
from oc.workspace.sections import kept_sections
from oc.workspace.trim import trim

LINES = st.sampled_from(
    ["<!-- oc:keep -->", "# A", "## B", "## 红线", "### C", "```", "", "text 😀", "规则 " * 20, "x" * 70, "  "]
)
TEXTS = st.lists(LINES, max_size=60).map("\n".join)
FILES = st.lists(st.one_of(st.none(), TEXTS), max_size=5).map(
    lambda texts: [File(f"F{n}.md", f"/ws/F{n}.md", text) for n, text in enumerate(texts)]
)


@given(FILES, st.integers(5, 900), st.integers(1, 2500))
def test_the_total_is_never_exceeded_and_the_order_stays(files, max_chars, total):
    injected, _ = trim(files, max_chars, total)
    assert sum(len16(item.content) for item in injected) <= total
    names = [item.name for item in injected]
    assert names == [file.name for file in files if file.name in names]


@given(TEXTS, st.integers(200, 900))
def test_marked_sections_that_fit_are_whole_and_the_file_keeps_its_limit(text, max_chars):
    (item,) = trim([File("A.md", "/ws/A.md", text)], max_chars)[0] or [None]
    if item is None:
        assert js_trim_end(text) == ""
        return
    trimmed = js_trim_end(text)
    spans, _ = kept_sections(trimmed)
    if spans and len16(trimmed) > max_chars:
        assert len16(item.content) <= max_chars
        room = max_chars - 150 - 9 * len(spans)
        used = 0
        for span in spans:
            part = trimmed[span.start : span.end]
            used += len16(part)
            if used > room:
                break
            assert part.strip("\n") in item.content


@given(TEXTS, st.integers(5, 900))
def test_lines_that_are_not_dropped_are_shown(text, max_chars):
    for item in trim([File("A.md", "/ws/A.md", text)], max_chars)[0]:
        lost = {n for first, last in item.dropped for n in range(first, last + 1)}
        lines = js_trim_end(text).split("\n")
        assert all(line in item.content for n, line in enumerate(lines, 1) if n not in lost)
        assert bool(lost) == (len16(js_trim_end(text)) > max_chars)
        assert all(1 <= first <= last <= len(lines) for first, last in item.dropped)


@given(FILES, st.integers(5, 900), st.integers(1, 2500))
def test_the_same_files_give_the_same_bytes(files, max_chars, total):
    assert trim(files, max_chars, total) == trim(files, max_chars, total)


@given(st.text(max_size=300), st.integers(1, 200), st.integers(1, 300))
def test_any_text_is_cut_without_an_error(text, max_chars, total):
    injected, _ = trim([File("A.md", "/ws/A.md", text)], max_chars, total)
    assert sum(len16(item.content) for item in injected) <= total
