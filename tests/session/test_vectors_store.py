import pytest

from oc.errors import BadInput
from oc.session import store
from tests.support import vectors


@vectors("sessions-store", "dist/reply-Bm8VrLQh.js region src/config/sessions/store.ts loadSessionStore")
def test_load(case, tmp_path):
    path = tmp_path / "sessions.json"
    if case.input["text"] is not None:
        path.write_text(case.input["text"])
    assert case.expected == store.load(str(path))


def test_an_unparsable_store_is_refused_and_left_alone(tmp_path):
    """D5: the reference takes it for an empty store and overwrites it."""
    path = tmp_path / "sessions.json"
    for text in ('{ "a": ', "", "[]", "null"):
        path.write_text(text)
        with pytest.raises(BadInput) as caught:
            store.update(str(path), lambda s: s.update(k={"sessionId": "1"}))
        assert str(path) == caught.value.path
        assert text == path.read_text()


@vectors("sessions-store", "dist/reply-Bm8VrLQh.js region src/config/sessions/store.ts resolveSessionStoreEntry")
def test_look_up(case):
    found = store.look_up(case.input["store"], case.input["sessionKey"])
    assert case.expected["existing"] == found.row
    assert case.expected["legacyKeys"] == list(found.legacy)
    assert case.expected["normalizedKey"] == case.input["sessionKey"].strip().lower()


@vectors("sessions-store", "dist/reply-Bm8VrLQh.js region src/config/sessions/types.ts mergeSessionEntry")
def test_merge(case):
    options = case.input["options"]
    keep = options.get("policy") == "preserve-activity"
    merged = store.merge(case.input.get("existing"), case.input["patch"], now_ms=options["now"], keep_activity=keep)
    assert case.expected == merged


@vectors("sessions-store", "dist/reply-Bm8VrLQh.js region src/config/sessions/types.ts resolveFreshSessionTotalTokens")
def test_fresh_tokens(case):
    assert case.expected == store.fresh_tokens(case.input["entry"])


@vectors("sessions-store", "dist/paths-DBVuZIGo.js (imported) resolveSessionFilePath")
def test_transcript_path(case):
    given = case.input
    if "throws" in (case.expected if isinstance(case.expected, dict) else {}):
        with pytest.raises(BadInput):
            store.transcript_path(given["entry"], given["sessionId"], given["sessionsDir"])
    else:
        assert case.expected == store.transcript_path(given["entry"], given["sessionId"], given["sessionsDir"])


@vectors("sessions-store", "dist/paths-DBVuZIGo.js (imported) resolveSessionTranscriptPathInDir")
def test_transcript_name(case):
    given = case.input
    name = store.transcript_name(given["sessionId"], given.get("topicId"))
    assert case.expected == f"{given['sessionsDir']}/{name}"
