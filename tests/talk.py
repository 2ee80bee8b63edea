"""A transcript of our own for tests: turns of English and Chinese with tool calls, as version 3 or version 1."""

import json
from typing import Any

from oc.base.clock import iso

START_MS = 1773648000000


def entries(turns: int, result_chars: int = 600, *, provider: str = "anthropic", model: str = "claude-x") -> list[dict]:
    """Returns four entries a turn: a question, a call, its result, an answer."""
    messages: list[dict[str, Any]] = []
    who = {"provider": provider, "model": model}
    for turn in range(turns):
        said = (
            f"Turn {turn}: why is job-{turn} slow?"
            if turn % 2 == 0
            else f"第 {turn} 轮：日志在 logs/job-{turn}.log，请检查。"
        )
        path = {"path": f"logs/job-{turn}.log"}
        call = {"type": "toolCall", "id": f"call_{turn}", "name": "read", "arguments": path}
        output = f"job-{turn} line\n" * (result_chars // 11)
        answer = f"We decided to use pool size {turn + 20} for job-{turn} because it waits."
        messages += [
            {"role": "user", "content": said},
            {"role": "assistant", "content": [call], **who, "stopReason": "toolUse"},
            {
                "role": "toolResult",
                "toolCallId": f"call_{turn}",
                "toolName": "read",
                "content": [{"type": "text", "text": output}],
                "isError": False,
            },
            {"role": "assistant", "content": [{"type": "text", "text": answer}], **who, "stopReason": "stop"},
        ]
    return [
        {
            "type": "message",
            "id": f"{number:08x}",
            "parentId": f"{number - 1:08x}" if number else None,
            "timestamp": iso(START_MS + number * 1000),
            "message": {**message, "timestamp": START_MS + number * 1000},
        }
        for number, message in enumerate(messages)
    ]


def transcript(turns: int, version: int = 3, **settings: Any) -> str:
    """Returns the file's text; version 1 has neither version nor ids."""
    header: dict[str, Any] = {
        "type": "session",
        "version": version,
        "id": "talk",
        "timestamp": iso(START_MS),
        "cwd": "/srv",
    }
    lines: list[dict[str, Any]] = [header, *entries(turns, **settings)]
    if version == 1:
        gone = ("version", "parentId")
        lines = [{k: v for k, v in line.items() if k not in gone and (k != "id" or line is lines[0])} for line in lines]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
