"""`oc tokens`, the real command."""

import json

import pytest

from tests.support import testdata
from tests.talk import transcript

MESSAGES = [
    {"role": "user", "content": "hello world"},
    {"role": "assistant", "content": [{"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "a"}}]},
    {
        "role": "toolResult",
        "toolCallId": "c",
        "toolName": "read",
        "content": [{"type": "text", "text": "部署失败"}, {"type": "image", "data": "AA", "mimeType": "image/png"}],
    },
    {"role": "toolResult", "toolCallId": "d", "toolName": "exec", "content": "x" * 400},
]
STREAM = "".join(json.dumps(message) + "\n" for message in MESSAGES)


def test_the_sum(oc):
    ran = oc("tokens", stdin=STREAM)
    assert (0, "messages\t4\ntokens\t1311\nimages\t1\ncount\testimate\n", "") == (ran.status, ran.out, ran.err)


def test_by_role_largest_first_and_a_total(oc):
    ran = oc("tokens", "--by", "role", "-", stdin=STREAM)
    assert ran.out == (
        "toolResult\t2\t1304\t1\testimate\n"
        "assistant\t1\t4\t0\testimate\n"
        "user\t1\t3\t0\testimate\n"
        "total\t4\t1311\t1\testimate\n"
    )


def test_by_tool(oc):
    ran = oc("tokens", "--by", "tool", "--tsv", stdin=STREAM)
    assert ran.out == (
        "role\ttool\tmessages\ttokens\timages\tcount\n"
        "toolResult\tread\t1\t1204\t1\testimate\n"
        "toolResult\texec\t1\t100\t0\testimate\n"
        "assistant\t\t1\t4\t0\testimate\n"
        "user\t\t1\t3\t0\testimate\n"
    )


def test_by_entry_in_their_order(oc):
    ran = oc("tokens", "--by", "entry", "--jsonl", "talk.jsonl", stdin="")
    assert 66 == ran.status
    (oc.home / "talk.jsonl").write_text(transcript(1))
    rows = oc("tokens", "--by", "entry", "--jsonl", "talk.jsonl").jsonl()
    assert ["00000000", "00000001", "00000002", "00000003"] == [row["id"] for row in rows]
    assert [None, None, "read", None] == [row["tool"] for row in rows]


@pytest.mark.parametrize(
    ("method", "tokens"), [("estimate", 4), ("chars4", 1), ("tiktoken", 2), ("tiktoken:o200k_base", 2)]
)
def test_the_counters(oc, method, tokens):
    """The document names the counter; four Han characters are 4, 1 and, by o200k_base, 2 tokens."""
    counted = oc("tokens", "--json", "--count", method, stdin='{"role":"user","content":"部署失败"}\n').json()
    named = "tiktoken:o200k_base" if method == "tiktoken" else method
    assert {"messages": 1, "tokens": tokens, "images": 0, "count": named} == counted


def test_the_document_has_groups_and_sums(oc):
    counted = oc("tokens", "--by", "role", "--json", stdin=STREAM).json()
    assert (4, 1311, 1, "role") == tuple(counted[name] for name in ("messages", "tokens", "images", "by"))
    assert counted["tokens"] == sum(group["tokens"] for group in counted["groups"])


def test_nothing_is_zero(oc):
    assert "messages\t0\ntokens\t0\nimages\t0\ncount\testimate\n" == oc("tokens", stdin="").out


def test_an_unknown_counter_is_a_usage_error(oc):
    ran = oc("tokens", "--count", "words", stdin=STREAM)
    assert (2, "") == (ran.status, ran.out)
    assert "oc: no counter 'words'\nhint: counters: estimate, chars4, tiktoken, tiktoken:ENCODING\n" == ran.err


@pytest.mark.parametrize(
    ("stdin", "place"),
    [("not json\n", "stdin:1"), ('{"role":"user","content":"a"}\n{"type":"custom","id":"x"}\n', "stdin:2")],
)
def test_bad_input_is_65_with_its_line(oc, stdin, place):
    ran = oc("tokens", "--json", stdin=stdin)
    assert 65 == ran.status
    assert place == f"{ran.json()['error']['path']}:{ran.json()['error']['line']}"
    assert ran.err.startswith(f"oc: {place}: ")


def test_all_entries_count_what_the_context_leaves_out(oc):
    lines = transcript(2).splitlines()
    compaction = {
        "type": "compaction",
        "id": "c",
        "parentId": "00000007",
        "summary": "S",
        "firstKeptEntryId": "00000004",
    }
    (oc.home / "t.jsonl").write_text("\n".join([*lines, json.dumps(compaction)]))
    assert 5 == oc("tokens", "t.jsonl", "--json").json()["messages"]
    assert 9 == oc("tokens", "t.jsonl", "--json", "--all-entries").json()["messages"]


def test_a_real_session_counts_alike_in_a_pipe(oc):
    """What is shown, pruned and counted has the same number of messages of each role."""
    path = testdata("transcripts", "pi-v1-large.jsonl")
    shown = oc("session", "show", path, "--context")
    pruned = oc("prune", "--window", "100000", "--report", "why.jsonl", stdin=shown.raw)
    by_role = [oc("tokens", "--by", "role", "--json", stdin=one.raw).json() for one in (shown, pruned)]
    assert [914, 914] == [counted["messages"] for counted in by_role]
    assert len(shown.out.splitlines()) == len(pruned.out.splitlines()) == 914
    kinds = [{group["role"]: group["messages"] for group in counted["groups"]} for counted in by_role]
    assert [{"user": 88, "assistant": 453, "toolResult": 373}] * 2 == kinds
    report = [json.loads(line) for line in (oc.home / "why.jsonl").read_text().splitlines()]
    assert (914, 100_000) == (report[-1]["messages"], report[-1]["windowTokens"])
    assert by_role[1]["tokens"] < by_role[0]["tokens"]
