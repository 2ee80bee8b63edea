"""What hypothesis makes for the tests: JSON values, contexts and branches of sessions.

Sessions are as they come: Chinese and emoji, images, several calls in one message, results out of order or missing,
commands of the user between a call and its result, settings, labels, earlier compactions.
"""

from typing import Any

from hypothesis import strategies as st

from oc.base.clock import iso

TEXT = st.text(st.characters(codec=None, categories=("L", "N", "P", "S", "Z", "C")), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
START_MS = 1773651600000
TOOLS = ("read", "exec", "web_fetch", "edit")
WORDS = st.sampled_from(
    ["部署失败", "ok", "x" * 40, "错误：连接超时", "😀", "pg-b.internal:5432", "line\n", "— end", "", "日" * 30]
)
SPEECH = st.lists(WORDS, max_size=4).map(" ".join)
OUTPUT = st.builds(
    lambda words, times: " ".join(words) * times, st.lists(WORDS, min_size=1, max_size=5), st.integers(0, 40)
)


@st.composite
def turns(draw: st.DrawFn, max_steps: int = 12) -> list[dict[str, Any]]:
    """Messages of a session in order, every result after its call."""
    messages: list[dict[str, Any]] = []
    open_calls: list[tuple[str, str]] = []
    for step in range(draw(st.integers(0, max_steps))):
        kind = draw(st.sampled_from(["user", "assistant", "call", "result", "result", "bash", "custom"]))
        if kind == "result" and open_calls:
            ident, tool = open_calls.pop(draw(st.integers(0, len(open_calls) - 1)))
            messages.append(_result(draw, ident, tool))
        elif kind == "call":
            made = [(f"c{step}-{n}", draw(st.sampled_from(TOOLS))) for n in range(draw(st.integers(1, 2)))]
            open_calls += made
            calls = [
                {
                    "type": "toolCall",
                    "id": i,
                    "name": tool,
                    "arguments": {"path": draw(st.sampled_from(["a.py", "文档.md"]))},
                }
                for i, tool in made
            ]
            messages.append({"role": "assistant", "content": [{"type": "text", "text": draw(SPEECH)}, *calls]})
        else:
            messages.append(_spoken(draw, kind))
    return messages


def _spoken(draw: st.DrawFn, kind: str) -> dict[str, Any]:
    if kind == "bash":
        return {"role": "bashExecution", "command": "ls", "output": draw(OUTPUT), "exitCode": 0}
    if kind == "custom":
        return {"role": "custom", "customType": "n", "content": draw(SPEECH), "display": True}
    if kind == "assistant":
        return {"role": "assistant", "content": [{"type": "text", "text": draw(SPEECH)}], "stopReason": "stop"}
    return {"role": "user", "content": draw(SPEECH)}


def _result(draw: st.DrawFn, ident: str, tool: str) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": draw(OUTPUT)}]
    if draw(st.integers(0, 7)) == 0:
        blocks.append({"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"})
    if draw(st.integers(0, 7)) == 0:
        return {"role": "toolResult", "toolCallId": ident, "toolName": tool, "content": draw(OUTPUT), "isError": False}
    return {
        "role": "toolResult",
        "toolCallId": ident,
        "toolName": tool,
        "content": blocks,
        "isError": draw(st.booleans()),
    }


@st.composite
def branches(draw: st.DrawFn, max_steps: int = 14) -> list[dict[str, Any]]:
    """The entries of one branch, root to leaf, with what stands between messages."""
    entries: list[dict[str, Any]] = []
    for message in draw(turns(max_steps)):
        if draw(st.integers(0, 4)) == 0:
            entries.append(_aside(draw, entries))
        entries.append({"type": "message", "message": message})
    for number, entry in enumerate(entries):
        parent = entries[number - 1]["id"] if number else None
        entry.update(id=f"e{number}", parentId=parent, timestamp=iso(START_MS + number * 1000))
    return entries


def _aside(draw: st.DrawFn, entries: list[dict[str, Any]]) -> dict[str, Any]:
    kind = draw(st.sampled_from(["model", "label", "custom", "note", "branch"]))
    if kind == "model":
        return {"type": "model_change", "provider": "p", "modelId": "m"}
    if kind == "label":
        return {"type": "label", "targetId": "e0", "label": "l"}
    if kind == "custom":
        return {"type": "custom", "customType": "state", "data": {"n": len(entries)}}
    if kind == "note":
        return {"type": "custom_message", "customType": "note", "content": draw(SPEECH), "display": True}
    return {"type": "branch_summary", "fromId": "root", "summary": draw(SPEECH)}
