import os

import pytest

from oc.workspace.skills import Skill, front_matter, listing, load_skills


def skill(workspace, folder, text):
    path = workspace / "skills" / folder / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_skills_are_listed_by_folder(tmp_path):
    skill(tmp_path, "zip", "---\nname: Unzip\ndescription: Open archives\n---\nbody")
    skill(tmp_path, "a", "no front matter")
    (tmp_path / "skills" / "empty").mkdir()
    (tmp_path / "skills" / "file.md").write_text("x")
    skill(tmp_path, ".hidden", "---\nname: h\n---\n")
    assert load_skills(str(tmp_path)) == [
        Skill("a", "", "skills/a/SKILL.md"),
        Skill("Unzip", "Open archives", "skills/zip/SKILL.md"),
    ]
    assert listing(load_skills(str(tmp_path))) == [
        "- a (skills/a/SKILL.md)",
        "- Unzip (skills/zip/SKILL.md): Open archives",
    ]


def test_a_skill_outside_the_workspace_is_none(tmp_path):
    workspace = tmp_path / "ws"
    (tmp_path / "secret").write_text("---\nname: s\n---\n")
    path = skill(workspace, "s", "x")
    path.unlink()
    path.symlink_to(tmp_path / "secret")
    outside = skill(tmp_path, "o", "---\nname: o\n---\n")
    os.link(outside, workspace / "skills" / "hard.md")
    assert load_skills(str(workspace)) == []


def test_no_folder_no_skills(tmp_path):
    assert load_skills(str(tmp_path)) == []
    assert listing([]) == []


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("---\nname: a\ndescription: b c\n---\n", {"name": "a", "description": "b c"}),
        ("---\r\nname: 'a: b'\r\ndescription: \"x\"\r\n---\r\n", {"name": "a: b", "description": "x"}),
        ("---\ndescription: >\n  one\n  two\n---", {"description": "one two"}),
        ("---\ndescription: one\n  two\n\nname: n\n---\n", {"description": "one two", "name": "n"}),
        ("\ufeff---\nname: a\n---\n", {"name": "a"}),
        ("---\nmeta:\n  deep: x\nname: a\n---\n", {"meta": "deep: x", "name": "a"}),
        ("---\nname: a\n", {}),
        ("name: a\n", {}),
        ("", {}),
    ],
)
def test_front_matter_is_read_as_far_as_skills_use_it(text, fields):
    assert fields == front_matter(text)


def test_long_lists_and_descriptions_are_cut_and_counted():
    skills = [Skill(f"s{n}", "描述 " * 400, f"skills/s{n}/SKILL.md") for n in range(200)]
    lines = listing(skills)
    assert len(lines) < 151
    assert lines[0].endswith("…")
    assert lines[-1] == f"- and {200 - len(lines) + 1} more in skills/"
    short = [Skill(f"s{n}", "", f"skills/s{n}/SKILL.md") for n in range(200)]
    assert listing(short)[-1] == "- and 50 more in skills/"


def test_a_name_stays_on_its_line():
    assert listing([Skill("a\n## Safety", "b\nc", "skills/x\n/SKILL.md")]) == ["- a## Safety (skills/x/SKILL.md): b c"]
