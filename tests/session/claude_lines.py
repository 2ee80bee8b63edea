"""A small session as Claude Code writes it, made for the tests."""

import json

NOW = "2026-03-16T09:00:{:02d}.000Z"
SESSION = "5f3c0000-0000-4000-8000-000000000001"


class Writer:
    """Collects lines; every line hangs on the one before unless it is told where."""

    def __init__(self):
        self.lines = []
        self.last = None

    def add(self, kind, uuid, *, parent="last", side=False, **fields):
        parent = self.last if parent == "last" else parent
        line = {
            "parentUuid": parent,
            "isSidechain": side,
            "cwd": "/srv/shop",
            "sessionId": SESSION,
            "version": "2.0.1",
            "type": kind,
            "uuid": uuid,
            "timestamp": NOW.format(len(self.lines)),
            **fields,
        }
        self.lines.append(line)
        if not side:
            self.last = uuid
        return uuid

    def other(self, **line):
        self.lines.append(line)

    def user(self, uuid, content, **fields):
        return self.add("user", uuid, message={"role": "user", "content": content}, **fields)

    def assistant(self, uuid, message_id, *content, stop=None, output=5, **fields):
        usage = {"input_tokens": 10, "output_tokens": output, "cache_read_input_tokens": 100}
        message = {"id": message_id, "role": "assistant", "model": "claude-x", "content": list(content)}
        return self.add("assistant", uuid, message={**message, "stop_reason": stop, "usage": usage}, **fields)

    def result(self, uuid, call, content, *, error=False, **fields):
        block = {"type": "tool_result", "tool_use_id": call, "content": content, "is_error": error}
        return self.user(uuid, [block], **fields)

    def text(self):
        return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in self.lines)


def call(call_id, name, **arguments):
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def text(said):
    return {"type": "text", "text": said}


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}


def session():
    """Everything at once: thinking, parallel calls, an image, a sidechain, a rewind, a compaction, a name."""
    w = Writer()
    w.other(type="summary", summary="Mend the shop", leafUuid="u1")
    w.other(type="file-history-snapshot", messageId="x", snapshot={})
    w.user("u1", "结账 500?")
    w.assistant("a1", "m1", {"type": "thinking", "thinking": "look", "signature": "sig"}, output=1)
    w.assistant("a2", "m1", call("c1", "Read", file="a.log"), output=2)
    w.assistant("a3", "m1", call("c2", "Task", prompt="find it"), stop="tool_use", output=9)
    w.result("r1", "c1", "ERROR pool\n```", parent="a2", toolUseResult={"lines": 1})
    w.user("s1", "find it", parent=None, side=True)
    w.assistant("s2", "m2", text("found"), parent="s1", side=True, stop="end_turn")
    w.result("r2", "c2", [text("found"), IMAGE], error=True, parent="a3")
    w.add("system", "y1", subtype="informational", content="note")
    w.assistant("a4", "m3", text("It is the pool."), stop="end_turn")
    w.user("u2", "rewound", parent="a4")
    w.user("u3", [text("And this?"), IMAGE, {"type": "document"}], parent="a4")
    w.assistant("a5", "m4", {"type": "redacted_thinking", "data": "zz"}, text("Fine."), stop="max_tokens")
    w.add(
        "system",
        "b1",
        parent=None,
        logicalParentUuid="a5",
        subtype="compact_boundary",
        compactMetadata={"trigger": "auto", "preTokens": 900},
    )
    w.user("k1", "They mended the pool.", isCompactSummary=True)
    w.assistant("a6", "m5", text("API Error"), isApiErrorMessage=True)
    return w
