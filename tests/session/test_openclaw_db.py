"""Sessions in OpenClaw's SQLite database: every command that looks reads them, every command that writes refuses."""

import json
import os
import sqlite3
import sys

import pytest

from oc.base.jsonl import dump
from oc.errors import BadInput, NotFound, Unavailable
from oc.session import openclaw_db
from tests.session.openclaw_database import Database, talk

TEXTS = ("deploy 部署?", "done", "and now?", "nothing")


@pytest.fixture
def database(oc):
    """The database of agent main while the gateway has it open: main, a group, and a session before a reset."""
    made = Database(oc.state / "agents" / "main" / "agent" / "openclaw-agent.sqlite")
    made.key("agent:main:main", "s-main", totalTokens=1234, model="m-1")
    made.key("agent:main:telegram:group:7", "s-group", label="ops")
    made.transcript("s-main", talk("s-main", *TEXTS), key="agent:main:main", backwards=True)
    made.transcript("s-group", talk("s-group", "hello"), key="agent:main:telegram:group:7")
    made.transcript("s-old", talk("s-old", "long ago"), key="agent:main:main")
    yield made
    made.close()


def state_of(folder):
    return {p.relative_to(folder): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def lines(events):
    return b"".join(dump(event) + b"\n" for event in events)


@pytest.mark.usefixtures("database")
def test_show_prints_the_rows_in_order_of_seq(oc):
    ran = oc("session", "show", "main")
    assert (0, lines(talk("s-main", *TEXTS)), "") == (ran.status, ran.raw, ran.err)


def test_looking_leaves_no_trace(oc, database):
    database.close()
    before = state_of(oc.state)
    name = f"{database.path}#s-main"
    for args in (
        ["session", "show", "main"],
        ["session", "show", "s-old", "--context"],
        ["session", "tail", "main", "-n", "1"],
        ["session", "path"],
        ["session", "open", "main", "--peek"],
        ["session", "list", "--all"],
        ["session", "check", "s-group"],
        ["session", "check", name],
        ["session", "tree", "main"],
        ["session", "grep", "deploy"],
        ["session", "export", "main", "--md"],
        ["session", "append", "main", "--role", "user", "x", "--dry-run"],
        ["tokens", "main"],
        ["prune", name],
        ["sanitize", "main"],
        ["limit", "-n", "1", "main"],
    ):
        ran = oc(*args)
        assert (0, "") == (ran.status, ran.err), args
        assert ran.out or args[1] == "check"
        assert before == state_of(oc.state), args


def test_list_names_the_keys_and_with_all_the_sessions_before_them(oc, database):
    rows = oc("session", "list", "--all", "--json").json()["sessions"]
    assert [
        ("agent:main:main", "s-main", 1234, "m-1"),
        ("agent:main:telegram:group:7", "s-group", None, None),
        (None, "s-old", None, None),
    ] == [(row["key"], row["sessionId"], row["totalTokens"], row["model"]) for row in rows]
    assert f"{database.path}#s-main" == rows[0]["path"]
    assert 0 == oc("session", "show", rows[2]["path"]).status


@pytest.mark.usefixtures("database")
def test_tail_and_context(oc):
    (last,) = oc("session", "tail", "main", "-n", "1").jsonl()
    assert "nothing" == last["message"]["content"]
    assert list(TEXTS) == [m["content"] for m in oc("session", "show", "--messages").jsonl()]
    assert ["long ago"] == [m["content"] for m in oc("session", "show", "s-old", "--messages").jsonl()]


@pytest.mark.parametrize(
    "args",
    [
        ["session", "append", "main", "--role", "user", "x"],
        ["session", "append", "s-old", "--role", "user", "x"],
        ["session", "append", "agent:main:new", "--create", "--role", "user", "x"],
        ["session", "append", "NAME", "--create", "--role", "user", "x"],
        ["session", "open", "main"],
        ["session", "open", "agent:main:new"],
        ["session", "reset", "main"],
        ["session", "set", "main", "label=x"],
        ["session", "label", "main", "s-main-0", "x"],
        ["session", "name", "main", "x"],
        ["session", "branch", "main", "s-main-0", "--summary", "x"],
        ["session", "fork", "main"],
        ["session", "fork", "main", "--key", "other"],
        ["session", "event", "main", "x"],
        ["session", "repair", "main", "--write"],
        ["session", "gc", "--write"],
        ["session", "rebuild", "--write"],
        ["prompt", "-s", "main", "hello"],
    ],
    ids=" ".join,
)
def test_writers_refuse_with_the_line_that_imports(oc, database, args):
    database.close()
    before = state_of(oc.state)
    ran = oc(*[f"{database.path}#s-main" if arg == "NAME" else arg for arg in args])
    assert (69, "") == (ran.status, ran.out)
    assert (
        f"oc: {database.path}: OpenClaw keeps these sessions in its database, which is only read\n"
        f"hint: `oc --home DIR session import {database.path}` copies them to another state directory\n"
    ) == ran.err
    assert before == state_of(oc.state)


@pytest.mark.usefixtures("database")
def test_another_home_is_written_to(oc, tmp_path):
    ran = oc("--home", tmp_path / "other", "session", "append", "main", "--create", "--role", "user", "x")
    assert (0, "") == (ran.status, ran.err)


@pytest.mark.usefixtures("database")
def test_a_branch_can_be_copied_out_to_a_file(oc, tmp_path):
    ran = oc("session", "fork", "main", "s-main-1", "--to", tmp_path / "fork.jsonl")
    assert (0, "") == (ran.status, ran.err)
    shown = oc("session", "show", tmp_path / "fork.jsonl", "--messages").jsonl()
    assert list(TEXTS[:2]) == [message["content"] for message in shown]


def test_a_database_without_the_tables_leaves_the_files_the_sessions(oc):
    Database(oc.state / "agents" / "main" / "agent" / "openclaw-agent.sqlite", tables=False).close()
    assert 0 == oc("session", "append", "main", "--create", "--role", "user", "x").status
    assert 1 == len(oc("session", "list").out.splitlines())


def test_what_the_gateway_wrote_a_moment_ago_is_read(oc, database):
    database.transcript("s-new", talk("s-new", "just now"))
    assert ["just now"] == [m["content"] for m in oc("session", "show", "s-new", "--messages").jsonl()]


def test_names_that_fit_nothing(oc, database):
    ran = oc("session", "show", "mian")
    assert (66, "oc: no session 'mian'\nhint: near: main, s-main\n") == (ran.status, ran.err)
    ran = oc("session", "show", f"{database.path}#nobody")
    assert (66, f"oc: {database.path}#nobody: no such session in the database\n") == (ran.status, ran.err)
    ran = oc("session", "show", f"{oc.state}/missing.sqlite#x")
    assert (66, f"oc: {oc.state}/missing.sqlite: no such file\n") == (ran.status, ran.err)


def test_a_key_without_a_transcript_is_66(oc, database):
    database.key("agent:main:empty", "s-empty")
    assert 66 == oc("session", "show", "agent:main:empty").status


def test_rows_say_what_the_columns_and_a_valid_entry_say(database):
    database.key("k", "s-k", valid=0, label="L", totalTokens=5)
    database.connection.execute("INSERT INTO session_nodes VALUES ('j', 's-j', 'no json', 1, 7, NULL, NULL)")
    database.connection.commit()
    rows = openclaw_db.rows(str(database.path))
    name = f"{database.path}#s-"
    assert {"sessionId": "s-k", "updatedAt": 1773651600000, "label": "L", "sessionFile": f"{name}k"} == rows["k"]
    assert {"sessionId": "s-j", "updatedAt": 7, "sessionFile": f"{name}j"} == rows["j"]
    assert 1234 == rows["agent:main:main"]["totalTokens"]


def test_a_line_feed_between_values_does_not_tear_an_event(database):
    database.transcript("s-lf", [dump(talk("s-lf")[0]), b'{"type":"custom",\n"id":"a"}'])
    with openclaw_db.open_transcript(f"{database.path}#s-lf") as file:
        assert [dump(talk("s-lf")[0]) + b"\n", b'{"type":"custom", "id":"a"}\n'] == file.readlines()


def test_a_file_that_is_no_database_is_bad_input(oc):
    path = oc.state / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no database, and longer than a header of one is" * 20)
    ran = oc("session", "list")
    assert (65, f"oc: {path}: not a database that can be read: file is not a database\n") == (ran.status, ran.err)


def test_damage_inside_is_bad_input(database):
    database.connection.execute("DROP TABLE transcript_events")
    database.connection.execute("CREATE TABLE transcript_events (session_id TEXT)")
    database.connection.commit()
    with pytest.raises(BadInput, match="cannot be read"):
        openclaw_db.open_transcript(f"{database.path}#s-main")


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/a/x.sqlite#id", ("/a/x.sqlite", "id")),
        ("/a/x.sqlite#../id", None),
        ("/a/x.sqlite", None),
        ("/a.sqlite#b/x.jsonl", None),
    ],
)
def test_names_of_transcripts_in_a_database(path, named):
    assert named == openclaw_db.split_name(path)


def test_compressed_rows_without_the_extra_are_one_clear_line(oc, database, tmp_path):
    """The module is made unimportable, since it may be installed here."""
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / "zstandard.py").write_text("raise ImportError\n")
    database.transcript("s-zst", talk("s-zst", "packed"), pack=lambda raw: b"(packed)" + raw)
    path = f"{tmp_path / 'hidden'}:{oc.environ['PYTHONPATH']}"
    ran = oc("session", "show", "s-zst", PYTHONPATH=path)
    assert (69, "") == (ran.status, ran.out)
    text = "zstd-compressed; reading it takes the extra `zstd`: pip install 'oc-toolkit[zstd]'"
    assert f"oc: {database.path}#s-zst: {text}\n" == ran.err


class TestWithTheExtra:
    @pytest.fixture(autouse=True)
    def zstandard(self):
        return pytest.importorskip("zstandard", reason="the extra `zstd` is not installed")

    @pytest.fixture
    def with_extra(self, oc, zstandard):
        """The environment in which the real process finds what this one found."""
        where = os.path.dirname(os.path.dirname(zstandard.__file__))
        return {"PYTHONPATH": f"{oc.environ['PYTHONPATH']}:{where}"}

    def test_compressed_rows_are_read(self, oc, database, zstandard, with_extra):
        big = "日志 " * 300_000
        database.transcript("s-zst", talk("s-zst", "packed", big), pack=zstandard.ZstdCompressor().compress)
        ran = oc("session", "show", "s-zst", **with_extra)
        assert (0, lines(talk("s-zst", "packed", big)), "") == (ran.status, ran.raw, ran.err)

    def test_a_frame_that_does_not_state_its_size_is_read(self, database, zstandard):
        def pack(raw):
            stream = zstandard.ZstdCompressor(write_content_size=False).compressobj()
            return stream.compress(raw) + stream.flush()

        database.transcript("s-zst", talk("s-zst", "packed"), pack=pack)
        with openclaw_db.open_transcript(f"{database.path}#s-zst") as file:
            assert lines(talk("s-zst", "packed")) == file.read()

    def test_a_broken_frame_and_one_too_large(self, database, zstandard):
        database.transcript("s-broken", talk("s-broken", "x"), pack=lambda _: b"no frame")
        with pytest.raises(BadInput, match=r"#s-broken:2: the compressed event is broken"):
            openclaw_db.open_transcript(f"{database.path}#s-broken")
        bomb = zstandard.ZstdCompressor().compress(b" " * (5 << 20))
        database.transcript("s-bomb", talk("s-bomb", "x"), pack=lambda _: bomb)
        with pytest.raises(BadInput, match="more than 4194304 bytes"):
            openclaw_db.open_transcript(f"{database.path}#s-bomb")

    def test_compressed_archives_are_read_and_never_appended_to(self, oc, zstandard, with_extra, tmp_path):
        path = tmp_path / "s.jsonl.reset.2026-03-16T09-40-00.000Z.zst"
        path.write_bytes(zstandard.ZstdCompressor().compress(lines(talk("s", "old"))))
        ran = oc("session", "show", path, **with_extra)
        assert (0, lines(talk("s", "old"))) == (ran.status, ran.raw)
        ran = oc("session", "append", path, "--role", "user", "x")
        assert (69, f"oc: {path}: a compressed archive is only read\n") == (ran.status, ran.err)
        path.write_bytes(b"broken")
        assert 65 == oc("session", "show", path, **with_extra).status


def test_a_missing_archive_is_66(tmp_path):
    try:
        with pytest.raises(NotFound):
            openclaw_db.open_transcript(f"{tmp_path}/none.jsonl.zst")
    except Unavailable:
        assert "zstandard" not in sys.modules


def test_the_schema_of_the_tests_is_the_documented_one(database):
    """What the reading code asks for stands in the tables as OpenClaw documents them."""
    columns = {row[1] for row in sqlite3.connect(database.path).execute("PRAGMA table_info(session_nodes)")}
    assert {"session_key", "current_session_id", "entry_json", "entry_valid", "updated_at", "label"} <= columns
    assert json.loads(database.connection.execute("SELECT entry_json FROM session_nodes").fetchone()[0])["sessionId"]
