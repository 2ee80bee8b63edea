import json
import os
from zoneinfo import ZoneInfo

import pytest

from oc.base.clock import Clock, Ids
from oc.config.load import load
from oc.config.paths import places as places_of
from oc.errors import NotFound, Usage
from oc.session import store
from oc.session.open import Rules, freshness, need_transcript, open_session, reset_session, touch
from oc.session.transcript import append, read
from tests.support import NOW_MS

KEY = "agent:main:main"
DAY_MS = 24 * 3600 * 1000


@pytest.fixture
def world(tmp_path):
    """Opens sessions of one agent at any time, with any configuration."""
    home = tmp_path / "state"
    home.mkdir()
    places = places_of(load(str(home), {}), str(home), "main", {})
    ids = Ids("1")

    def rules(now_ms=NOW_MS, **session):
        (home / "oc.json").write_text(json.dumps({"session": session}))
        return Rules(load(str(home), {}), Clock(now_ms, ZoneInfo("UTC")), ids)

    return places, rules


def row_of(places):
    return store.load(places.store)[KEY]


def test_a_new_key_gets_a_row_and_a_transcript(world):
    places, rules = world
    opened = open_session(KEY, places, rules())
    assert opened.is_new
    assert () == opened.archived
    assert opened.previous is None
    assert opened.ref.session_id == read(opened.ref.path).header["id"]
    assert places.workspace == read(opened.ref.path).header["cwd"]
    assert {
        "sessionId": opened.ref.session_id,
        "updatedAt": NOW_MS,
        "sessionFile": os.path.join(places.sessions, f"{opened.ref.session_id}.jsonl"),
        "chatType": "direct",
        "compactionCount": 0,
        "systemSent": False,
        "abortedLastRun": False,
    } == row_of(places)
    assert 0o600 == os.stat(places.store).st_mode & 0o777


def test_a_fresh_session_goes_on_and_nothing_is_written(world):
    places, rules = world
    first = open_session(KEY, places, rules())
    before = os.stat(places.store).st_mtime_ns
    again = open_session(KEY, places, rules(NOW_MS + 1000))
    assert not again.is_new
    assert first.ref.path == again.ref.path
    assert before == os.stat(places.store).st_mtime_ns


def test_a_stale_session_is_rolled_over_and_archived(world):
    places, rules = world
    old = open_session(KEY, places, rules())
    append(old.ref.path, [{"type": "message", "message": {"role": "user", "content": "x"}}])
    with open(old.ref.path, "rb") as file:
        kept = file.read()
    new = open_session(KEY, places, rules(NOW_MS + DAY_MS))
    archive = f"{old.ref.path}.reset.2026-03-17T09-00-00.000Z"
    assert new.is_new
    assert (archive,) == new.archived
    assert old.ref.session_id == new.previous["sessionId"]
    assert not os.path.exists(old.ref.path)
    with open(archive, "rb") as file:
        assert kept == file.read()
    assert [] == read(new.ref.path).entries


def test_a_stale_session_goes_on_when_asked_to(world):
    places, rules = world
    old = open_session(KEY, places, rules())
    again = open_session(KEY, places, rules(NOW_MS + DAY_MS), stale_too=True)
    assert not again.is_new
    assert old.ref.session_id == again.ref.session_id


def test_what_survives_a_reset_and_what_the_clock(world):
    places, rules = world
    open_session(KEY, places, rules())
    chosen = {"thinkingLevel": "high", "modelOverride": "m", "label": "L"}
    of_one = {"totalTokens": 9, "totalTokensFresh": True, "memoryFlushAt": 1, "compactionCount": 4}
    always = {"channel": "telegram", "somethingNew": {"a": 1}}

    def fill(rows):
        rows[KEY] |= {**chosen, **of_one, **always}

    store.update(places.store, fill)
    reset_session(KEY, places, rules(NOW_MS + 1))
    row = row_of(places)
    assert {**chosen, **always} == {k: row[k] for k in {**chosen, **always}}
    assert 0 == row["compactionCount"]
    assert "totalTokens" not in row
    store.update(places.store, fill)
    open_session(KEY, places, rules(NOW_MS + DAY_MS))
    row = row_of(places)
    assert always == {k: row[k] for k in always}
    assert set() == {*chosen, "totalTokens", "memoryFlushAt"} & set(row)


def test_two_resets_at_one_moment_keep_both_archives(world):
    places, rules = world
    first = open_session(KEY, places, rules())
    clash = f"{first.ref.path}.reset.2026-03-16T09-00-00.000Z"
    with open(clash, "w", encoding="utf-8") as file:
        file.write("older")
    second = reset_session(KEY, places, rules())
    assert clash not in second.archived
    with open(clash, encoding="utf-8") as file:
        assert "older" == file.read()
    assert first.ref.session_id == read(second.archived[0]).header["id"]


def test_reset_of_an_unknown_key_makes_nothing(world):
    places, rules = world
    with pytest.raises(NotFound):
        reset_session(KEY, places, rules())
    assert not os.path.exists(places.sessions)


def test_a_row_without_its_transcript_gets_one(world):
    """OpenClaw writes the row first and the transcript with the first answer; a kill in between looks the same."""
    places, rules = world
    opened = open_session(KEY, places, rules())
    os.unlink(opened.ref.path)
    again = open_session(KEY, places, rules())
    assert not again.is_new
    assert opened.ref.session_id == read(again.ref.path).header["id"]
    need_transcript(again.ref, places, rules())
    assert 1 == len(os.listdir(places.sessions)) - 1


def test_spellings_of_a_key_are_one_row(world):
    places, rules = world
    old = {"sessionId": "s1", "updatedAt": NOW_MS, "x": 1}
    store.update(places.store, lambda rows: rows.update({"Agent:Main:MAIN": dict(old), "agent:main:Main": None}))
    opened = open_session(KEY, places, rules(), new=True)
    rows = store.load(places.store)
    assert [KEY] == list(rows)
    assert 1 == rows[KEY]["x"]
    assert "s1" == opened.previous["sessionId"]


def test_white_space_in_a_new_key_is_refused_but_an_old_one_is_opened(world):
    places, rules = world
    with pytest.raises(Usage):
        open_session("agent:main:a b", places, rules())
    assert not os.path.exists(places.store)
    store.update(places.store, lambda rows: rows.update({"agent:main:a b": {"sessionId": "s1", "updatedAt": NOW_MS}}))
    assert "s1" == open_session("agent:main:a b", places, rules()).ref.session_id


def test_configuration_decides_what_is_fresh(world):
    places, rules = world
    opened = open_session(KEY, places, rules())
    later = NOW_MS + 31 * 60_000
    assert freshness(opened.ref, rules(later)).fresh
    assert not freshness(opened.ref, rules(later, idleMinutes=30)).fresh
    assert not freshness(opened.ref, rules(later, reset={"mode": "idle", "idleMinutes": 30})).fresh
    assert not freshness(opened.ref, rules(later, resetByType={"direct": {"mode": "idle", "idleMinutes": 1}})).fresh
    assert not freshness(opened.ref, rules(later, resetByType={"dm": {"mode": "idle", "idleMinutes": 1}})).fresh
    group = opened.ref._replace(key="agent:main:telegram:group:1")
    by_channel = {"telegram": {"mode": "idle", "idleMinutes": 1}}
    assert freshness(opened.ref, rules(later, resetByChannel=by_channel)).fresh
    assert not freshness(group, rules(later, resetByChannel=by_channel)).fresh
    dotted = opened.ref._replace(row={**opened.ref.row, "channel": "tele.gram"})
    assert freshness(dotted, rules(later, resetByChannel=by_channel)).fresh


def test_use_is_noted_but_not_more_often_than_every_ten_seconds(world):
    places, rules = world
    ref = open_session(KEY, places, rules()).ref
    touch(ref, places, rules(NOW_MS + 9_999))
    assert NOW_MS == row_of(places)["updatedAt"]
    touch(ref, places, rules(NOW_MS + 10_000))
    assert NOW_MS + 10_000 == row_of(places)["updatedAt"]
    touch(ref, places, rules(NOW_MS + 10_001), compactionCount=1)
    assert (NOW_MS + 10_001, 1) == (row_of(places)["updatedAt"], row_of(places)["compactionCount"])
    reset_session(KEY, places, rules(NOW_MS + 20_000))
    touch(ref, places, rules(NOW_MS + 90_000))
    assert NOW_MS + 20_000 == row_of(places)["updatedAt"]


def test_seeded_session_ids_are_new_even_beside_archives(world):
    places, rules = world
    seen = set()
    for _ in range(4):
        fresh_process = rules()._replace(ids=Ids("1"))
        seen.add(open_session(KEY, places, fresh_process, new=True).ref.session_id)
    assert 4 == len(seen)
    store.update(places.store, lambda rows: rows.clear())
    first = open_session(KEY, places, rules()._replace(ids=Ids("2"))).ref
    os.unlink(first.path)
    second = open_session("agent:main:other", places, rules()._replace(ids=Ids("2"))).ref
    assert first.session_id != second.session_id
