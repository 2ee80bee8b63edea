"""What a flush's only writing tool makes of the note of the day, by the reference's table."""

from oc.agent.tools.append import Notes
from oc.agent.tools.spec import call
from oc.memory.block import append_block
from tests.forms import expand
from tests.support import vectors

DATE = "2026-03-16"
PATH = f"memory/{DATE}.md"


@vectors("context-flush-append")
def test_append(case, tmp_path):
    """Errors name the one path; their wording is our own."""
    for name, content in expand(case.input.get("workspace", {})).items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    notes = Notes(str(tmp_path), PATH, DATE)
    tool = notes.tool()
    results = [call(tool, tool.name, write) for write in case.input["writes"]]
    assert [row["ok"] for row in case.expected["results"]] == [not result.failed for result in results]
    for row, result in zip(case.expected["results"], results, strict=True):
        assert PATH in row.get("text", row.get("error"))
        assert PATH in result.text
        assert row.get("details") == result.details
    if notes.text:
        append_block(str(tmp_path), notes.text, date=DATE, now_ms=0)
    file = tmp_path / PATH
    assert case.expected["file"] == (file.read_text() if file.exists() else None)


def test_an_absolute_path_in_the_workspace_is_the_same(tmp_path):
    notes = Notes(str(tmp_path), PATH, DATE)
    tool = notes.tool()
    assert not call(tool, tool.name, {"content": "- a", "path": str(tmp_path / PATH)}).failed
    assert call(tool, tool.name, {"content": "- a", "path": "/etc/passwd"}).failed
    assert call(tool, tool.name, {"content": "- a", "path": f"../{PATH}"}).failed
    assert "- a" == notes.text


def test_too_much_is_refused(tmp_path):
    notes = Notes(str(tmp_path), PATH, DATE)
    tool = notes.tool()
    assert not call(tool, tool.name, {"content": "字" * 40_000}).failed
    assert call(tool, tool.name, {"content": "字" * 40_000}).failed
    assert call(tool, tool.name, {"content": "  "}).failed
    assert 40_000 == len(notes.text)
