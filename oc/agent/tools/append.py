"""The only writing tool of a flush: it collects what is to be appended to the note of a day, and to no other file.

Nothing is on disk before the model has come to its own end: a call that breaks off leaves no note behind. What the
file becomes follows openclaw 2026.3.13 (table: context-flush-append).
"""

import os
from dataclasses import dataclass, field

from oc.agent.tools.spec import Arguments, Result, Tool, failed, schema
from oc.base.text import len16
from oc.window.flush_prompt import TOOL

MAX_CHARS = 60_000


@dataclass(slots=True)
class Notes:
    """`path` is that of the note of `date`, relative to the workspace; `parts` what the model has given so far."""

    workspace: str
    path: str
    date: str
    parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Everything given, each part on a line of its own."""
        joined = ""
        for part in self.parts:
            gap = "\n" if joined and not joined.endswith("\n") and not part.startswith("\n") else ""
            joined += gap + part
        return joined

    def tool(self) -> Tool:
        return Tool(
            TOOL,
            "append to today's note",
            f"Appends Markdown to {self.path}, at the end of what stands there. Give one bullet for each fact.",
            schema(
                ["content"],
                content={"type": "string", "description": "One bullet a line, each with its exact values and reason."},
                path={"type": "string", "description": f"Leave it out: it can only be {self.path}."},
            ),
            self._append,
        )

    def _append(self, arguments: Arguments) -> Result:
        given = arguments.get("path", self.path)
        note = os.path.normpath(os.path.join(self.workspace, self.path))
        if os.path.normpath(os.path.join(self.workspace, given)) != note:
            return failed(f"this turn writes to {self.path} and to nothing else")
        content = arguments["content"]
        if sum(map(len16, self.parts)) + len16(content) > MAX_CHARS:
            return failed(f"a flush notes at most {MAX_CHARS} characters")
        self.parts.append(content)
        return Result(f"Noted for {self.path}.", details={"path": self.path, "appendOnly": True})
