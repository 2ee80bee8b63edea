"""What mends and tidies refuses sessions that OpenClaw keeps in its database; what adds up reads them."""

import pytest

from tests.session.openclaw_database import Database, header


@pytest.fixture
def database(oc):
    made = Database(oc.state / "agents" / "main" / "agent" / "openclaw-agent.sqlite")
    made.key("agent:main:main", "s1")
    usage = {"input": 7, "output": 1, "totalTokens": 8}
    answer = {"role": "assistant", "provider": "p", "model": "m", "usage": usage, "content": [], "timestamp": 5}
    entry = {"type": "message", "id": "a", "parentId": None, "timestamp": "2026-03-16T09:00:00.000Z", "message": answer}
    made.transcript("s1", [header("s1"), entry], key="agent:main:main")
    yield made
    made.close()


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize(
    "verb", [["gc"], ["gc", "--write"], ["rebuild"], ["rebuild", "--write"], ["repair", "--write"]]
)
def test_writers_refuse_with_the_import_line(oc, verb):
    ran = oc("session", *verb)
    assert (69, "") == (ran.status, ran.out)
    assert "session import" in ran.err
    assert not (oc.state / "agents" / "main" / "sessions").exists()


@pytest.mark.usefixtures("database")
def test_looking_reads_it(oc):
    (row,) = oc("session", "usage", "--jsonl").jsonl()
    assert ("s1", "agent:main:main", 1, 7) == tuple(row[name] for name in ("sessionId", "key", "calls", "input"))
    assert 7 == oc("session", "usage", "--last", "--jsonl").jsonl()[0]["input"]
    assert (0, "") == (oc("session", "check").status, oc("session", "check").out)
    assert 1 == oc("session", "repair").status
