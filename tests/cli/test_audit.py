"""`oc audit` and `oc compact --audit`, the real commands: they look, say what is lost, and change nothing."""

import hashlib
import json
from pathlib import Path

import pytest

from oc.cli.auditing import FIELDS
from tests.support import testdata
from tests.warm import Warm, server

KEY = "agent:main:main"
OPEN = [
    ("user", "The ticket is OPS-431, the host pg-b.internal:5432."),
    ("assistant", "We decided to keep the REST API because it covers every report."),
    ("user", "And OPS-432 as well, with /srv/app/main.py please."),
    ("assistant", "I looked into all of it for you, at some length."),
]
NEAR = ("--keep-recent-tokens", "2", "--no-flush", "--force")
LOST = [("hosts", "pg-b.internal:5432", 0), ("tickets", "OPS-431", 0), ("decisions", OPEN[1][1], 1)]


@pytest.fixture(scope="module")
def forks():
    with server() as made:
        yield made


@pytest.fixture
def oc(tmp_path, forks):
    return Warm(tmp_path, forks)


@pytest.fixture
def ids(oc):
    """Ids of the messages of the main session, which is compacted under a summary that tells the second half."""
    lines = [json.dumps({"role": role, "content": text}) for role, text in [*OPEN, ("user", "go on")]]
    ran = oc("session", "append", "main", "--create", stdin="\n".join(lines))
    (oc.home / "summary.md").write_text("- OPS-432: /srv/app/main.py\n")
    assert 0 == oc("compact", *NEAR, "--summary-file", "summary.md").status
    return ran.out.split()


def digest(oc):
    files = sorted(path for path in oc.state.rglob("*") if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_losses_are_rows_with_their_entries_and_nothing_is_changed(oc, ids):
    before = digest(oc)
    ran = oc("audit")
    assert 0 == ran.status
    assert "".join(f"{kind}\t{value}\t{ids[at]}\t1\n" for kind, value, at in LOST) == ran.out
    compaction = oc("audit", "--json").json()["compactionId"]
    assert f"oc: compaction {compaction}: kept 2 of 4 values, 0 of 1 statements\n" == ran.err
    assert "\t".join(FIELDS) == oc("audit", "--tsv").out.splitlines()[0]
    assert before == digest(oc)


def test_the_document(oc, ids):
    told = oc("audit", "main", "--json").json()
    path = oc("session", "path", "main").out.strip()
    entry = json.loads(Path(path).read_text(encoding="utf-8").splitlines()[-1])
    rows = [
        {"kind": kind, "value": value, "entryId": ids[at], "mentions": 1, "entryIds": [ids[at]]}
        for kind, value, at in LOST
    ]
    assert {
        "lost": rows,
        "session": KEY,
        "path": path,
        "compactionId": entry["id"],
        "firstKeptEntryId": ids[4],
        "summarisedEntries": 4,
        "retention": 0.5,
        "kinds": {
            "paths": {"found": 1, "lost": 0},
            "hosts": {"found": 1, "lost": 1},
            "tickets": {"found": 2, "lost": 1},
            "decisions": {"found": 1, "lost": 1},
        },
    } == told
    assert rows == oc("audit", "--jsonl").jsonl()


@pytest.mark.parametrize(
    ("args", "status"),
    [
        (("--require", "paths,urls"), 0),
        (("--require", "tickets"), 1),
        (("--require", "decisions"), 1),
        (("--require", "all"), 1),
        (("--min-retention", "0.5"), 0),
        (("--min-retention", "0.51"), 1),
        (("--require", "tickets", "--min-retention", "0.5"), 0),
        (("--require", "statements", "--min-retention", "0.5"), 1),
        (("--require", "statements", "--min-retention", "0"), 0),
    ],
)
@pytest.mark.usefixtures("ids")
def test_what_is_required_decides_the_status(oc, args, status):
    ran = oc("audit", *args)
    assert (status, 3) == (ran.status, len(ran.out.splitlines()))


@pytest.mark.parametrize("form", ["--json", "--jsonl"])
@pytest.mark.usefixtures("ids")
def test_losses_of_a_baseline_count_as_kept(oc, form):
    (oc.home / "known").write_text(oc("audit", form).out)
    ran = oc("audit", "--require", "all", "--baseline", "known")
    assert (0, "") == (ran.status, ran.out)
    assert "kept 4 of 4 values, 1 of 1 statements" in ran.err
    (oc.home / "part").write_text('{"kind":"tickets","value":"OPS-431"}\n\n')
    assert ["hosts", "decisions"] == [row["kind"] for row in oc("audit", "--jsonl", "--baseline", "part").jsonl()]


@pytest.mark.usefixtures("ids")
def test_a_note_of_the_workspace_keeps(oc):
    assert 0 == oc("memory", "add", "OPS-431 is about pg-b.internal:5432").status
    assert ["decisions"] == [row["kind"] for row in oc("audit", "--jsonl").jsonl()]
    (oc.home / "elsewhere").mkdir()
    assert 3 == len(oc("audit", "--jsonl", "--workspace", "elsewhere").jsonl())


@pytest.mark.usefixtures("ids")
def test_stdin_a_path_and_an_older_compaction(oc):
    path = oc("session", "path", "main").out.strip()
    first = oc("audit", "--json").json()
    more = [json.dumps({"role": "user", "content": f"later #{n}"}) for n in (77, 78)]
    assert 0 == oc("session", "append", "main", stdin="\n".join(more)).status
    assert 0 == oc("compact", *NEAR, "--summary-file", "summary.md").status
    assert ["#77"] == [row["value"] for row in oc("audit", "--jsonl").jsonl()]
    data = Path(path).read_bytes()
    old = oc("audit", "-", "--json", "--compaction", first["compactionId"], stdin=data).json()
    assert {**first, "session": "stdin", "path": "stdin"} == old
    assert first["lost"] == oc("audit", path, "--compaction", first["compactionId"], "--json").json()["lost"]


def test_without_a_compaction_nothing_is_lost(oc):
    oc("session", "append", "main", "--create", "--role", "user", "OPS-1")
    ran = oc("audit", "--require", "all", "--json")
    assert (0, f"oc: no compaction in {KEY}\n") == (ran.status, ran.err)
    assert ([], None) == (ran.json()["lost"], ran.json()["compactionId"])


@pytest.mark.parametrize(
    ("args", "status", "message"),
    [
        (("--require", "paths,colours"), 2, "oc: no kind 'colours'"),
        (("--require", ","), 2, "oc: no kind ','"),
        (("--min-retention", "2"), 2, "2"),
        (("--compaction", "gone"), 66, "no compaction 'gone'"),
        (("--baseline", "gone"), 66, "oc: gone: no such baseline"),
        (("--baseline", "bad"), 65, "oc: bad:1: not a row of `oc audit`"),
        (("nobody",), 66, "oc: no session 'nobody'"),
        (("bad.jsonl",), 66, "oc: bad.jsonl: no such file"),
    ],
)
@pytest.mark.usefixtures("ids")
def test_errors(oc, args, status, message):
    (oc.home / "bad").write_text('{"kind":1}\n')
    ran = oc("audit", *args)
    assert (status, "") == (ran.status, ran.out)
    assert message in ran.err


def test_an_entry_that_is_no_compaction_is_66(oc, ids):
    assert 66 == oc("audit", "--compaction", ids[0]).status


@pytest.mark.usefixtures("ids")
def test_compact_prints_the_same(oc):
    """Before it is written with --dry-run, and after; rows of its own in text, a part of the document in JSON."""
    oc("session", "append", "main", stdin=json.dumps({"role": "user", "content": "OPS-9 and then some"}))
    oc("session", "append", "main", stdin=json.dumps({"role": "user", "content": "go on"}))
    args = ("compact", *NEAR, "--summary-file", "summary.md", "--audit")
    dry = oc(*args, "--dry-run", "--json").json()
    assert (None, ["OPS-9"]) == (dry["audit"]["compactionId"], [row["value"] for row in dry["audit"]["lost"]])
    ran = oc(*args)
    assert (0, "lost\ttickets\tOPS-9") == (ran.status, ran.out.splitlines()[-1].rpartition("\t")[0].rpartition("\t")[0])
    after = oc("audit", "--json").json()
    assert {**dry["audit"], "compactionId": after["compactionId"]} == {name: after[name] for name in dry["audit"]}
    assert f"oc: compaction {after['compactionId']}: kept 2 of 3 values" in ran.err
    refused = oc("compact", "-", "--audit", stdin="x")
    assert (2, "") == (refused.status, refused.out)


def test_a_real_session_keeps_its_values(oc):
    """The built-in summariser on a session of 1,019 lines: at least nine values in ten, and what is lost is named."""
    copy = oc.home / "copy.jsonl"
    copy.write_bytes(testdata("transcripts", "pi-v1-large.jsonl").read_bytes())
    assert 0 == oc("compact", copy).status
    told = oc("audit", copy, "--json", "--min-retention", "0.9")
    assert 0 == told.status
    assert {"errors"} == {row["kind"] for row in told.json()["lost"]}
    assert 1 == oc("audit", copy, "--tools", "--min-retention", "0.9").status
