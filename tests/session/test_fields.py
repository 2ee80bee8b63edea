"""What a person may set in a session's row, and how a session with a parent starts."""

import pytest

from oc.errors import Usage
from oc.session.fields import assignment
from oc.session.find import SessionRef
from oc.session.parent import start_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("label=my work", ("label", "my work")),
        ("label=a=b", ("label", "a=b")),
        ("label=", ("label", None)),
        ("thinkingLevel=high", ("thinkingLevel", "high")),
        ("fastMode=true", ("fastMode", True)),
        ("fastMode=false", ("fastMode", False)),
        ("queueCap=20", ("queueCap", 20)),
    ],
)
def test_values_have_the_types_of_their_fields(text, expected):
    assert expected == assignment(text)


@pytest.mark.parametrize(
    "text", ["label", "=x", "thinkingLevel=most", "fastMode=yes", "queueCap=-1", "queueCap=²", "sessionId=x", "own=1"]
)
def test_what_does_not_fit_is_refused(text):
    with pytest.raises(Usage):
        assignment(text)


def test_any_field_can_be_forced_but_those_that_lead_to_the_transcript():
    assert ("own", {"a": 1}) == assignment('own={"a":1}', any_name=True)
    assert ("own", "text") == assignment("own=text", any_name=True)
    with pytest.raises(Usage):
        assignment("sessionFile=/etc/passwd", any_name=True)


def parent(tokens):
    return SessionRef("agent:main:main", "p", "p.jsonl", "main", {"sessionId": "p", "totalTokens": tokens})


@pytest.mark.parametrize(
    ("tokens", "limit", "forks"),
    [
        (100_000, 100_000, True),
        (100_001, 100_000, False),
        (10**9, 0, True),
        (100_001, "much", False),
        (100_001, -1, False),
        (100_001, True, False),
        (None, 5, True),
        ("9", 5, True),
        (6, 5.9, False),
    ],
)
def test_a_parent_that_is_too_large_is_not_forked(tokens, limit, forks):
    start = start_of(parent(tokens), "7", limit)
    assert forks is (start.fork is not None)
    assert ("7", {"forkedFromParent": True}) == (start.thread_id, start.fields)


def test_without_a_parent_nothing_is_noted():
    start = start_of(None, None, 5)
    assert (None, None, {}) == (start.thread_id, start.fork, dict(start.fields))
