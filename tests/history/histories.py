"""Generated histories, as broken as writers leave them, and what each provider demands of a washed one."""

import copy
import re
from itertools import pairwise

from hypothesis import strategies as st

from oc.history.policy import resolve
from oc.message.shapes import calls, result_id

MODELS = {
    "anthropic": resolve("anthropic", None, "claude-opus-4-6"),
    "kimi": resolve("kimi-coding", None, "k2p5"),
    "minimax": resolve("minimax", None, "MiniMax-M2.5"),
    "google": resolve("google", None, "gemini-3-pro"),
    "openai-chat": resolve("openai", "openai-completions", "gpt-5.2"),
    "openai-responses": resolve("openai", "openai-responses", "gpt-5.2"),
    "mistral": resolve("mistral", None, "mistral-large"),
    "ollama": resolve("ollama", "openai-completions", "llama3.1"),
    "relay": resolve("openrouter", None, "google/gemini-2.5-pro"),
    "unknown": resolve(),
}
ID_FORMS = {
    "anthropic": r"[a-zA-Z0-9]{1,40}",
    "kimi": r"[a-zA-Z0-9]{1,40}",
    "minimax": r"[a-zA-Z0-9]{1,40}",
    "google": r"[a-zA-Z0-9]{1,40}",
    "openai-chat": r"[a-zA-Z0-9]{1,40}",
    "mistral": r"[a-zA-Z0-9]{9}",
    "ollama": r"[a-zA-Z0-9]{1,40}",
    "relay": r"[a-zA-Z0-9]{1,40}",
}
ALTERNATING = {"anthropic", "kimi", "minimax", "google", "ollama"}
RS = '{"id":"rs_1","type":"reasoning"}'

IDS = st.sampled_from(
    [
        "c1",
        "c1",
        "c-1",
        "c_1",
        "c1x2",
        "call_1|fc_1",
        "call_1|fc_2",
        "call_1",
        "读",
        " ",
        "",
        "a" * 50,
        "a" * 41,
        None,
        7,
    ]
)
TEXTS = st.sampled_from(["hi", "  ", "", "数据库 😀", "[Inter-session message]\nx", "(session bootstrap)"])
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TEXT = st.builds(lambda t: {"type": "text", "text": t}, TEXTS)
SIGNED = st.builds(
    lambda t, s: {"type": "text", "text": t, "thought_signature": s, "thoughtSignature": s},
    TEXTS,
    st.sampled_from(["msg_1", "QUJD", 7]),
)
IMAGE = st.builds(
    lambda d: {"type": "image", "data": d, "mimeType": "image/jpeg"}, st.sampled_from([PNG, "", "!!", "iVBORw0KGgo="])
)
THINKING = st.builds(
    lambda s: {"type": "thinking", "thinking": "hm", "thinkingSignature": s}, st.sampled_from([RS, "sig", None])
)
CALL = st.builds(
    lambda kind, call_id, name, arguments: {
        "type": kind,
        **({} if call_id is None else {"id": call_id}),
        "name": name,
        ("input" if kind == "toolUse" else "arguments"): arguments,
    },
    st.sampled_from(["toolCall", "toolUse", "functionCall"]),
    IDS,
    st.sampled_from(["read", " exec ", "a.b", "", "sessions_spawn", None]),
    st.sampled_from([{}, {"path": "a"}, None, {"attachments": [{"content": "x"}, 3]}]),
)
ODD = st.sampled_from([None, 5, {"type": ["text"]}, {"type": "new", "x": 1}])
STOP = st.sampled_from(
    [{}, {"stopReason": "stop"}, {"stopReason": "error", "errorMessage": "e"}, {"stopReason": "aborted"}]
)
USAGE = st.sampled_from(
    [
        {},
        {"usage": {"input": 5, "output": 1}},
        {"usage": {"prompt_tokens": -1, "cost": {}}},
        {"usage": 3},
        {"usage": {}},
    ]
)
ORIGIN = st.sampled_from(
    [{}, {}, {"provenance": {"kind": "inter_session", "sourceTool": " t "}}, {"provenance": {"kind": "inter_session"}}]
)
TIME = st.sampled_from([{}, {"timestamp": 5}, {"timestamp": 50}, {"timestamp": None}])


def message(role, content, *extra):
    return st.builds(
        lambda c, parts: {"role": role, "content": c, **{k: v for part in parts for k, v in part.items()}},
        content,
        st.tuples(*extra),
    )


USER = message("user", TEXTS | st.lists(TEXT | IMAGE | ODD, max_size=3), ORIGIN, TIME)
ASSISTANT = message(
    "assistant", TEXTS | st.lists(TEXT | SIGNED | THINKING | CALL | CALL | IMAGE | ODD, max_size=5), STOP, USAGE, TIME
)
RESULT = st.builds(
    lambda key, call_id, content, name: {
        "role": "toolResult",
        **({} if call_id is None else {key: call_id}),
        "content": content,
        **name,
    },
    st.sampled_from(["toolCallId", "toolCallId", "toolUseId"]),
    IDS,
    TEXTS | st.lists(TEXT | IMAGE, max_size=2) | st.none(),
    st.sampled_from([{"toolName": "read"}, {"toolName": "  "}, {}, {"toolName": "read", "details": {"x": 1}}]),
)
OTHER = st.sampled_from(
    [
        {"role": "compactionSummary", "summary": "s", "timestamp": 20},
        {"role": "custom", "customType": "x", "content": "note"},
        {"role": "bashExecution", "command": "ls", "output": "a"},
        {"role": "future", "content": 5},
        {"role": ["user"]},
    ]
)
# Copied one by one: a message that is two messages at once exists in no file.
HISTORY = st.lists(USER | ASSISTANT | ASSISTANT | RESULT | RESULT | OTHER, max_size=12).map(
    lambda messages: [copy.deepcopy(message) for message in messages]
)


def faults(washed, name):
    """Yields every rule of the provider that a washed history breaks."""
    yield from pairing_faults(washed)
    for made in washed:
        for call in calls(made):
            if name in ID_FORMS and not re.fullmatch(ID_FORMS[name], call["id"]):
                yield f"id {call['id']!r}"
    if name in ALTERNATING:
        roles = [made.get("role") for made in washed]
        yield from (f"two {a} messages" for a, b in pairwise(roles) if a == b and a in ("user", "assistant"))
        if roles[:1] == ["assistant"]:
            yield "starts with the assistant"
    if name == "openai-responses":
        yield from item_faults(washed)


def pairing_faults(washed):
    seen = set()
    index = 0
    while index < len(washed):
        if washed[index].get("role") == "toolResult":
            yield f"orphan at {index}"
        wanted = [call.get("id") for call in calls(washed[index])]
        found = [result_id(m) for m in washed[index + 1 : index + 1 + len(wanted)] if m.get("role") == "toolResult"]
        if wanted != found:
            yield f"calls {wanted} are answered by {found}"
        if seen & set(wanted) or len(set(wanted)) < len(wanted):
            yield f"an id twice: {wanted}"
        seen |= set(wanted)
        index += 1 + len(found)


def item_faults(washed):
    for made in washed:
        content = made.get("content")
        if made.get("role") != "assistant" or not isinstance(content, list):
            continue
        reasoned = False
        for index, block in enumerate(content):
            kind = block.get("type") if isinstance(block, dict) else None
            if kind == "thinking" and block.get("thinkingSignature") == RS:
                reasoned = True
                if all(isinstance(b, dict) and b.get("type") == "thinking" for b in content[index:]):
                    yield "reasoning without what it led to"
            if kind == "toolCall" and "|fc_" in block["id"] and not block["id"].startswith("|") and not reasoned:
                yield f"item without reasoning: {block['id']}"
