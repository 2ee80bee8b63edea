import pytest

from oc.workspace.sections import Span, extract_sections, headings, kept_sections
from tests.support import vectors


@vectors("context-post-compaction", "extractSections")
def test_extract(case):
    found = extract_sections(case.input["content"], case.input["names"])
    assert case.expected == {"sections": [text for _, text in found], "found": [name for name, _ in found]}


def test_sections_come_in_the_order_of_the_names_and_keep_their_lines():
    text = "## B\r\nb\r\n## A\n### Deeper\na\n#### Deepest\n# Top\nstill a\n## C\nc"
    assert extract_sections(text, ["A", "B", "X"]) == [
        ("A", "## A\n### Deeper\na\n#### Deepest\n# Top\nstill a"),
        ("B", "## B\r\nb"),
    ]


def test_a_byte_order_mark_hides_no_heading():
    assert extract_sections("\ufeff## A\nx", [" a "]) == [(" a ", "## A\nx")]


def test_an_h3_ends_at_an_h3_and_at_an_h2():
    text = "### A\n1\n### B\n2\n### A2\n3\n## C\n4"
    assert extract_sections(text, ["A", "A2"]) == [("A", "### A\n1"), ("A2", "### A2\n3")]


def test_headings_outside_fenced_code_are_found_with_line_and_level():
    text = "# One\n```\n# no\n```\n###  Three ##\nx\n#No\n####### seven\n###### six\r\n"
    assert [(h.level, h.title, h.number) for h in headings(text)] == [(1, "One", 1), (3, "Three", 5), (6, "six", 9)]


@pytest.mark.parametrize(
    ("text", "titles", "idle"),
    [
        ("<!-- oc:keep -->\n## A\na\n## B", ["A"], []),
        ("<!--oc:keep-->\n\n## A\na", ["A"], []),
        ("<!-- oc:keep -->\n<!-- oc:keep -->\n## A\na", ["A"], []),
        ("<!-- oc:keep -->\ntext\n## A\na", [], [1]),
        ("## A\n<!-- oc:keep -->", [], [2]),
        ("see `<!-- oc:keep -->` there\n## A", [], []),
        ("<!-- oc:keep -->\n# A\n<!-- oc:keep -->\n## Inside\n# B", ["A"], []),
    ],
)
def test_marks_keep_the_section_of_the_heading_below(text, titles, idle):
    spans, lines = kept_sections(text)
    assert [span.title for span in spans] == titles
    assert lines == idle


def test_a_span_names_offsets_and_line():
    text = "x\n<!-- oc:keep -->\n## A\na\n## B"
    (span,), _ = kept_sections(text)
    assert span == Span(19, 26, 3, "A")
    assert text[span.start : span.end] == "## A\na\n"
