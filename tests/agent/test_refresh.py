"""The text of a refresh and its event, by the reference's table and beside it."""

import os
import re
from zoneinfo import ZoneInfo

import pytest

from oc.agent.refresh import queue_refresh, text_of
from oc.agent.setting import Setting
from oc.base.clock import Clock, Ids
from oc.base.text import len16
from oc.compaction.refresh import CUT, MARK, MAX_CHARS, refresh_text
from oc.config.load import Config, Layer
from oc.config.paths import places
from oc.session import events
from oc.session.find import SessionRef
from oc.workspace.sections import extract_sections
from tests.forms import make_workspace
from tests.support import NOW_MS, vectors

KEY = "agent:main:main"


def config_of(tree):
    return Config((Layer("openclaw.json", "openclaw.json", tree or {}),))


def setting_of(zone="UTC", now_ms=NOW_MS):
    return Setting("main", None, None, Clock(now_ms, ZoneInfo(zone)), Ids("1"), pytest.fail)


def content_of(text):
    """What stands between the line that announces the sections and the last paragraph, which tells the time."""
    return re.search(r"AGENTS\.md[^\n]*:\n\n(.*)\n\nCurrent time: [^\n]*\Z", text, re.DOTALL)[1]


@vectors("context-post-compaction", "readPostCompactionContext")
def test_text(case, tmp_path):
    """The mark, the sections, the time: the words between are our own."""
    workspace = make_workspace(tmp_path, case.input)
    config = config_of(case.input["config"])
    zone = config.get("agents.defaults.userTimezone")
    text = text_of(config, str(workspace), setting_of(zone))
    if case.expected is None:
        assert text is None
        return
    expected = case.expected
    if isinstance(expected, dict):
        assert text.endswith(expected["$tail"])
        assert MAX_CHARS + len16(CUT) == len16(content_of(text))
        return
    assert MARK == expected.split("\n")[0] == text.split("\n")[0]
    assert len(expected.split("\n\n")) == len(text.split("\n\n"))
    assert content_of(expected) == content_of(text)
    assert expected.split("\n")[-1] == text.split("\n")[-1]


def test_configured_sections_are_named():
    tree = {"agents": {"defaults": {"compaction": {"postCompactionSections": ["Ports", " ", "Rules"]}}}}
    markdown = "## Rules\nr YYYY-MM-DD\n## Ports\n5432\n## Red Lines\nx\n"
    names = config_of(tree).get("agents.defaults.compaction.postCompactionSections")
    text = refresh_text(lambda n: extract_sections(markdown, n), names, date="2026-03-16", time_line="Current time: x")
    assert "(Ports, Rules)" in text
    assert "## Ports\n5432\n\n## Rules\nr 2026-03-16" == content_of(text)


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "AGENTS.md").write_text("## Red Lines\nnever\n\n<!-- oc:keep -->\n## Other\n")
    return str(tmp_path / "ws")


def test_one_refresh_waits_however_often_it_is_asked_for(tmp_path, workspace):
    config = config_of({})
    where = places(config, str(tmp_path), "main", {}, workspace)
    other = {"sessionKey": KEY, "kind": "note", "text": "stays"}
    events.queue(where.events, other, ids=Ids("2"), now_ms=NOW_MS)
    ref = SessionRef(KEY, "s", str(tmp_path / "s.jsonl"), "main", {})
    queue_refresh(ref, config, where, setting_of())
    queued = queue_refresh(ref, config, where, setting_of(now_ms=NOW_MS + 1))
    assert ["note", "refresh"] == [event["kind"] for event in events.pending(where.events, KEY)]
    assert queued == events.pending(where.events, KEY)[-1]
    assert "## Red Lines\nnever" == content_of(queued["text"])


def test_a_transcript_without_a_key_is_told_nothing(tmp_path, workspace):
    config = config_of({})
    where = places(config, str(tmp_path), "main", {}, workspace)
    assert queue_refresh(SessionRef(None, None, "x.jsonl", "main"), config, where, setting_of()) is None
    assert not os.path.exists(where.events)
