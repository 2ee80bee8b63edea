"""The tools `memory_search`, `memory_get` and `memory_add`: what a model can find, open and write down.

Found text reaches the model fenced and escaped (recall.py), with the line numbers that a citation needs.
"""

from collections.abc import Callable

from oc.agent.tools.recall import NOTHING, Passage, fenced
from oc.agent.tools.scope import CLOSED, Scope
from oc.agent.tools.spec import Arguments, Result, Tool, failed, schema
from oc.base.text import len16
from oc.base.typed import TYPE_CHECKING, NamedTuple
from oc.errors import NotFound
from oc.memory.paths import ENDING, is_memory_path

if TYPE_CHECKING:  # a turn that never looks at memory does not load the index
    from oc.memory.backend import Backend, Hit
    from oc.memory.write import Written

NOT_YET = "Nothing is recorded there yet."
MAX_RESULTS = 20
MAX_GET_LINES = 400
MAX_FACT_CHARS = 20_000


class Memory(NamedTuple):
    """`backend` opens the index when first asked; `add` writes (text, long_term)."""

    scope: Scope
    backend: "Callable[[], Backend]"
    add: "Callable[[str, bool], Written]"
    max_results: int
    warn: Callable[[str], None]

    def tools(self) -> list[Tool]:
        return [self._search_tool(), self._get_tool(), self._add_tool()]

    def _search_tool(self) -> Tool:
        return Tool(
            "memory_search",
            "find passages in the notes by meaning and words",
            "Searches the notes for passages about a question and returns them with path, line numbers and score. "
            "Use it before you answer anything about earlier work, decisions, dates, people, preferences or tasks.",
            schema(
                ["query"],
                query={"type": "string", "description": "A question or the words to look for, in any language."},
                maxResults={
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_RESULTS,
                    "description": "Passages at most.",
                },
                minScore={"type": "number", "minimum": 0, "maximum": 1, "description": "Leave weaker passages out."},
            ),
            self._search,
        )

    def _search(self, arguments: Arguments) -> Result:
        wanted = arguments.get("maxResults", self.max_results)
        # What is closed to the session falls out after the search, so more is asked for than is shown.
        limit = wanted if self.scope.private else 4 * wanted
        found = self.backend().search(arguments["query"], limit=limit, min_score=arguments.get("minScore"))
        for warning in found.warnings:
            self.warn(warning)
        hits = [hit for hit in found.hits if self.scope.shows(hit.path, hit.source)][:wanted]
        if not hits:
            return Result(NOTHING, details={"results": []})
        rows = [
            {"path": hit.path, "startLine": hit.start_line, "endLine": hit.end_line, "score": hit.score} for hit in hits
        ]
        return Result(fenced(map(_passage, hits)), details={"results": rows})

    def _get_tool(self) -> Tool:
        return Tool(
            "memory_get",
            "read lines of a note",
            "Reads lines of a note that memory_search found, or a whole short note.",
            schema(
                ["path"],
                path={"type": "string", "description": "As memory_search gives it, for example memory/2026-03-16.md."},
                **{"from": {"type": "integer", "minimum": 1, "description": "First line, counted from 1."}},
                lines={"type": "integer", "minimum": 1, "description": f"How many, {MAX_GET_LINES} at most."},
            ),
            self._get,
        )

    def _get(self, arguments: Arguments) -> Result:
        path = arguments["path"].strip()
        first = arguments.get("from", 1)
        count = min(arguments.get("lines", MAX_GET_LINES), MAX_GET_LINES)
        try:
            note = self.backend().get(path, first, count)
        except NotFound as error:
            return Result(NOT_YET) if error.path and _may_come(error.path) else failed(f"memory_get: {error}")
        if not self.scope.shows(note.path, "memory"):
            return failed(f"memory_get: {path}: {CLOSED}")
        lines = tuple(note.text.removesuffix("\n").split("\n"))[:MAX_GET_LINES]
        if not note.text:
            return Result(NOT_YET)
        return Result(fenced([Passage(note.path, first, first + len(lines) - 1, lines)]))

    def _add_tool(self) -> Tool:
        long_term = {"longTerm": {"type": "boolean", "description": "True: into MEMORY.md, for what holds for months."}}
        return Tool(
            "memory_add",
            "write a fact down in the notes",
            "Appends a fact to today's note. Give the exact values and the reason, in words somebody would search for.",
            schema(
                ["text"],
                text={"type": "string", "description": "The fact: one or a few lines of Markdown."},
                **(long_term if self.scope.private else {}),
            ),
            self._add,
        )

    def _add(self, arguments: Arguments) -> Result:
        text = arguments["text"].strip()
        if len16(text) > MAX_FACT_CHARS:
            return failed(f"memory_add: a fact has at most {MAX_FACT_CHARS} characters")
        written = self.add(text, bool(arguments.get("longTerm")))
        place = f"{written.path}#L{written.line}"
        details = {"path": written.path, "line": written.line, "added": written.added}
        return Result(f"Written to {place}" if written.added else f"It stands in {place} already", details=details)


def _passage(hit: "Hit") -> Passage:
    lines = tuple(hit.snippet.removesuffix("\n").split("\n"))
    around = None if hit.chunk == (hit.start_line, hit.end_line) else hit.chunk
    return Passage(hit.path, hit.start_line, hit.end_line, lines, hit.score, around)


def _may_come(path: str) -> bool:
    """Says whether a note of that name could be written one day: then its absence is no error to puzzle over."""
    return is_memory_path(path) and path.endswith(ENDING)
