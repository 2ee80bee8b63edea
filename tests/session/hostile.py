"""A transcript that tries to break out of every place in which an export puts its texts."""

from oc.base.clock import iso

TRAPS = (
    "<script>window.broken=1</script>",
    "</script><script>window.broken=1</script>",
    '"><img src=x onerror="window.broken=1">',
    "<img src=http://127.0.0.1:9/x onerror=window.broken=1>",
    "' onmouseover='window.broken=1",
    "</pre></details></article></main><iframe src=javascript:window.broken=1></iframe>",
    "{{SCRIPT}}{{STYLE}}",
    "]]>--><!--",
    "<style>*{display:none}</style>",
    "javascript:window.broken=1",
    "&lt;script&gt;\u202e\x00\x1b[2J\ud83d",
)


def transcript(trap):
    """A header and entries with the trap in every field that is text."""
    header = {"type": "session", "version": 3, "id": trap, "timestamp": trap, "cwd": trap}
    bodies = [
        {"role": "user", "content": trap},
        {"role": trap, "content": trap},
        {
            "role": "assistant",
            "model": trap,
            "errorMessage": trap,
            "content": [
                {"type": "text", "text": f"```{trap}\n{trap}\n```\n{trap}"},
                {"type": "thinking", "thinking": trap},
                {"type": trap, "x": trap},
                {"type": "toolCall", "id": trap, "name": trap, "arguments": {trap: trap}},
            ],
        },
        {
            "role": "toolResult",
            "toolCallId": trap,
            "toolName": trap,
            "content": [
                {"type": "text", "text": trap},
                {"type": "image", "mimeType": "image/png", "data": f'x" onerror="{trap}'},
                {"type": "image", "mimeType": f"image/svg+xml,{trap}", "data": "AAAA"},
            ],
        },
        {"role": "bashExecution", "command": trap, "output": trap},
    ]
    entries = [{"type": "message", "message": body} for body in bodies]
    entries += [
        {"type": "session_info", "name": trap},
        {"type": "custom", "customType": trap, "data": {trap: [trap]}},
        {"type": trap, "x": trap},
        {"type": "compaction", "summary": trap, "firstKeptEntryId": trap, "tokensBefore": trap},
        {"type": "branch_summary", "summary": trap, "fromId": trap},
        {"type": "label", "targetId": f"0{trap}", "label": trap},
    ]
    parent = None
    for number, entry in enumerate(entries):
        entry.update(id=f"{number}{trap}", parentId=parent, timestamp=iso(number * 1000))
        parent = entry["id"]
    entries.append({**entries[0], "id": f"other{trap}", "parentId": entries[0]["id"]})
    return header, entries
