"""check with a baseline, and repair: as a plan, on the file, as a filter; with bad input of all kinds."""

import json

import pytest

from tests.support import NOW_MS

TIME = "2026-03-16T09:00:01.000Z"
HEADER = f'{{"type":"session","version":3,"id":"s","timestamp":"{TIME}","cwd":"/"}}\n'


def entry(entry_id, parent):
    parent = json.dumps(parent)
    head = f'{{"type":"message","id":"{entry_id}","parentId":{parent},"timestamp":"{TIME}"'
    return head + ',"message":{"role":"user","content":"数 x"}}\n'


A, B, C = entry("a", None), entry("b", "a"), entry("c", "b")
DAMAGED = HEADER + A + "junk sk-secret\n" + B.rstrip("\n") + C
GOOD = HEADER + A + B + C


@pytest.fixture
def damaged(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_text(DAMAGED)
    path.chmod(0o640)
    return path


def test_the_plan_changes_nothing(oc, damaged):
    ran = oc("session", "repair", damaged)
    assert 0 == ran.status
    assert [
        f"{damaged}:3\tunparsable\tdrop\tthe line is not JSON; it is dropped",
        f"{damaged}:4\ttwo-records\tsplit\t2 records stand on one line; 2 records are kept, each on its line",
    ] == ran.out.splitlines()
    assert "nothing was changed; --write repairs the file\n" == ran.err
    assert [damaged] == list(damaged.parent.glob("s.*"))
    assert DAMAGED == damaged.read_text()


def test_write_keeps_the_bytes_from_before(oc, damaged, tmp_path):
    ran = oc("session", "repair", damaged, "--write", "--json", "--report", tmp_path / "why.jsonl")
    assert 0 == ran.status
    done = ran.json()
    assert (str(damaged), True) == (done["path"], done["written"])
    assert DAMAGED.encode().index(b"junk") == done["fixes"][0]["offset"]
    assert GOOD == damaged.read_text()
    with open(done["backup"]) as file:
        assert DAMAGED == file.read()
    assert f"{damaged}.bak-" == done["backup"].rpartition("-")[0].rpartition("-")[0] + "-"
    assert {0o640} == {p.stat().st_mode & 0o777 for p in damaged.parent.glob("s.*")}
    assert f"repaired: drop 1, split 1; the bytes from before: {done['backup']}\n" == ran.err
    *steps, last = [json.loads(line) for line in (tmp_path / "why.jsonl").read_text().splitlines()]
    assert [("repair", "drop", "unparsable"), ("repair", "split", "two-records")] == [
        (s["stage"], s["action"], s["rule"]) for s in steps
    ]
    assert ("summary", 2, done["backup"]) == (last["action"], last["fixes"], last["backup"])
    assert "secret" not in ran.out + ran.err + (tmp_path / "why.jsonl").read_text()
    again = oc("session", "repair", damaged, "--write")
    assert (1, "", "") == (again.status, again.out, again.err)
    assert 2 == len(list(damaged.parent.glob("s.*")))
    assert 0 == oc("session", "check", damaged).status


def test_as_a_filter_it_is_idempotent(oc):
    once = oc("session", "repair", "-", stdin=DAMAGED)
    assert (0, GOOD) == (once.status, once.out)
    twice = oc("session", "repair", "-", stdin=once.raw)
    assert (0, GOOD, "") == (twice.status, twice.out, twice.err)
    assert (0, "") == (oc("session", "check", "-", stdin=once.raw).status, once.err.partition("repaired: ")[0])


def test_a_session_by_key(oc):
    oc("session", "append", "main", "--create", "--role", "user", "hi")
    path = oc("session", "path", "main").out.strip()
    with open(path, "a") as file:
        file.write('{"type":"mess')
    assert 0 == oc("session", "repair", "main", "--write").status
    assert (0, "") == (oc("session", "check").status, oc("session", "check").out)
    assert 1 == oc("session", "repair").status


BAD = [
    ("missing file", None, 66, "no such file"),
    ("empty", b"", 65, "no line holds a record, there is nothing to repair"),
    ("no record", b"junk\n[1]\n\xff\xfe\n", 65, "no line holds a record, there is nothing to repair"),
    ("zeros", b"\0" * 4096, 65, "no line holds a record, there is nothing to repair"),
    ("deep", b"[" * 100_000, 65, "no line holds a record, there is nothing to repair"),
]


@pytest.mark.parametrize("case", BAD, ids=[row[0] for row in BAD])
@pytest.mark.parametrize("write", [(), ("--write",)], ids=["plan", "write"])
def test_what_cannot_be_repaired_is_left_alone(oc, tmp_path, case, write):
    _, data, status, message = case
    path = tmp_path / "bad.jsonl"
    if data is not None:
        path.write_bytes(data)
    ran = oc("session", "repair", path, *write)
    assert (status, "", f"oc: {path}: {message}\n") == (ran.status, ran.out, ran.err)
    assert (data is None) is not path.exists()
    assert [] == [p for p in tmp_path.iterdir() if p.name.startswith("bad.jsonl.")]


def test_usage_and_places_that_are_no_files(oc, tmp_path):
    assert 2 == oc("session", "repair", "-", "--write", stdin=DAMAGED).status
    folder = tmp_path / "x.jsonl"
    folder.mkdir()
    assert 74 == oc("session", "repair", folder).status
    null = tmp_path / "null.jsonl"
    null.symlink_to("/dev/null")
    ran = oc("session", "repair", null, "--write")
    assert (65, f"oc: {null}: not a regular file\n") == (ran.status, ran.err)


def test_a_lock_that_is_held_is_75(oc, damaged):
    holder = {"pid": 1, "createdAt": "2026-03-16T09:00:00.000Z"}
    (damaged.parent / "s.jsonl.lock").write_text(json.dumps(holder))
    ran = oc("session", "repair", damaged, "--write", "--lock-timeout", "0")
    assert (75, DAMAGED) == (ran.status, damaged.read_text())
    assert "locked by process 1" in ran.err


class TestCheck:
    def test_offsets_and_annotations(self, oc, damaged):
        rows = oc("session", "check", damaged, "--jsonl").jsonl()
        assert [
            ("unparsable", DAMAGED.encode().index(b"junk")),
            ("two-records", DAMAGED.encode().index(b"junk") + 15),
        ] == [(row["code"], row["offset"]) for row in rows]
        ran = oc("session", "check", damaged, "--github", cwd=damaged.parent)
        assert 1 == ran.status
        assert "::error file=s.jsonl,line=3,title=unparsable::the line is not JSON\n" in ran.out
        assert 2 == oc("session", "check", damaged, "--github", "--json").status

    @pytest.mark.parametrize("form", ["--jsonl", "--json"])
    def test_what_a_baseline_lists_is_accepted(self, oc, damaged, form):
        known = damaged.parent / "known"
        known.write_bytes(oc("session", "check", damaged, form).raw)
        ran = oc("session", "check", damaged, "--baseline", known)
        assert (0, "") == (ran.status, ran.out)
        damaged.write_text(DAMAGED + "[1]\n")
        ran = oc("session", "check", "s.jsonl", "--baseline", known, cwd=damaged.parent)
        assert (1, "s.jsonl:5\terror\tnot-an-object\tthe line is JSON but not an object\n") == (ran.status, ran.out)

    def test_bad_baselines(self, oc, damaged):
        for name, text, status in (("gone", None, 66), ("junk", "x\n", 65), ("other", '\n{"path":1}\n', 65)):
            known = damaged.parent / name
            if text is not None:
                known.write_text(text)
            assert status == oc("session", "check", damaged, "--baseline", known).status
        assert f"oc: {known}:2: not a row of" in oc("session", "check", damaged, "--baseline", known).err


def test_the_clock_names_the_backup(oc, damaged):
    assert oc("session", "repair", damaged, "--write", "--json").json()["backup"].endswith(f"-{NOW_MS}")
