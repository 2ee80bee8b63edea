import json
import os
import resource
import stat

import pytest

from oc.base.clock import Ids
from oc.base.files import lock
from oc.errors import BadInput, Busy, NotFound
from oc.session import transcript
from oc.session.context import context_entries
from oc.session.entry import new_header
from oc.session.transcript import append, create, read
from oc.session.tree import leaf_path
from tests.support import testdata

HEADER = b'{"type":"session","version":3,"id":"s","timestamp":"2026-03-16T09:00:00.000Z","cwd":"/"}'
TIME = "2026-03-16T09:00:01.000Z"


def line(entry_id, parent, **fields):
    message = {"role": "user", "content": entry_id}
    return json.dumps(
        {"type": "message", "id": entry_id, "parentId": parent, "timestamp": TIME, "message": message, **fields}
    ).encode()


def entry(text="x", **fields):
    return {"type": "message", "timestamp": TIME, "message": {"role": "user", "content": text}, **fields}


@pytest.fixture
def make(tmp_path):
    def write(*lines, end=b"\n"):
        path = tmp_path / "s.jsonl"
        path.write_bytes(b"\n".join(lines) + end)
        return str(path)

    return write


def content(path):
    with open(path, "rb") as file:
        return file.read()


class TestReading:
    def test_bad_lines_are_named_and_passed_over(self, make):
        path = make(
            HEADER,
            b"\x00\x00",
            line("a", None),
            b"42",
            b"[]",
            b"null",
            b'{"type":"mess',
            line("b", "a"),
            b'{"torn',
            end=b"",
        )
        found = read(path)
        assert ["a", "b"] == [e["id"] for e in found.entries]
        assert [3, 8] == found.numbers
        assert [
            (2, "unparsable"),
            (4, "not-an-object"),
            (5, "not-an-object"),
            (6, "not-an-object"),
            (7, "unparsable"),
            (9, "torn"),
        ] == [(f.line, f.code) for f in found.skipped]

    def test_invalid_utf8_reads_as_replacement_and_keeps_its_bytes(self, make):
        raw = line("a", None).replace(b'"a"}', b'"\xff\xfe"}')
        found = read(make(HEADER, raw))
        assert "\ufffd\ufffd" == found.entries[0]["message"]["content"]
        assert [raw] == found.raws
        assert [] == found.skipped

    def test_a_lone_surrogate_escape_is_read(self, make):
        raw = line("a", None).replace(b'"a"}', b'"\\ud83d"}')
        found = read(make(HEADER, raw))
        assert "\ud83d" == found.entries[0]["message"]["content"]
        assert [raw] == found.raws

    def test_a_byte_order_mark_at_the_start_is_passed_over(self, make):
        assert "s" == read(make(b"\xef\xbb\xbf" + HEADER, line("a", None))).header["id"]

    def test_crlf_stays_in_the_bytes(self, make):
        found = read(make(HEADER + b"\r", line("a", None) + b"\r"))
        assert [line("a", None) + b"\r"] == found.raws
        assert [] == found.skipped

    def test_ids_of_version_1_are_the_same_on_every_reading(self, make):
        old = b'{"type":"session","id":"s"}'
        one, two = b'{"type":"message","message":{"role":"user"}}', b'{"type":"message","message":{"role":"user"} }'
        first = [e["id"] for e in read(make(old, one, two, one)).entries]
        longer = [e["id"] for e in read(make(old, one, two, one, two)).entries]
        assert first == longer[:3]
        assert 4 == len(set(longer))
        assert all(len(i) == 8 and int(i, 16) >= 0 for i in longer)

    def test_an_absent_parent_is_the_entry_before(self, make):
        orphan = json.dumps({"type": "message", "id": "b", "message": {"role": "user"}}).encode()
        found = read(make(HEADER, line("a", None), orphan))
        assert [None, "a"] == [e["parentId"] for e in found.entries]
        assert [line("a", None), orphan] == found.raws

    def test_an_unknown_parent_ends_the_branch_in_version_3_only(self, make):
        lines = line("a", None), line("b", "gone")
        assert ["b"] == [e["id"] for e in leaf_path(read(make(HEADER, *lines)).entries)]
        newer = HEADER.replace(b'"version":3', b'"version":4')
        assert ["a", "b"] == [e["id"] for e in leaf_path(read(make(newer, *lines)).entries)]

    def test_an_entry_without_an_id_gets_a_lasting_one(self, make):
        nameless = b'{"type":"message","parentId":null,"message":{"role":"user"}}'
        path = make(HEADER, nameless, b'{"type":"message","id":"b","message":{"role":"user"}}')
        first, second = read(path).entries
        assert first["id"] == second["parentId"] == read(path).entries[0]["id"]
        assert [None, b'{"type":"message","id":"b","message":{"role":"user"}}'] == read(path).raws

    @pytest.mark.parametrize("odd", ["7", '["a"]', '{"a":1}', "true", '"a\\u0000b"'])
    def test_odd_parents_and_ids_do_no_harm(self, make, odd):
        raw = f'{{"type":"message","id":{odd},"parentId":{odd},"message":{{"role":"user"}}}}'.encode()
        path = make(HEADER, line("a", None), raw, line("c", "a"))
        assert ["a", "c"] == [e["id"] for e in leaf_path(read(path).entries)]

    def test_a_cycle_ends_the_path(self, make):
        path = make(HEADER, line("a", "b"), line("b", "a"), line("c", "c"))
        entries = read(path).entries
        assert ["c"] == [e["id"] for e in leaf_path(entries)]
        assert ["a", "b"] == [e["id"] for e in leaf_path(entries, "b")]

    def test_the_published_excerpt_yields_the_summary_and_what_follows(self):
        found = read(str(testdata("transcripts", "sample-v7.jsonl")))
        context = context_entries(leaf_path(found.entries))
        assert [("comp_1", "compactionSummary"), ("m21", "user")] == [(e["id"], e["message"]["role"]) for e in context]
        assert [None, found.raws[-1]] == found.raws_of(context)

    def test_a_line_of_fifty_megabytes(self, make):
        path = make(HEADER, line("a", None), line("b", "a", pad="x" * 50_000_000))
        assert 50_000_000 == len(read(path).entries[1]["pad"])
        assert "b" == append(path, [entry()])[0]["parentId"]

    def test_a_deeply_nested_line_is_a_bad_line(self, make):
        found = read(make(HEADER, b"[" * 100_000, b'{"a":' * 50_000, line("a", None)))
        assert [2, 3] == [f.line for f in found.skipped]

    def test_a_missing_file_and_a_file_as_folder_are_not_found(self, make):
        path = make(HEADER)
        for missing in (path + "x", path + "/x.jsonl"):
            with pytest.raises(NotFound):
                read(missing)


class TestAppending:
    def test_entries_hang_on_the_leaf_and_on_each_other(self, make):
        path = make(HEADER, line("a", None), line("b", "a"), line("c", "a"))
        one, two = append(path, [entry("one"), entry("two", id="mine")])
        assert "c" == one["parentId"]
        assert (one["id"], "mine") == (two["parentId"], two["id"])
        assert [one, two] == read(path).entries[-2:]
        assert ["type", "id", "parentId", "timestamp", "message"] == list(one)

    def test_bytes_before_stay(self, make):
        odd = line("a", None).replace(b'"a"}', b'"a", "n":12345678901234567890123 ,"f":1.50}')
        path = make(HEADER, odd, b"garbage", line("b", "a"))
        before = content(path)
        append(path, [entry()])
        assert content(path).startswith(before)
        assert 1 == content(path)[len(before) :].count(b"\n")

    def test_a_torn_tail_is_passed_over_and_told(self, make):
        path = make(HEADER, line("a", None), b'{"type":"mess', end=b"")
        before, said = content(path), []
        (added,) = append(path, [entry()], warn=said.append)
        assert "a" == added["parentId"]
        assert content(path).startswith(before + b"\n")
        assert 1 == len(said)
        (again,) = append(path, [entry()], warn=said.append)
        assert added["id"] == again["parentId"]
        assert 1 == len(said)

    def test_a_whole_last_line_without_line_feed_is_the_leaf(self, make):
        path = make(HEADER, line("a", None), end=b"")
        assert "a" == append(path, [entry()])[0]["parentId"]

    @pytest.mark.parametrize("bad", [b"{broken", b"42", b"\x00\x00"])
    def test_a_finished_bad_line_at_the_end_is_refused_with_its_number(self, make, bad):
        path = make(HEADER, line("a", None), bad)
        before = content(path)
        with pytest.raises(BadInput) as caught:
            append(path, [entry()])
        assert (path, 3) == (caught.value.path, caught.value.line)
        assert before == content(path)
        assert not os.path.exists(path + ".lock")

    def test_a_leaf_without_an_id_is_refused(self, make):
        path = make(HEADER, b'{"type":"message","message":{"role":"user"}}')
        with pytest.raises(BadInput, match="no id"):
            append(path, [entry()])

    @pytest.mark.parametrize("known", ["a", "b", "\u4f60"])
    def test_a_known_id_is_refused_and_nothing_written(self, make, known):
        path = make(HEADER, line("a", None), line("b", "a"), line("\u4f60", "b"), line("c", "a"))
        before = content(path)
        with pytest.raises(BadInput, match="already"):
            append(path, [entry(id="new"), entry(id=known)])
        assert before == content(path)

    def test_two_equal_ids_are_refused(self, make):
        path = make(HEADER)
        with pytest.raises(BadInput, match="two entries"):
            append(path, [entry(id="n"), entry(id="n")])
        assert HEADER + b"\n" == content(path)

    def test_seeded_ids_of_many_processes_never_collide(self, make):
        path = make(HEADER)
        for _ in range(120):  # each with the ids of a fresh process; after 100 collisions come whole UUIDs
            append(path, [entry()], ids=Ids("1"))
        ids = [e["id"] for e in read(path).entries]
        assert 120 == len(set(ids))

    def test_seeded_ids_do_not_collide_in_a_file_too_large_to_scan(self, make, monkeypatch):
        monkeypatch.setattr(transcript, "SCANNED_BYTES", 10)
        path = make(HEADER)
        for _ in range(3):
            append(path, [entry()], ids=Ids("1"))
        assert 36 == len(append(path, [entry()])[0]["id"])
        assert 4 == len({e["id"] for e in read(path).entries})

    def test_second_headers_and_blank_lines_are_no_leaf(self, make):
        path = make(HEADER, line("a", None), HEADER, b"  ", b"")
        assert "a" == append(path, [entry()])[0]["parentId"]

    def test_a_header_alone_gives_a_root(self, make):
        path = make(b"not json", HEADER)
        assert append(path, [entry()])[0]["parentId"] is None

    def test_the_lock_is_respected_and_named(self, make):
        path = make(HEADER)
        with lock(path), pytest.raises(Busy, match=str(os.getpid())):
            append(path, [entry()], lock_timeout_ms=0)
        with lock(path):
            append(path, [entry()], lock_timeout_ms=None)
        assert 1 == len(read(path).entries)

    def test_only_regular_files_are_appended_to(self, tmp_path):
        path = tmp_path / "s.jsonl"
        path.symlink_to("/dev/full")
        with pytest.raises(BadInput, match="not a regular file"):
            append(str(path), [entry()])

    def test_a_large_file_is_not_parsed(self, make, monkeypatch):
        path = make(HEADER, *(line(f"{n:08x}", f"{n - 1:08x}" if n else None) for n in range(20_000)))
        parsed = []
        monkeypatch.setattr("oc.session.tail.parse", lambda raw: parsed.append(raw) or json.loads(raw))
        monkeypatch.setattr("oc.session.transcript.parse", lambda raw: parsed.append(raw) or json.loads(raw))
        append(path, [entry()])
        assert 2 == len(parsed)  # the header and the leaf


class TestMigration:
    OLD = (
        b'{"type":"session","id":"s","extra":1.50}',
        b'{"type":"message","message":{"role":"hookMessage","content":"h"}}',
        b"not json",
        b'{"type":"compaction","summary":"S","firstKeptEntryIndex":1,"tokensBefore":3}',
    )

    def test_the_original_is_kept_and_bad_lines_stay(self, make, tmp_path):
        path = make(*self.OLD)
        os.chmod(path, 0o640)
        before, said = content(path), []
        ids = [e["id"] for e in read(path).entries]
        append(path, [entry()], warn=said.append)
        lines = content(path).split(b"\n")
        assert b"not json" == lines[2]
        assert {"type": "session", "id": "s", "extra": 1.5, "version": 3} == json.loads(lines[0])
        found = read(path)
        assert ids == [e["id"] for e in found.entries[:-1]]
        assert "custom" == found.entries[0]["message"]["role"]
        assert found.entries[0]["id"] == found.entries[1]["firstKeptEntryId"]
        assert {"s.jsonl", "s.jsonl.v1-2026-03-16T09-00-01.000Z.bak"} == {p.name for p in tmp_path.iterdir()}
        assert before == content(path + ".v1-2026-03-16T09-00-01.000Z.bak")
        assert 0o640 == stat.S_IMODE(os.stat(path).st_mode)
        assert 1 == len(said)

    def test_in_version_2_only_what_changes_is_rewritten(self, make):
        kept = line("a", None).replace(b'"a"}', b'"a","n":1.50,"big":12345678901234567890123}')
        hook = line("b", "a").replace(b'"user"', b'"hookMessage"')
        path = make(HEADER.replace(b":3", b":2", 1), kept, hook, end=b"")
        append(path, [entry()])
        lines = content(path).split(b"\n")
        assert kept == lines[1]
        assert "custom" == json.loads(lines[2])["message"]["role"]
        assert 5 == len(lines)

    @pytest.mark.parametrize("given", [{"after": "another"}, {"entries": [entry(id="x"), entry(id="x")]}])
    def test_an_append_that_fails_does_not_migrate(self, make, tmp_path, given):
        path = make(*self.OLD)
        before = content(path)
        with pytest.raises((Busy, BadInput)):
            append(path, given.pop("entries", [entry()]), **given)
        assert before == content(path)
        assert ["s.jsonl"] == os.listdir(tmp_path)

    def test_a_migration_without_room_leaves_the_file_and_no_backup(self, make, tmp_path):
        """The backup fits, what is written after it does not."""
        path = make(*self.OLD)
        before = content(path)
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
            with pytest.raises(OSError, match="too large"):
                append(path, [{**entry(), "more": "x" * 1000}])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        assert before == content(path)
        assert ["s.jsonl"] == os.listdir(tmp_path)

    def test_an_older_backup_is_never_overwritten(self, make, tmp_path):
        path = make(*self.OLD)
        backup = tmp_path / "s.jsonl.v1-2026-03-16T09-00-01.000Z.bak"
        backup.write_bytes(b"older")
        append(path, [entry()])
        assert b"older" == backup.read_bytes()
        assert {"s.jsonl", backup.name, backup.name + ".2"} == set(os.listdir(tmp_path))

    def test_a_refused_append_leaves_an_old_file_as_it_is(self, make, tmp_path):
        path = make(b'{"type":"message"}', *self.OLD)
        before = content(path)
        with pytest.raises(BadInput):
            append(path, [entry()])
        assert before == content(path)
        assert 1 == len(list(tmp_path.iterdir()))


def test_create_makes_a_private_file_once(tmp_path):
    path = str(tmp_path / "deep" / "s.jsonl")
    assert create(path, new_header("one", TIME, "/w"))
    assert not create(path, new_header("two", TIME, "/w"))
    assert "one" == read(path).header["id"]
    assert 0o600 == stat.S_IMODE(os.stat(path).st_mode)
    assert ["s.jsonl"] == os.listdir(tmp_path / "deep")
