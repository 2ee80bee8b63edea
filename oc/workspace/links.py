"""Finds the relative links of a Markdown text and says which lead nowhere. Looks at the disk, reads no file."""

import os
from collections.abc import Iterator

from oc.base.text import pattern
from oc.workspace.load import is_inside
from oc.workspace.sections import prose

_INLINE = r"\]\([ \t]*(?:<([^<>\n]{1,1000})>|([^\s()<>]{1,1000}(?:\([^\s()]{0,200}\)[^\s()]{0,200})?))"
_DEFINITION = r" {0,3}\[[^\]\n]{1,200}\]:[ \t]*<?([^\s>]{1,1000})"
_CODE = r"(?<!`)(`{1,20})(?!`).{1,1000}?(?<!`)\1(?!`)"
_ELSEWHERE = r"(?i)[a-z][a-z0-9+.-]*:|//|#|/"


def relative_links(text: str) -> Iterator[tuple[int, str]]:
    """Yields (line, target) for links to files, images and definitions included; code and addresses are left out."""
    for number, line in prose(text):
        if "](" not in line and "]:" not in line:
            continue
        plain = pattern(_CODE).sub("", line)
        targets = [a or b for a, b in pattern(_INLINE).findall(plain)]
        definition = pattern(_DEFINITION).match(plain)
        if definition:
            targets.append(definition[1])
        yield from ((number, target) for target in targets if not pattern(_ELSEWHERE).match(target))


def dead_link(root: str, folder: str, target: str) -> str | None:
    """Returns what is wrong with a link of a file in `folder`, or None; `root` is the workspace.

    `memory/YYYY-MM-DD.md` stands for a note of any day and is no link to a file.
    """
    from urllib.parse import unquote

    path = unquote(target.partition("#")[0].partition("?")[0])
    if not path or "\0" in path or "YYYY" in path:
        return None
    where = os.path.normpath(os.path.join(folder, path))
    if not is_inside(os.path.normpath(root), where):
        return f"the link {target} leads out of the workspace"
    return None if os.path.exists(where) else f"the link {target} leads nowhere"
