"""Which session is meant, and by what: an empty name is none, `-` is stdin wherever a transcript is only read."""

import pytest

HEADER = '{"type":"session","version":3,"id":"s","timestamp":"2026-03-16T09:00:00.000Z","cwd":"/"}\n'
ENTRY = (
    '{"type":"message","id":"e1","parentId":null,"timestamp":"2026-03-16T09:00:00.000Z",'
    '"message":{"role":"user","content":"hello"}}\n'
)


@pytest.mark.parametrize(
    "command",
    [
        "session append  --role user x",
        "session branch  e1",
        "session check ",
        "session event  x",
        "session export  --md",
        "session fork ",
        "session grep x ",
        "session label  e1 x",
        "session name  x",
        "session open ",
        "session path ",
        "session repair ",
        "session reset ",
        "session set  label=x",
        "session show ",
        "session tail ",
        "session tree ",
        "session usage ",
        "session usage --last ",
        "session append main --role user x --from ",
        "session open main --parent ",
        "session fork main --key ",
        "session import main.jsonl --key ",
        "session key ",
        "audit ",
        "compact ",
        "context -s ",
        "flush ",
        "limit --for ",
        "limit -n 1 ",
        "prompt -s  x",
        "prune ",
        "refresh ",
        "sanitize ",
        "tokens ",
        "workspace show ",
    ],
)
def test_an_empty_session_is_not_main(oc, command):
    """As `oc session reset "$KEY"` gives it where KEY is not set."""
    (oc.home / "main.jsonl").write_text(HEADER + ENTRY)
    assert 0 == oc("session", "append", "main", "--create", "--role", "user", "x").status
    before = {path: path.read_bytes() for path in oc.state.rglob("*.json*")}
    ran = oc(*command.split(" "), stdin="")
    assert (2, "") == (ran.status, ran.out)
    assert ran.err.startswith("oc: the session is empty\n")
    assert before == {path: path.read_bytes() for path in oc.state.rglob("*.json*")}


def test_an_empty_variable_is_not_set(oc):
    assert 0 == oc("session", "append", "main", "--create", "--role", "user", "x").status
    assert oc("session", "path", "main").out == oc("session", "path", OC_SESSION="").out


@pytest.mark.parametrize("data", [b"", bytes(range(256)) * 8, ENTRY.encode()], ids=["empty", "binary", "no header"])
def test_the_tail_of_what_is_no_transcript_is_refused_as_it_is_shown(oc, data):
    (oc.home / "f.jsonl").write_bytes(data)
    shown, tail = oc("session", "show", "f.jsonl"), oc("session", "tail", "f.jsonl")
    assert (65, "", shown.err) == (tail.status, tail.out, tail.err)
    assert 65 == oc("session", "tail", "-", stdin=data).status


def test_the_tail_of_a_stream(oc):
    ran = oc("session", "tail", "-", "-n", "1", stdin=HEADER + ENTRY + ENTRY.replace("e1", "e2"))
    assert (0, "", ENTRY.replace("e1", "e2")) == (ran.status, ran.err, ran.out)
    assert 2 == oc("session", "tail", "-f", "-", stdin=HEADER).status


def test_no_name_is_a_document_too(oc):
    (oc.home / "f.jsonl").write_text(HEADER + ENTRY)
    ran = oc("session", "name", "f.jsonl", "--json")
    assert (1, {"names": []}) == (ran.status, ran.json())
    assert (1, "") == (oc("session", "name", "f.jsonl").status, oc("session", "name", "f.jsonl").out)
