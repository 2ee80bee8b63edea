"""Branches of a session from the command line: tree, branch, fork, label, name, show --leaf."""

import json

import pytest

from tests.support import testdata


@pytest.fixture
def main(oc):
    """A session of four messages; their ids and the transcript's path."""
    said = ["why 500?", "the pool is full", "raise it", "done 好的"]
    lines = "".join(
        json.dumps({"type": "message", "id": f"e{n}", "message": {"role": role, "content": text}}) + "\n"
        for n, (role, text) in enumerate(zip(["user", "assistant"] * 2, said, strict=True))
    )
    assert 0 == oc("session", "append", "main", "--create", stdin=lines).status
    oc.file = oc.home / oc("session", "path").out.strip()
    return oc


def entries(oc):
    return [json.loads(line) for line in oc.file.read_text().splitlines()[1:]]


def test_a_branch_moves_the_leaf_and_keeps_what_was_there(main):
    before = main.file.read_bytes()
    ran = main("session", "branch", "e1")
    assert (0, "") == (ran.status, ran.err)
    marker = entries(main)[-1]
    assert (marker["id"], "e1", "oc.branch") == (ran.out.strip(), marker["parentId"], marker["customType"])
    assert {"fromId": "e3", "toId": "e1"} == marker["data"]
    assert main.file.read_bytes().startswith(before)
    main("session", "append", "main", "--role", "user", "use fewer workers")
    shown = main("session", "show", "--messages").jsonl()
    assert ["why 500?", "the pool is full"] == [message["content"] for message in shown[:2]]
    assert 3 == len(shown)
    row = json.loads((main.state / "agents/main/sessions/sessions.json").read_text())["agent:main:main"]
    assert row["totalTokensFresh"] is False


def test_a_branch_is_told_what_was_left(main):
    ran = main("session", "branch", "main", "e1", "--summary", "raising it did not help")
    assert 0 == ran.status
    last = entries(main)[-1]
    assert ("branch_summary", "e1", "e1", "raising it did not help") == (
        last["type"],
        last["parentId"],
        last["fromId"],
        last["summary"],
    )
    shown = main("session", "show", "--messages", "--last", "1").jsonl()
    assert "branchSummary" == shown[0]["role"]


def test_the_built_in_model_summarises_what_was_left(main):
    ran = main("session", "branch", "e1", "--summarise")
    assert 0 == ran.status
    last = entries(main)[-1]
    assert ("branch_summary", "oc-offline") == (last["type"], last["details"]["summariser"])
    assert "raise it" in last["summary"]
    assert "why 500?" not in last["summary"]


def test_a_model_that_is_not_there_changes_nothing(main):
    before = main.file.read_bytes()
    ran = main("session", "branch", "e1", "--summarise", "-m", "no-such-model")
    assert (69, "") == (ran.status, ran.out)
    assert before == main.file.read_bytes()


def test_before_an_entry_and_before_all(main):
    main("session", "branch", "e2", "--before")
    assert "e1" == entries(main)[-1]["parentId"]
    main("session", "branch", "e0", "--before")
    assert entries(main)[-1]["parentId"] is None
    main("session", "branch", "root", "--summary", "started over")
    assert (None, "root") == (entries(main)[-1]["parentId"], entries(main)[-1]["fromId"])


@pytest.mark.parametrize(
    ("args", "status"),
    [
        (["nothing"], 66),
        (["main", "e1", "x"], 2),
        (["e1", "--summary", "x", "--summarise"], 2),
        (["e1", "--summary", " "], 2),
        (["-", "e1"], 2),
        (["other", "e1"], 66),
    ],
)
def test_what_is_no_branch_changes_nothing(main, args, status):
    before = main.file.read_bytes()
    assert status == main("session", "branch", *args).status
    assert 0 == main("session", "branch", "e1", "--dry-run").status
    assert before == main.file.read_bytes()


def test_tree_for_people_and_programs(main):
    main("session", "label", "main", "e1", "pool")
    main("session", "branch", "pool", "--summary", "no")
    ran = main("session", "tree")
    assert (0, "") == (ran.status, ran.err)
    assert ["| e0", "| e1", "├─  e2", "│   e3", "│   ", "└─* "] == [
        line[: len(start)]
        for line, start in zip(ran.out.splitlines(), ["| e0", "| e1", "├─  e2", "│   e3", "│   ", "└─* "], strict=True)
    ]
    found = main("session", "tree", "--json").json()
    assert (6, 2, 1, 3) == tuple(found[name] for name in ("entries", "leaves", "branchPoints", "deadEntries"))
    assert ["e0", "e1"] == [node["id"] for node in found["nodes"] if node["onPath"]][:2]
    assert "pool" == found["nodes"][1]["label"]
    stats = main("session", "tree", "--stats", "--json").json()
    assert {name: value for name, value in found.items() if name != "nodes"} == stats
    other = main("session", "tree", "--leaf", "e3", "--jsonl").jsonl()
    assert ["e0", "e1", "e2", "e3"] == [node["id"] for node in other if node["onPath"]]


def test_tree_of_an_old_file_and_of_stdin(oc):
    ran = oc("session", "tree", testdata("transcripts", "pi-v1-large.jsonl"), "--stats", "--json")
    assert (0, 1, 0) == (ran.status, ran.json()["leaves"], ran.json()["deadEntries"])
    lines = '{"type":"session","version":3,"id":"s"}\n{"type":"message","id":"a"}\n{"type":"message","id":"b"}\n'
    ran = oc("session", "tree", "-", "--jsonl", stdin=lines)
    assert [("a", None), ("b", "a")] == [(row["id"], row["parentId"]) for row in ran.jsonl()]
    assert (66, 65) == (oc("session", "tree", "none").status, oc("session", "tree", "-", stdin="{").status)


def test_show_takes_any_entry_for_the_leaf(main):
    main("session", "label", "main", "e1", "pool")
    for leaf in ("e1", "pool"):
        shown = main("session", "show", "--leaf", leaf, "--messages").jsonl()
        assert ["why 500?", "the pool is full"] == [message["content"] for message in shown]
    whole = main("session", "show", "--at", "e1").out.splitlines(keepends=True)
    assert main.file.read_text().splitlines(keepends=True)[:3] == whole
    ran = main("session", "show", "--leaf", "e9")
    assert (66, "", f"oc: {main.file}: no entry e9\n") == (ran.status, ran.out, ran.err)
    stdin = main.file.read_text()
    assert 2 == len(main("session", "show", "-", "--leaf", "e1", "--context", stdin=stdin).out.splitlines())


def test_show_by_role_and_tool(oc, tmp_path):
    call = {"role": "assistant", "content": [{"type": "toolCall", "id": "1", "name": "read", "arguments": {}}]}
    result = {"role": "toolResult", "toolCallId": "1", "toolName": "read", "content": []}
    found = [{"role": "user", "content": "a"}, call, result, {"role": "user", "content": "b"}]
    path = tmp_path / "s.jsonl"
    oc("session", "append", path, "--create", stdin="".join(json.dumps(m) + "\n" for m in found))
    assert found[1:3] == oc("session", "show", path, "--messages", "--tool", "read").jsonl()
    assert found[3:] == oc("session", "show", path, "--messages", "--role", "user", "--last", "1").jsonl()
    lines = path.read_bytes().splitlines(keepends=True)
    assert b"".join(lines[2:4]) == oc("session", "show", path, "--tool", "read").raw
    assert b"".join(lines[1:2]) == oc("session", "show", path, "--context", "--role", "user").raw[: len(lines[1])]


def test_labels_are_set_and_cleared(main):
    assert 0 == main("session", "label", "main", "e1", " pool ").status
    assert ("e1", "pool") == (entries(main)[-1]["targetId"], entries(main)[-1]["label"])
    assert 0 == main("session", "label", "main", "pool", "--clear").status
    assert "label" not in entries(main)[-1]
    for args, status in ((["e1"], 2), (["e1", " "], 2), (["e1", "x", "--clear"], 2), (["pool", "x"], 66)):
        assert status == main("session", "label", "main", *args).status


def test_names_are_given_and_shown(main):
    assert (1, "") == (main("session", "name", "main").status, main("session", "name", "main").out)
    assert 0 == main("session", "name", "main", " the 500s ").status
    assert (0, "the 500s\n") == (main("session", "name", "main").status, main("session", "name", "main").out)
    assert 2 == main("session", "name", "main", " ").status


def test_a_fork_is_a_transcript_of_its_own(main):
    main("session", "label", "main", "e1", "pool")
    ran = main("session", "fork", "main", "pool", "--json")
    row = ran.json()
    assert (0, 3, str(main.file)) == (ran.status, row["entries"], row["parentSession"])
    header, *lines = (main.home / row["path"]).read_bytes().splitlines()
    assert row["parentSession"] == json.loads(header)["parentSession"]
    assert main.file.read_bytes().splitlines()[1:3] == lines[:2]
    assert ("e1", "pool") == (json.loads(lines[2])["targetId"], json.loads(lines[2])["label"])
    assert 0 == main("session", "check", row["path"]).status
    assert 2 == len(main("session", "show", row["sessionId"], "--context").out.splitlines())


def test_a_fork_for_a_key_or_a_file_never_takes_anothers_place(main, tmp_path):
    assert 0 == main("session", "fork", "main", "--key", "exp").status
    assert 4 == len(main("session", "show", "exp", "--context").out.splitlines())
    ran = main("session", "fork", "main", "--key", "exp")
    assert (65, "") == (ran.status, ran.out)
    target = tmp_path / "all.jsonl"
    assert 0 == main("session", "fork", "main", "--all", "--to", target).status
    assert main.file.read_bytes().splitlines()[1:] == target.read_bytes().splitlines()[1:]
    assert 65 == main("session", "fork", "main", "--to", target).status
    for args in (["--key", "a", "--to", "b"], ["e1", "--all"]):
        assert 2 == main("session", "fork", "main", *args).status
    assert 66 == main("session", "fork", "main", "e9").status
