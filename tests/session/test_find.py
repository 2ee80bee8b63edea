import os

import pytest

from oc.config.load import load
from oc.config.paths import places
from oc.errors import BadInput, NotFound
from oc.session import store
from oc.session.find import Scope, find, key_of, sessions_of, unkeyed_of
from oc.session_key import full_key, is_path, is_session_id, normal_agent_id, parse


@pytest.fixture
def scope(tmp_path):
    config = load(str(tmp_path), {})

    def places_of(agent):
        return places(config, str(tmp_path), agent, {})

    rows = {
        "agent:main:main": {"sessionId": "id-main", "updatedAt": 1},
        "Agent:Main:Telegram:Direct:42": {
            "sessionId": "id-tele",
            "updatedAt": 2,
            "sessionFile": "id-tele-topic-7.jsonl",
        },
        "global": {"sessionId": "id-global", "updatedAt": 3},
        "agent:main:broken": None,
        "agent:main:no-id": {"updatedAt": 4},
    }
    store.update(places_of("main").store, lambda s: s.update(rows))
    store.update(places_of("work").store, lambda s: s.update({"agent:work:main": {"sessionId": "id-work"}}))
    for name in ("id-main.jsonl", "alone.jsonl", "alone-topic-3.jsonl", "oc-events.jsonl"):
        with open(os.path.join(places_of("main").sessions, name), "wb"):
            pass
    return Scope("main", places_of)


@pytest.mark.parametrize(
    ("text", "key", "session_id", "name"),
    [
        ("main", "agent:main:main", "id-main", "id-main.jsonl"),
        ("MAIN", "agent:main:main", "id-main", "id-main.jsonl"),
        ("agent:main:main", "agent:main:main", "id-main", "id-main.jsonl"),
        (" Agent:MAIN:Main ", "agent:main:main", "id-main", "id-main.jsonl"),
        ("telegram:direct:42", "agent:main:telegram:direct:42", "id-tele", "id-tele-topic-7.jsonl"),
        ("global", "global", "id-global", "id-global.jsonl"),
        ("agent:work:main", "agent:work:main", "id-work", "id-work.jsonl"),
        ("id-tele", "agent:main:telegram:direct:42", "id-tele", "id-tele-topic-7.jsonl"),
        ("alone", None, "alone", "alone.jsonl"),
        ("alone-topic-3", None, "alone-topic-3", "alone-topic-3.jsonl"),
    ],
)
def test_names(scope, text, key, session_id, name):
    found = find(text, scope)
    assert (key, session_id, name) == (found.key, found.session_id, os.path.basename(found.path))


@pytest.mark.parametrize("text", ["x.jsonl", "./x", "../s/x.jsonl.reset.2026-03-16T09-00-00.000Z", "/dev/stdin"])
def test_paths_are_taken_as_they_are(scope, text):
    assert (None, None, text) == find(text, scope)[:3]


@pytest.mark.parametrize("text", ["broken", "no-id", "agent:main:nope", "..", "", "id main", "会话", "x\x00y"])
def test_what_fits_nothing_is_not_found(scope, text):
    with pytest.raises(NotFound):
        find(text, scope)


def test_near_misses_are_named(scope):
    with pytest.raises(NotFound) as caught:
        find("telegrm:direct:42", scope)
    assert "telegram:direct:42" in caught.value.hint
    with pytest.raises(NotFound) as caught:
        find("zzzzzzzz", scope)
    assert "`oc session list` names them" == caught.value.hint


def test_a_broken_store_is_told_rather_than_taken_for_empty(scope):
    with open(scope.places_of("main").store, "w", encoding="utf-8") as file:
        file.write("{")
    with pytest.raises(BadInput):
        find("alone", scope)


def test_keys_of_names(scope):
    assert ("agent:main:main", "main") == key_of("main", scope)
    assert ("agent:main:home", "main") == key_of("main", scope._replace(main_key=" Home "))
    assert ("agent:main:new", "main") == key_of("New", scope)
    assert ("agent:work:new", "work") == key_of("agent:Work:new", scope)
    assert ("global", "main") == key_of("GLOBAL", scope)


def test_sessions_and_transcripts_without_one(scope):
    keyed = sessions_of(scope.places_of("main"))
    assert ["id-main", "id-tele", "id-global"] == [ref.session_id for ref in keyed]
    assert ["alone-topic-3", "alone"] == [ref.session_id for ref in unkeyed_of(scope.places_of("main"), keyed)]
    assert [] == unkeyed_of(scope.places_of("nobody"), [])


def test_key_grammar():
    assert ("main", "telegram:dm:1") == parse(" AGENT:main::telegram:dm:1 ")
    assert [None] * 4 == [parse(text) for text in ("agent:", "agent:main", "main", "")]
    assert "agent:x:y" == full_key("Agent:X:Y", "main")
    assert ["main", "work-bot", "main", "a" * 64] == [normal_agent_id(t) for t in ("", "Work Bot!", "研发", "A" * 64)]
    assert not is_session_id("a/b")
    assert not is_session_id("a\n")
    assert is_path("a.jsonl")
    assert not is_path("agent:main:x.jsonl")
