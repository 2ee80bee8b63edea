"""`oc prune`, the real command: a filter over entries or messages."""

import json

import pytest

from tests.support import NOW_MS, testdata
from tests.talk import START_MS, transcript

SMALL = ("--window", "1000", "--min-prunable-tool-chars", "0", "--keep-last-assistants", "2")


def test_a_transcript_yields_its_context_with_old_results_cleared(oc):
    """Lines that did not change keep their bytes, the others differ in the result's text only."""
    text = transcript(6)
    (oc.home / "t.jsonl").write_text(text)
    ran = oc("prune", "t.jsonl", *SMALL, "--report", "why.jsonl")
    assert (0, "") == (ran.status, ran.err)
    given, pruned = text.splitlines()[1:], ran.out.splitlines()
    assert len(given) == len(pruned) == 24
    changed = [number for number, (old, new) in enumerate(zip(given, pruned, strict=True)) if old != new]
    assert [2, 6, 10, 14, 18] == changed
    for number in changed:
        old, new = json.loads(given[number]), json.loads(pruned[number])
        assert [{"type": "text", "text": "[Old tool result content cleared]"}] == new["message"]["content"]
        assert {**old, "message": {**old["message"], "content": None}} == {
            **new,
            "message": {**new["message"], "content": None},
        }
    *rows, summary = [json.loads(line) for line in (oc.home / "why.jsonl").read_text().splitlines()]
    assert ["00000002", "00000006", "0000000a", "0000000e", "00000012"] == [row["entryId"] for row in rows]
    assert {
        "stage": "prune",
        "action": "clear",
        "entryId": "00000002",
        "index": 2,
        "role": "toolResult",
        "tool": "read",
        "charsBefore": 594,
        "charsAfter": 33,
        "tokensBefore": 149,
        "tokensAfter": 9,
        "rule": "hardClearRatio",
    } == rows[0]
    assert ("summary", 24, 0, 5) == tuple(summary[k] for k in ("action", "messages", "trimmed", "cleared"))
    assert (1000, "--window") == (summary["windowTokens"], summary["windowOrigin"])


def test_messages_stay_messages_and_a_second_run_changes_nothing(oc):
    lines = [json.dumps(json.loads(line)["message"], ensure_ascii=False) for line in transcript(6).splitlines()[1:]]
    once = oc("prune", *SMALL, stdin="\n".join(lines))
    assert 24 == len(once.out.splitlines())
    assert "cleared" in once.out
    assert once.out == oc("prune", *SMALL, stdin=once.raw).out


def test_all_entries_keep_the_header(oc):
    text = transcript(6)
    out = oc("prune", "-", "--all-entries", *SMALL, stdin=text).out
    assert text.splitlines()[0] == out.splitlines()[0]
    assert 25 == len(out.splitlines())


def test_odd_numbers_and_unknown_lines_pass_as_they_are(oc):
    """A 23-digit integer, 1.50, spaces, an unknown type: byte for byte."""
    lines = (
        '{"type": "future_thing",  "id":"a", "n":12345678901234567890123, "f":1.50}\n'
        '{"type":"message","id":"b","message":{"role":"user","content":"\\ud83d"}}\n'
    )
    assert lines == oc("prune", stdin=lines).out


@pytest.mark.parametrize(
    ("options", "config", "changed"),
    [
        ((), {}, 0),
        ((), {"softTrimRatio": 0.0, "hardClearRatio": 0.0, "minPrunableToolChars": 0, "keepLastAssistants": 0}, 6),
        (("--keep-last-assistants", "4"), {"hardClearRatio": 0.0, "softTrimRatio": 0.0, "minPrunableToolChars": 0}, 4),
        (("--max-chars", "100", "--head-chars", "20", "--tail-chars", "20"), {"softTrimRatio": 0.0}, 5),
        (("--no-hard-clear", *SMALL), {}, 0),
        (("--tool", "exec", *SMALL), {}, 0),
        (("--not-tool", "r*d", *SMALL), {}, 0),
        (("--keep-last-turns", "3", *SMALL), {}, 3),
        (SMALL, {"tools": {"deny": ["read"]}}, 0),
        (("--not-tool", "x", *SMALL), {"tools": {"deny": ["read"]}}, 5),
        (("--keep-last-assistants", "0", "--soft-trim-ratio", "0", "--hard-clear-ratio", "0"), {}, 0),
        (("--window", "1000"), {"keepLastAssistants": 2, "minPrunableToolChars": 0}, 5),
    ],
)
def test_every_number_is_an_option_with_the_configured_default(oc, options, config, changed):
    oc.state.mkdir()
    (oc.state / "oc.json").write_text(json.dumps({"agents": {"defaults": {"contextPruning": config}}}))
    text = transcript(6)
    ran = oc("prune", *options, stdin=text)
    assert 0 == ran.status
    given = text.splitlines()[1:]
    assert changed == sum(old != new for old, new in zip(given, ran.out.splitlines(), strict=True))


def test_the_placeholder_is_an_option(oc):
    assert '"text":"[已清除]"' in oc("prune", *SMALL, "--placeholder", "[已清除]", stdin=transcript(6)).out


def test_the_cache_is_left_alone_while_it_lives(oc):
    """With --ttl nothing is pruned until the last request is that old; the report names the gate."""
    last_ms = START_MS + 23_000
    args = ("prune", *SMALL, "--ttl", "5m", "--report", "why.jsonl")
    young = oc(*args, "--now", str(last_ms + 299_000), stdin=transcript(6))
    assert "cleared" not in young.out
    gate = json.loads((oc.home / "why.jsonl").read_text().splitlines()[0])
    assert ("gate", "ttl") == (gate["action"], gate["rule"])
    assert "cleared" in oc(*args, "--now", str(last_ms + 300_000), stdin=transcript(6)).out
    assert "cleared" in oc("prune", *SMALL, "--ttl", "5m", stdin='{"role":"user","content":"q"}\n' + no_times()).out


def no_times():
    """Messages that tell no time: nobody knows of a cache, so they are pruned."""
    lines = [json.loads(line)["message"] for line in transcript(6).splitlines()[1:]]
    return "\n".join(json.dumps({k: v for k, v in line.items() if k != "timestamp"}) for line in lines)


def test_the_window_is_that_of_the_session(oc):
    """A key's row says how much its model holds; the report says from where the number is."""
    oc("session", "append", "main", "--create", stdin="\n".join(transcript(6).splitlines()[1:]))
    store = oc.state / "agents" / "main" / "sessions" / "sessions.json"
    rows = json.loads(store.read_text())
    rows["agent:main:main"]["contextTokens"] = 1000
    store.write_text(json.dumps(rows))
    out = oc("prune", "main", *SMALL[2:], "--report", "why.jsonl").out
    assert 5 == out.count("content cleared")
    summary = json.loads((oc.home / "why.jsonl").read_text().splitlines()[-1])
    assert (1000, "session") == (summary["windowTokens"], summary["windowOrigin"])


@pytest.mark.parametrize(
    ("args", "status", "message"),
    [
        (("--ttl", "soon"), 2, "oc: not a duration: 'soon'\n"),
        (("--soft-trim-ratio", "2"), 2, "oc: invalid value for '--soft-trim-ratio'"),
        (("nowhere.jsonl",), 66, "oc: nowhere.jsonl: no such file\n"),
        (("--report", "no/such/why.jsonl"), 74, "oc: no/such/why.jsonl: "),
        (("unheard-of",), 66, "oc: no session 'unheard-of'\n"),
    ],
)
def test_errors(oc, args, status, message):
    """One line, the documented status, nothing on stdout."""
    ran = oc("prune", *args, stdin=transcript(1))
    assert (status, "") == (ran.status, ran.out)
    assert ran.err.startswith(message)


def test_a_real_session_keeps_what_it_does_not_prune(oc):
    """Of 914 messages of a version 1 session only results differ, and a second run changes nothing."""
    path = testdata("transcripts", "pi-v1-large.jsonl")
    shown = oc("session", "show", path, "--context").out.splitlines()
    ran = oc("prune", path, "--window", "100000", OC_NOW=str(NOW_MS))
    pruned = ran.out.splitlines()
    changed = [new for old, new in zip(shown, pruned, strict=True) if old != new]
    assert {"toolResult"} == {json.loads(line)["message"]["role"] for line in changed}
    assert ran.out == oc("prune", "--window", "100000", stdin=ran.raw).out


def test_the_report_counts_as_tokens_does(oc):
    """Two commands of one pipe must not disagree about the same messages."""
    call = {"type": "toolCall", "id": "c1", "name": "read_the_file", "arguments": {"path": "a"}}
    messages = [
        {"role": "user", "content": "看一下"},
        {"role": "assistant", "content": [call]},
        {
            "role": "toolResult",
            "toolCallId": "c1",
            "toolName": "read_the_file",
            "content": [{"type": "text", "text": "x" * 9001}],
        },
        *({"role": "assistant", "content": [{"type": "text", "text": "ok"}]} for _ in range(3)),
    ]
    stream = "".join(json.dumps(message) + "\n" for message in messages)
    pruned = oc("prune", "--window", "4000", "--report", "why.jsonl", stdin=stream)
    summary = json.loads((oc.home / "why.jsonl").read_text().splitlines()[-1])
    counted = [oc("tokens", "--json", stdin=text).json()["tokens"] for text in (stream, pruned.out)]
    assert counted == [summary["tokensBefore"], summary["tokensAfter"]]
    assert summary["trimmed"] == 1
