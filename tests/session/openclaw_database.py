"""Makes databases with the tables in which OpenClaw 2026.8 and later keeps sessions."""

import json
import sqlite3
from pathlib import Path

from oc.base.jsonl import dump

TABLES = """
CREATE TABLE schema_meta (meta_key TEXT PRIMARY KEY, role TEXT, schema_version INTEGER, agent_id TEXT,
  app_version TEXT);
CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT, entry_json TEXT, entry_valid INTEGER,
  updated_at INTEGER, label TEXT, display_name TEXT);
CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT, previous_session_id TEXT, reason TEXT,
  session_scope TEXT, created_at INTEGER, updated_at INTEGER, chat_type TEXT, channel TEXT, model_provider TEXT,
  model TEXT);
CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB,
  event_utf8_bytes INTEGER, created_at INTEGER, PRIMARY KEY (session_id, seq));
INSERT INTO schema_meta VALUES ('main', 'agent', 12, 'main', '2026.9.6');
"""
NOW_MS = 1773651600000


def header(session_id):
    return {"type": "session", "version": 3, "id": session_id, "timestamp": "2026-03-16T09:00:00.000Z", "cwd": "/w"}


def message(entry_id, parent, role, text):
    body = {"role": role, "content": text, "timestamp": NOW_MS}
    return {
        "type": "message",
        "id": entry_id,
        "parentId": parent,
        "timestamp": "2026-03-16T09:00:01.000Z",
        "message": body,
    }


def talk(session_id, *texts):
    """The events of a transcript: a header, then what user and assistant say in turn."""
    events, parent = [header(session_id)], None
    for number, text in enumerate(texts):
        events.append(message(f"{session_id}-{number}", parent, ("user", "assistant")[number % 2], text))
        parent = events[-1]["id"]
    return events


class Database:
    """A database open for writing in WAL mode, as the gateway has it."""

    def __init__(self, path: Path, *, tables: bool = True) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.connection = sqlite3.connect(path)
        self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.executescript(TABLES if tables else "CREATE TABLE schema_meta (meta_key TEXT);")

    def key(self, key, session_id, *, valid=1, label=None, **entry):
        row = (key, session_id, json.dumps({"sessionId": session_id, **entry}), valid, NOW_MS, label, None)
        self.connection.execute("INSERT INTO session_nodes VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        self.connection.commit()

    def transcript(self, session_id, events, *, key=None, pack=None, backwards=False):
        """Stores the events; `pack` compresses a text. `backwards` gives later events the smaller rowids."""
        window = (session_id, key, None, "initial", "agent", NOW_MS, NOW_MS, "direct", None, None, None)
        self.connection.execute("INSERT INTO session_windows VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", window)
        rows = []
        for seq, event in enumerate(events):
            raw = event if isinstance(event, bytes) else dump(event)
            packed = pack(raw) if pack and seq else None
            rows.append((session_id, seq, None if packed else raw.decode(), packed, len(raw), NOW_MS))
        insert = "INSERT INTO transcript_events VALUES (?, ?, ?, ?, ?, ?)"
        self.connection.executemany(insert, reversed(rows) if backwards else rows)
        self.connection.commit()

    def close(self):
        """Closes as the gateway does at its end: the log goes into the database and away."""
        self.connection.close()
