"""What a turn adds to the context before the model is asked, alike when it is only looked at. Writes nothing."""

from collections.abc import Sequence
from typing import Any

from oc.agent.request import Session
from oc.agent.setting import Setting
from oc.agent.view import View
from oc.base.clock import iso
from oc.base.text import js_trim_start
from oc.session import events
from oc.session.entry import Entry

EVENT = "oc.event"  # custom type of the entries that tell a session of events


def trigger(text: str, setting: Setting) -> tuple[str, bool]:
    """Returns the text after a reset trigger at its start, and whether there was one."""
    lowered = text.strip().lower()
    for trigger in setting.config_of(setting.agent).get("session.resetTriggers"):
        word = trigger.strip().lower()
        if word and (lowered == word or (lowered.startswith(word) and lowered[len(word)].isspace())):
            return js_trim_start(text.strip()[len(word) :]), True
    return text, False


def zone_of(setting: Setting) -> str:
    return "" if setting.clock.zone is None else str(setting.clock.zone)


def waiting(session: Session) -> list[dict[str, Any]]:
    """Returns the events that wait for the session; a transcript without a key has none."""
    key = session.ref.key
    return [] if key is None else events.pending(session.places.events, key)


def event_entry(event: dict[str, Any], setting: Setting) -> Entry:
    """Returns the entry by which a session is told of an event."""
    return {
        "type": "custom_message",
        "customType": EVENT,
        "content": str(event.get("text") or ""),
        "display": False,
        "details": {"event": event["id"], "kind": event.get("kind")},
        "timestamp": iso(setting.clock.now_ms()),
    }


def with_hooks(view: View, context: Sequence[Entry], prompt: str, system: str) -> tuple[str, str]:
    """Returns the prompt and the system prompt as the hooks leave them; they are told the history before the prompt."""
    if not (view.hooked.listens("before_prompt_build") or view.hooked.listens("before_agent_start")):
        return prompt, system
    from oc.hooks.events import change_prompt

    changes = view.hooked.prompt_changes(prompt, view.history(context).messages)
    return change_prompt(changes, prompt, system)
