"""`oc limit` as people and pipes run it."""

import json

import pytest

from tests.cli.test_sanitize import HEADER, TRANSCRIPT, calling, entry, lines, result, user

HISTORY = lines(user("one"), calling("a"), user("two"), result("a"), user("three"))


def roles(done):
    return [m["role"] for m in done.jsonl()]


def test_the_last_turns_stay_with_their_bytes(oc):
    given = '{"role":"user", "content":"a"}\n{"content" : "b","role":"user"}\n'
    done = oc("limit", "-n", "1", stdin=given)
    assert (done.status, done.out, done.err) == (0, '{"content" : "b","role":"user"}\n', "")


def test_results_that_lost_their_call_go(oc):
    done = oc("limit", "-n", "2", "--report", "why.jsonl", stdin=HISTORY)
    assert done.jsonl() == [user("two"), user("three")]
    told = [json.loads(line) for line in (oc.home / "why.jsonl").read_text().splitlines()]
    assert [(row["stage"], row["action"], row["rule"]) for row in told] == [
        ("limit", "drop", "before-the-limit"),
        ("limit", "drop", "before-the-limit"),
        ("pairs", "drop", "orphan-result"),
        ("limit", "summary", "flag"),
    ]
    assert told[-1] == {
        "stage": "limit", "action": "summary", "linesBefore": 5, "linesAfter": 2, "turns": 2, "rule": "flag",
    }  # fmt: skip


def test_none_is_no_limit_and_calls_are_paired_all_the_same(oc):
    done = oc("limit", "-n", "0", stdin=HISTORY)
    assert roles(done) == ["user", "assistant", "toolResult", "user", "user"]


def test_a_session_key_has_its_configured_limit(oc):
    oc.state.mkdir()
    theirs = {"channels": {"slack": {"historyLimit": 1, "dmHistoryLimit": 2, "dms": {"u.1": {"historyLimit": 1}}}}}
    (oc.state / "openclaw.json").write_text(json.dumps(theirs))
    given = lines(*map(user, "abc"))
    for key, left in (("slack:group:g", 1), ("agent:main:slack:direct:u.1", 1), ("slack:direct:x", 2), ("main", 3)):
        assert len(oc("limit", "--for", key, stdin=given).jsonl()) == left
    oc("limit", "--for", "main", "--report", "why.jsonl", stdin=given)
    assert json.loads((oc.home / "why.jsonl").read_text().splitlines()[0]) == {
        "stage": "limit",
        "action": "gate",
        "rule": "no-limit",
    }


def test_the_summary_before_the_last_turns_goes_and_is_told(oc, tmp_path):
    (tmp_path / "s.jsonl").write_text(TRANSCRIPT)
    done = oc("limit", "-n", "1", "s.jsonl", "--report", "why.jsonl")
    assert [e["id"] for e in done.jsonl()] == ["m4"]
    first = json.loads((tmp_path / "why.jsonl").read_text().splitlines()[0])
    assert (first["entryId"], first["role"], first["charsBefore"]) == ("c1", "compactionSummary", 1)


def test_every_line_of_a_transcript_stays_one_chain(oc):
    change = {"type": "model_change", "id": "x", "parentId": "m1", "provider": "p", "modelId": "m"}
    given = lines(HEADER, entry("m1", None, user("a")), change, entry("m2", "x", user("b")))
    done = oc("limit", "-n", "1", "--all-entries", stdin=given)
    assert [(e["id"], e.get("parentId")) for e in done.jsonl()] == [("s1", None), ("x", None), ("m2", "x")]


@pytest.mark.parametrize(
    ("args", "status", "error"),
    [
        ([], 2, "oc: one of -n and --for is needed\n"),
        (["-n", "1", "--for", "main"], 2, "oc: one of -n and --for is needed\n"),
        (["-n", "x"], 2, "oc: invalid value for '-n'"),
        (["-n", "-1"], 2, "oc: invalid value for '-n'"),
        (["-n", "1", "nosuch.jsonl"], 66, "oc: nosuch.jsonl: no such file\n"),
    ],
)
def test_what_cannot_be_used_is_named(oc, args, status, error):
    done = oc("limit", *args)
    assert (done.status, done.out) == (status, "")
    assert done.err.startswith(error)
