import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.workspace.check import check_file, check_path, check_workspace, sizes
from oc.workspace.load import File
from oc.workspace.names import Rules

SMALL = Rules(max_chars=500, total_max_chars=1200)


def found(text, name="AGENTS.md", rules=SMALL, root="/ws"):
    return [(f.line, f.severity, f.code) for f in check_file(root, File(name, f"/ws/{name}", text), rules)]


def messages(text, rules=SMALL):
    return [f.message for f in check_file("/ws", File("AGENTS.md", "/ws/AGENTS.md", text), rules)]


def test_a_clean_file_has_no_findings():
    assert found("# Rules\n\n- be kind\n") == []
    assert found("") == []


def test_the_budget_is_judged_at_85_percent_and_above_the_limit():
    assert found("x" * 424) == []
    assert found("x" * 425) == [(1, "warning", "near-budget")]
    assert found("x" * 500) == [(1, "warning", "near-budget")]
    assert found("x" * 501)[0] == (1, "error", "over-budget")
    assert found("x" * 501, name="notes.md") == []


BOTH = "which count as 450 (UTF-16 units without white space at the end)"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x" * 450, "450 characters"),
        ("规" * 450, "450 characters"),
        ("x" * 450 + "\n", f"451 characters, {BOTH}"),
        ("😀" * 225, f"225 characters, {BOTH}"),
    ],
)
def test_both_counts_are_printed_where_they_differ(text, words):
    assert messages(text) == [f"{words}: 90 % of the limit of 500"]


def test_sizes_are_characters_and_utf16_units():
    assert sizes("a规😀\n") == (4, 4)
    assert sizes("a规\n\n") == (4, 2)


def test_what_truncation_drops_is_told_by_section():
    text = "".join(f"## S{n}\n" + "".join(f"- rule {n}.{i}\n" for i in range(12)) for n in range(6))
    rows = list(check_file("/ws", File("AGENTS.md", "/ws/AGENTS.md", text), SMALL))
    assert (rows[0].code, rows[0].line) == ("over-budget", 1)
    dropped = [(f.line, f.message) for f in rows if f.code == "dropped"]
    assert dropped[0] == (33, "## S2: lines 33-39 are not shown")
    assert [message.partition(":")[0] for _, message in dropped] == ["## S2", "## S3", "## S4", "## S5"]
    assert "not shown in full" in rows[0].message


def test_a_marked_section_is_not_among_the_dropped_unless_it_is_too_long():
    filler = "".join(f"- filler {n}\n" for n in range(40))
    text = f"# Top\n{filler}<!-- oc:keep -->\n## Rule\n- never\n## Rest\n{filler}"
    dropped = [m for m in messages(text) if "lines" in m and m.startswith("##")]
    assert [m.partition(":")[0] for m in dropped] == ["## Rest"]
    long = f"# Top\n{filler}<!-- oc:keep -->\n## Rule\n{filler * 2}"
    assert any(m.startswith("## Rule: ") and m.endswith("although it is marked oc:keep") for m in messages(long))


def test_lines_before_the_first_heading_count_as_a_section():
    text = "\n".join(f"line {n}" for n in range(200))
    assert [m for m in messages(text) if "before the first heading" in m]


def test_the_same_heading_twice_in_one_place_is_told():
    text = "# A\n## Same\nx\n## same \ny\n# B\n## Same\n### C\n### D\n### C\n"
    assert found(text) == [(4, "warning", "duplicate-heading"), (10, "warning", "duplicate-heading")]


def test_other_findings_name_their_line():
    text = "# A\n\n[x](gone.md)\nPASSWORD=hunter2\n<!-- oc:keep -->\ntext\n"
    assert found(text) == [(3, "error", "dead-link"), (4, "error", "secret"), (5, "warning", "idle-mark")]
    assert "hunter2" not in "".join(messages(text))


def test_bytes_that_are_no_utf8_are_told(tmp_path):
    (tmp_path / "AGENTS.md").write_bytes(b"a\nb\xff\n")
    (finding,) = check_path(str(tmp_path), str(tmp_path / "AGENTS.md"), SMALL)
    assert (finding.line, finding.code) == (2, "encoding")


def test_a_file_that_is_not_read_is_told(tmp_path):
    (tmp_path / "a.md").write_text("x")
    os.link(tmp_path / "a.md", tmp_path / "AGENTS.md")
    (tmp_path / "SOUL.md").mkdir()
    rows = check_workspace(str(tmp_path), Rules(extra_patterns=("gone/TOOLS.md",)))
    assert [(os.path.basename(f.path), f.code, f.message) for f in rows] == [
        ("AGENTS.md", "not-read", "a hard link: another name may lie outside the workspace; it counts as missing"),
        ("SOUL.md", "not-read", "not a regular file; it counts as missing"),
        ("TOOLS.md", "not-read", "this extra file is not used: no such file"),
    ]


def test_missing_files_are_no_findings_but_missing_operands_are(tmp_path):
    assert check_workspace(str(tmp_path), Rules()) == []
    (finding,) = check_path(str(tmp_path), str(tmp_path / "AGENTS.md"), Rules())
    assert finding.message == "no such file; it counts as missing"


def test_all_files_together_have_a_budget_too(tmp_path):
    for name in ("AGENTS.md", "SOUL.md", "USER.md"):
        (tmp_path / name).write_text("x" * 360)
    assert [(os.path.basename(f.path), f.code) for f in check_workspace(str(tmp_path), SMALL)] == [
        ("AGENTS.md", "near-total")
    ]
    (tmp_path / "TOOLS.md").write_text("x" * 360)
    rows = [(os.path.basename(f.path), f.code, f.message) for f in check_workspace(str(tmp_path), SMALL)]
    assert rows == [("USER.md", "over-total", "all files together are over the limit of 1200: 120 of 360 shown")]


def test_a_file_elsewhere_may_link_to_its_neighbours(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("x")
    (tmp_path / "docs" / "a.md").write_text("[up](../README.md) [gone](../GONE.md)")
    rows = check_path(str(tmp_path / "ws"), str(tmp_path / "docs" / "a.md"), Rules())
    assert [f.message for f in rows] == ["the link ../GONE.md leads nowhere"]


@given(st.text(st.sampled_from("#-`[]()<>!: \nabYoc.keep=KEY规😀\r\t"), max_size=400))
def test_any_text_can_be_checked(text):
    rows = list(check_file("/ws", File("AGENTS.md", "/ws/AGENTS.md", text), Rules(max_chars=120)))
    last = text.count("\n") + 1
    assert all(1 <= finding.line <= last for finding in rows)
    assert [finding.line for finding in rows] == sorted(finding.line for finding in rows)
