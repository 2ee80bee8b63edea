"""Markdown exports: no text breaks out of its place."""

import re

from hypothesis import given
from hypothesis import strategies as st

from oc.base.clock import iso
from oc.session.export_md import Form, closed, fenced, markdown
from oc.session.outline import as_it_is

HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": iso(0), "cwd": "/srv"}
WORDS = st.lists(
    st.sampled_from(
        ["```", "````", "~~~", "`", "\n", "```sh\n", "\n```\n", "<details>", "</details>", "<!--", "text ", "  "]
    ),
    max_size=12,
).map("".join)


def entry(number, message):
    return {
        "type": "message",
        "id": f"e{number}",
        "parentId": None,
        "timestamp": iso(number * 1000),
        "message": message,
    }


def outside(document):
    """The lines of a document in no fence, as CommonMark reads fences; and whether one is open at the end."""
    fence, lines = "", []
    for line in document.split("\n"):
        match = re.match(r" {0,3}(`{3,}|~{3,})(.*)$", line)
        if fence:
            if match and match[1][0] == fence[0] and len(match[1]) >= len(fence) and not match[2].strip():
                fence = ""
        elif match and (match[1][0] == "~" or "`" not in match[2]):
            fence = match[1]
        else:
            lines.append(line)
    return lines, bool(fence)


@given(WORDS)
def test_nothing_closes_a_fence_but_its_end(words):
    lines, is_open = outside(f"{fenced(words)}\nafter")
    assert (["after"], False) == (lines, is_open)


@given(WORDS)
def test_what_somebody_says_leaves_nothing_open(words):
    lines, is_open = outside(f"{closed(words)}\n\n# after")
    assert not is_open
    assert "# after" == lines[-1]


@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant", "toolResult", "bash"]), WORDS), max_size=5), st.booleans()
)
def test_every_message_has_its_heading_and_every_fold_its_end(said, fold):
    messages = {
        "user": lambda w: {"role": "user", "content": w},
        "assistant": lambda w: {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": w},
                {"type": "text", "text": w},
                {"type": "toolCall", "id": "c", "name": w, "arguments": {"x": w}},
            ],
        },
        "toolResult": lambda w: {"role": "toolResult", "toolName": w, "content": w},
        "bash": lambda w: {"role": "bashExecution", "command": w, "output": w},
    }
    path = [entry(n, messages[role](words)) for n, (role, words) in enumerate(said)]
    document = markdown(HEADER, path, "a <b> `name`", Form(as_it_is, None, fold))
    lines, is_open = outside(document)
    assert not is_open
    headings = [line for line in lines if line.startswith("## ")]
    assert sum(role != "toolResult" for role, _ in said) == len(headings)
    plain = [re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line) for line in lines]
    opened = sum(len(re.findall(r"(?<!\\)<details>", line)) for line in plain)
    assert opened == sum(len(re.findall(r"(?<!\\)</details>", line)) for line in plain)


def test_the_whole_of_a_small_one():
    path = [
        entry(1, {"role": "user", "content": "结账 500? <b>now</b>"}),
        {"type": "model_change", "id": "m", "parentId": "e1", "timestamp": iso(1), "provider": "p", "modelId": "m-1"},
        entry(
            2,
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I read `<log>`:"},
                    {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "a.log"}},
                ],
            },
        ),
        entry(3, {"role": "toolResult", "toolName": "read", "isError": True, "content": "ERROR\n```\nend"}),
        {"type": "compaction", "id": "k", "parentId": "e3", "timestamp": iso(4000), "summary": "So far."},
        {"type": "custom", "id": "x", "parentId": "k", "timestamp": iso(4000), "customType": "state"},
    ]
    expected = """# The \\*shop\\*

- session: `s`
- started: `1970-01-01T00:00:00.000Z`
- folder: `/srv`

## User · 1970-01-01T00:00:01.000Z

结账 500? \\<b>now\\</b>

*Model: `m-1`*

## Assistant · 1970-01-01T00:00:02.000Z

I read `<log>`:

**Tool call** `read`

```json
{
  "path": "a.log"
}
```

<details><summary>Error of read, 13 characters</summary>

````text
ERROR
```
[4 more characters left out]
````

</details>

## Summary of what came before · 1970-01-01T00:00:04.000Z

So far.
"""
    assert expected == markdown(HEADER, path, "The *shop*", Form(as_it_is, 9, fold=True))
