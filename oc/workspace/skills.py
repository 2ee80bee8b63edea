"""Skills of a workspace: `skills/<folder>/SKILL.md` with a name and a description in its front matter. Only reads."""

import os
import re
from typing import NamedTuple

from oc.base.text import cut16, len16, pattern
from oc.workspace.load import read_file
from oc.workspace.prompt import literal

MAX_SKILLS = 150
MAX_LIST_CHARS = 30_000
MAX_DESCRIPTION_CHARS = 500


class Skill(NamedTuple):
    """`path` is relative to the workspace, with `/`."""

    name: str
    description: str
    path: str


def load_skills(workspace: str) -> list[Skill]:
    """Returns the skills sorted by folder; a SKILL.md that cannot be read safely is none."""
    try:
        folders = sorted(os.listdir(os.path.join(workspace, "skills")))
    except OSError:
        return []
    found = []
    for folder in folders:
        relative = f"skills/{folder}/SKILL.md"
        content = None if folder.startswith(".") else read_file(workspace, relative).content
        if content is not None:
            fields = front_matter(content)
            found.append(Skill(fields.get("name") or folder, fields.get("description", ""), relative))
    return found


def listing(skills: list[Skill]) -> list[str]:
    """Returns a line for each skill, at most 150 lines and 30,000 characters, and then how many are left out."""
    lines: list[str] = []
    used = 0
    for skill in skills[:MAX_SKILLS]:
        about = " ".join(skill.description.split())
        if len16(about) > MAX_DESCRIPTION_CHARS:
            about = cut16(about, MAX_DESCRIPTION_CHARS - 1) + "…"
        line = literal(f"- {skill.name} ({skill.path})" + (f": {about}" if about else ""))
        used += len16(line) + 1
        if used > MAX_LIST_CHARS:
            break
        lines.append(line)
    left_out = len(skills) - len(lines)
    return [*lines, f"- and {left_out} more in skills/"] if left_out else lines


def front_matter(text: str) -> dict[str, str]:
    """Returns the plain `key: value` fields between the two `---` lines; quotes go, folded lines are joined.

    Nested values are not read: this is the small part of YAML that skills use.
    """
    match = pattern(r"(?s)\ufeff?---[ \t]*\n(.*?)\n---[ \t]*(?:\n|$)").match(text.replace("\r\n", "\n"))
    fields: dict[str, str] = {}
    name = ""
    for line in match[1].split("\n") if match else ():
        field = re.match(r"([A-Za-z][\w-]*):[ \t]*(.*)$", line)
        if field:
            name, value = field[1].lower(), field[2].strip()
            fields[name] = "" if value in (">", "|", ">-", "|-") else _unquoted(value)
        elif name and line.startswith((" ", "\t")) and line.strip():
            fields[name] = f"{fields[name]} {line.strip()}".strip()
    return fields


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
