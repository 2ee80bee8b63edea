import pytest

from oc.base.text import len16
from oc.workspace.links import relative_links
from oc.workspace.load import File
from oc.workspace.sections import Span, extract_sections, headings, kept_sections
from oc.workspace.trim import trim
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
    text = "# One\n```\n# no\n```\n###  Three ##\nx\n#No\n####### seven\n###### six\r\n#   \n## C#\n"
    assert [(h.level, h.title, h.number) for h in headings(text)] == [
        (1, "One", 1),
        (3, "Three", 5),
        (6, "six", 9),
        (2, "C#", 11),
    ]


def test_a_heading_of_nothing_but_spaces_ends_a_section():
    """As in the reference, where the title takes one of the spaces."""
    assert extract_sections("## A\nx\n##  \ny", ["A"]) == [("A", "## A\nx")]
    assert extract_sections("## A\nx\n## \ny", ["A"]) == [("A", "## A\nx\n## \ny")]


TRAPS = [
    "## a" + " " * 500_000 + "b",
    "#" * 500_000,
    "<!-- oc:keep -->\n" * 60_000 + "# A",
    "<!-- oc:keep -->\n# A\n" * 40_000,
    "<!-- oc:keep -->\n# A\n" + "## B\n" * 100_000,
    "<!--" + " " * 500_000 + "oc:keep",
    "`" * 500_000,
    "`a``b" * 100_000,
    "](" * 250_000,
    "[a](" + " " * 500_000,
    "[x]: " + "<" * 500_000,
    "😀\n<!-- oc:keep -->\n# A\nx\n# B\n" * 20_000,
]


@pytest.mark.parametrize("text", TRAPS, ids=lambda text: repr(text[:20]))
def test_a_hostile_file_is_no_trap(text):
    """Quadratic work would take minutes on these; each is a file of less than the 2 MiB that are read."""
    assert extract_sections(text, ["zzz", "a"]) is not None
    assert kept_sections(text) is not None
    assert list(relative_links(text)) is not None
    (item,) = trim([File("AGENTS.md", "/ws/AGENTS.md", text)])[0]
    assert len16(item.content) <= 20_200


@pytest.mark.parametrize(
    ("text", "titles", "idle"),
    [
        ("<!-- oc:keep -->\n## A\na\n## B", ["A"], []),
        ("<!--oc:keep-->\n\n## A\na", ["A"], []),
        ("<!-- oc:keep -->\n<!-- oc:keep -->\n## A\na", ["A"], []),
        ("<!-- oc:keep -->\ntext\n## A\na", [], [1]),
        ("## A\n<!-- oc:keep -->", [], [2]),
        ("<!-- oc:keep -->\n\n<!-- oc:keep -->\ntext\n## A", [], [1, 3]),
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
