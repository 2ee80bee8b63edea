from oc.base.text import len16
from oc.workspace.load import File
from oc.workspace.trim import trim

MARK = "<!-- oc:keep -->\n"


def file(content, name="AGENTS.md"):
    return File(name, f"/ws/{name}", content)


def shown(files, *limits):
    return {item.name: item for item in trim(files, *limits)[0]}


def numbered(first, last):
    return "".join(f"line {n}\n" for n in range(first, last + 1))


def test_dropped_lines_are_told_by_number():
    item = shown([file(numbered(1, 200))], 400)["AGENTS.md"]
    assert item.dropped == ((37, 191),)
    assert item.content.split("\n\n")[0].endswith("\nl")  # line 37 is cut inside
    assert "…(truncated AGENTS.md: kept 280+80 chars of 1691)…" in item.content


def test_nothing_is_dropped_of_a_file_that_fits():
    assert shown([file("a\nb\n")], 400)["AGENTS.md"].dropped == ()


def test_lines_that_only_the_total_budget_cuts_are_told_too():
    item = shown([file(numbered(1, 100))], 400, 120)["AGENTS.md"]
    assert item.content.endswith("…")
    assert item.dropped[-1][1] == 100


def test_a_limit_of_one_injects_the_whole_text_behind_the_marker():
    """As in the reference, whose slice(-0) is the whole string; only a limit below 5 comes here."""
    item = shown([file("z" * 90)], 1)["AGENTS.md"]
    marker = "[...truncated, read AGENTS.md for full content...]\n…(truncated AGENTS.md: kept 0+0 chars of 90)…"
    assert item.content == f"\n\n{marker}\n\n{'z' * 90}"
    assert item.dropped == ()


def keep_case():
    middle = f"## Rule\n{numbered(301, 303)}"
    return numbered(1, 200) + MARK + middle + "## Next\n" + numbered(401, 600), middle


def test_a_marked_section_in_the_middle_is_kept_whole():
    text, middle = keep_case()
    item = shown([file(text)], 1000)["AGENTS.md"]
    assert middle in item.content
    assert item.content.startswith("line 1\n")
    assert item.content.endswith("line 600")
    assert len16(item.content) <= 1000
    assert "…(truncated AGENTS.md: kept " in item.content
    lost = [n for first, last in item.dropped for n in range(first, last + 1)]
    assert not set(range(202, 206)) & set(lost)
    assert item.content.count("[...truncated, read AGENTS.md") == 1
    assert item.content.count("\n\n[...]\n\n") == 1


def test_the_same_text_without_marks_is_cut_as_the_reference_does():
    text, middle = keep_case()
    item = shown([file(text.replace(MARK, ""))], 1000)["AGENTS.md"]
    assert middle not in item.content
    assert "kept 700+200 chars" in item.content


def test_several_marked_sections_come_in_their_order_and_the_last_is_cut_when_they_are_too_long():
    text = "intro\n" + "".join(f"{MARK}## S{n}\n{'x' * 300} end{n}\n" for n in range(5))
    item = shown([file(text)], 1000)["AGENTS.md"]
    assert [f"end{n}" in item.content for n in range(5)] == [True, True, False, False, False]
    assert "## S2" in item.content
    assert len16(item.content) <= 1000


def test_a_marked_subsection_ends_at_a_heading_of_its_level():
    text = f"# A\n{numbered(1, 300)}{MARK}### Sub\nkept\n#### Deeper\nkept too\n### Other\n{numbered(301, 600)}"
    item = shown([file(text)], 700)["AGENTS.md"]
    assert "### Sub\nkept\n#### Deeper\nkept too\n" in item.content


def test_a_mark_in_fenced_code_or_before_plain_text_keeps_nothing():
    text = f"```\n{MARK}## Not\n```\n{MARK}plain text\n## Head\n{numbered(1, 300)}"
    item = shown([file(text)], 400)["AGENTS.md"]
    assert "kept 280+80 chars" in item.content


def test_wide_characters_are_counted_in_utf16_and_never_split():
    text = "😀" * 400 + f"\n{MARK}## 红线\n不要泄露 😀\n## 其他\n" + "😀" * 400
    item = shown([file(text)], 500)["AGENTS.md"]
    assert "## 红线\n不要泄露 😀\n" in item.content
    assert len16(item.content) <= 500
    item.content.encode()  # no lone surrogate


def test_room_for_marked_sections_of_later_files_is_set_aside():
    long = numbered(1, 500)
    rules = long + f"{MARK}## Rule\nnever\n## Z\n" + long
    items = shown([file(long, "AGENTS.md"), file(rules, "TOOLS.md")], 3000, 3000)
    assert "## Rule\nnever" in items["TOOLS.md"].content
    assert sum(len16(item.content) for item in items.values()) <= 3000
    unmarked = shown([file(long, "AGENTS.md"), file(rules.replace(MARK, ""), "TOOLS.md")], 3000, 3000)
    assert "## Rule" not in unmarked["TOOLS.md"].content


def test_a_total_that_is_used_up_by_what_later_files_keep_leaves_out_earlier_ones():
    rules = f"{MARK}## Rule\n{'n' * 150}\n## Z\n" + numbered(1, 100)
    files = [file("a" * 90, "AGENTS.md"), File("SOUL.md", "/ws/SOUL.md", None), file(rules, "TOOLS.md")]
    injected, warnings = trim(files, 400, 330)
    assert [item.name for item in injected][-1] == "TOOLS.md"
    assert "n" * 150 in injected[-1].content
    assert sum(len16(item.content) for item in injected) <= 330
    assert any("skipping additional bootstrap files" in warning for warning in warnings)


def test_a_file_without_a_path_is_left_out_with_a_warning():
    injected, warnings = trim([File("SOUL.md", " ", "x"), file("a")])
    assert [item.name for item in injected] == ["AGENTS.md"]
    assert warnings == ["workspace bootstrap file SOUL.md has no path; left out"]


def test_a_blank_file_vanishes_without_a_warning():
    assert trim([file(" \n\t\ufeff"), file("a", "SOUL.md")])[0] == [trim([file("a", "SOUL.md")])[0][0]]
