"""Tells a session after a compaction what its rules are: as an event that its next turn hears (design D16)."""

from typing import Any

from oc.agent.setting import Setting
from oc.compaction.refresh import refresh_text
from oc.config.load import Config
from oc.config.paths import Places
from oc.session import events
from oc.session.find import SessionRef
from oc.workspace.load import read_file
from oc.workspace.sections import extract_sections

KIND = "refresh"


def text_of(config: Config, workspace: str, setting: Setting) -> str | None:
    """Returns what a session is told now, None when AGENTS.md has none of the sections, or none is configured."""
    markdown = read_file(workspace, "AGENTS.md").content
    if markdown is None:
        return None
    clock = setting.clock
    return refresh_text(
        lambda names: extract_sections(markdown, names),
        config.get("agents.defaults.compaction.postCompactionSections"),
        date=clock.date(),
        time_line=clock.time_line(twelve_hours=config.get("agents.defaults.timeFormat") == "12"),
    )


def queue_refresh(ref: SessionRef, config: Config, places: Places, setting: Setting) -> dict[str, Any] | None:
    """Queues the refresh of a session and returns the event, None when there is nothing to tell.

    One that waits already is replaced; a transcript without a key has no queue.
    """
    text = None if ref.key is None else text_of(config, places.workspace, setting)
    if text is None:
        return None
    key = str(ref.key)
    old = {event["id"] for event in events.pending(places.events, key) if event.get("kind") == KIND}
    event = {"sessionKey": key, "kind": KIND, "text": text}
    queued = events.queue(
        places.events, event, ids=setting.ids, now_ms=setting.clock.now_ms(), lock_timeout_ms=setting.lock_timeout_ms
    )
    if old:
        events.remove(places.events, old, lock_timeout_ms=setting.lock_timeout_ms)
    return queued
