"""What OpenClaw's maintenance does to rows and files; quirk cases are not copied."""

import json
import os
from contextlib import suppress

import pytest

from oc.base.clock import Clock, Ids, duration_ms
from oc.base.size import size_bytes
from oc.config.load import load
from oc.config.paths import Places
from oc.errors import NotFound
from oc.session import maintain, store
from oc.session.archive import archived_at, is_archive, is_primary, stamp
from oc.session.delivery import normal_row
from oc.session.locks import inspect, max_hold_ms
from oc.session.open import Rules, reset_session
from oc.session.sweep import Sweep, planned, swept
from oc.session.tidy import Folder, plan
from tests.support import NOW_MS, vectors

CLI = "dist/reply-Bm8VrLQh.js region src/cli/"
CONFIG = "dist/reply-Bm8VrLQh.js region src/config/sessions/"
LOCK = "dist/reply-Bm8VrLQh.js region src/agents/session-write-lock.ts "
GATEWAY = "dist/reply-Bm8VrLQh.js region src/gateway/session-utils.fs.ts "


def number(expected):
    return None if isinstance(expected, dict) else expected


@vectors("sessions-store", CLI + "parse-bytes.ts")
def test_sizes(case):
    assert number(case.expected) == size_bytes(case.input["raw"])


@vectors("sessions-store", CLI + "parse-duration.ts")
def test_durations(case):
    assert number(case.expected) == duration_ms(case.input["raw"], "d")


@vectors("sessions-archive", CONFIG + "artifacts.ts isSessionArchiveArtifactName")
def test_names(case):
    name = case.input["fileName"]
    times = {reason: archived_at(name, reason) for reason in ("reset", "deleted", "bak")}
    assert case.expected == {"archive": is_archive(name), "primary": is_primary(name), **times}


@vectors("sessions-archive", CONFIG + "artifacts.ts formatSessionArchiveTimestamp")
def test_stamps(case):
    assert case.expected == stamp(case.input["ms"])


@vectors("sessions-lock", LOCK + "inspectLockPayload")
def test_locks(case):
    given = case.input
    found = inspect(given["payload"], given["staleMs"], given["nowMs"])
    assert case.expected == {
        "pid": found.pid,
        "pidAlive": found.alive,
        "createdAt": found.created_at,
        "ageMs": found.age_ms,
        "stale": found.stale,
        "staleReasons": list(found.reasons),
        "needsMtimeFallback": found.needs_mtime,
    }


@vectors("sessions-lock", LOCK + "resolveSessionLockMaxHold")
def test_how_long_a_lock_may_be_held(case):
    assert case.expected == max_hold_ms(case.input["timeoutMs"])


@vectors("sessions-maintenance", CONFIG + "store-maintenance.ts resolveMaintenanceConfig")
def test_settings(case):
    found = maintain.settings(case.input.get("maintenance") or {})
    assert case.expected == {
        "mode": found.mode,
        "pruneAfterMs": found.prune_after_ms,
        "maxEntries": found.max_entries,
        "rotateBytes": found.rotate_bytes,
        "resetArchiveRetentionMs": found.reset_archive_ms,
        "maxDiskBytes": found.max_disk_bytes,
        "highWaterBytes": found.high_water_bytes,
    }


@vectors("sessions-maintenance", CONFIG + "store-maintenance.ts pruneStaleEntries")
def test_stale_keys(case):
    rules = maintain.Settings(prune_after_ms=case.input["maxAgeMs"])
    gone = maintain.stale_keys(case.input["store"], rules, case.input["now"])
    assert case.expected == {"pruned": len(gone), "keys": [key for key in case.input["store"] if key not in gone]}


@vectors("sessions-maintenance", CONFIG + "store-maintenance.ts capEntryCount")
def test_capped_keys(case):
    gone = maintain.capped_keys(case.input["store"], case.input["maxEntries"])
    kept = [key for key in case.input["store"] if key not in gone]
    assert case.expected == {"capped": len(gone), "keys": kept, "removedInOrder": gone}


@vectors("sessions-maintenance", CONFIG + "store-maintenance.ts getActiveSessionMaintenanceWarning")
def test_warning(case):
    given = case.input
    rules = maintain.Settings(prune_after_ms=given["pruneAfterMs"], max_entries=given["maxEntries"])
    assert case.expected == maintain.warning(given["store"], given["activeSessionKey"], rules, given["nowMs"])


@pytest.fixture
def folder(tmp_path):
    return Places(str(tmp_path), "main", str(tmp_path), str(tmp_path / "sessions.json"), "", "", "")


def fill(tmp_path, files):
    for name, content in files.items():
        path = tmp_path / name
        size = content["size"] if isinstance(content, dict) else None
        path.write_bytes(content.encode() if size is None else b"{}".ljust(size))
        if size is not None and "mtime" in content:
            os.utime(path, (content["mtime"] / 1000, content["mtime"] / 1000))


def listing(tmp_path):
    return sorted(path.name for path in tmp_path.iterdir())


@vectors("sessions-maintenance-fs", CONFIG + "disk-budget.ts")
def test_disk_budget(case, tmp_path, folder):
    given, expected = case.input, case.expected
    fill(tmp_path, given["files"])
    rules = maintain.Settings(
        prune_after_ms=10**15,
        max_entries=10**6,
        reset_archive_ms=None,
        max_disk_bytes=given["maxDiskBytes"],
        high_water_bytes=given["highWaterBytes"],
    )
    (tmp_path / "sessions.json").write_bytes(store.store_text(given["store"]))
    keep = [given["activeSessionKey"]] if "activeSessionKey" in given else []
    sweep = Sweep(rules, NOW_MS, keep)
    found = planned(folder, sweep) if given.get("dryRun") else swept(folder, sweep)[0]
    spent = found.budget
    assert expected["report"] == {
        "totalBytesBefore": spent.bytes_before,
        "totalBytesAfter": spent.bytes_after,
        "removedFiles": len(spent.files),
        "removedEntries": len(spent.keys),
        "freedBytes": sum(file.bytes for file in spent.files),
        "maxBytes": rules.max_disk_bytes,
        "highWaterBytes": rules.high_water_bytes,
        "overBudget": spent.over,
    }
    assert expected["keys"] == list(found.store)
    assert expected["files"] == [name for name in listing(tmp_path) if name != "sessions.json"]


@vectors("sessions-maintenance-fs", CONFIG + "store.ts saveSessionStore")
def test_save(case, tmp_path, folder):
    """The reference tidies whenever it saves, when it is told to enforce; oc when it is asked to."""
    given, expected = case.input, case.expected
    fill(tmp_path, given["files"])
    rules = maintain.settings(given.get("maintenance") or {})
    if not given.get("loadFirst"):
        path = tmp_path / "sessions.json"
        size = path.stat().st_size if path.exists() else 0
        path.write_bytes(store.store_text(given["store"]).ljust(size))
    keep = [given["activeSessionKey"]] if "activeSessionKey" in given else []
    if rules.mode == "enforce":
        # A row that goes makes the store be written; the case of rotation has none.
        before = {"gone": {"sessionId": "gone", "updatedAt": 1}} if "rotat" in case.name else {}
        if before:
            text = store.store_text(before | given["store"])
            (tmp_path / "sessions.json").write_bytes(text.ljust(300))
        found, busy = swept(folder, Sweep(rules, given["now"], keep))
        assert [] == busy
        reasons = [step.reason for step in found.steps if step.action == "remove" and step.name not in before]
        report = expected["report"][0]
        assert report["pruned"] == sum("longer" in reason for reason in reasons)
        assert report["capped"] == sum("beyond" in reason for reason in reasons)
        assert (report["beforeCount"], report["afterCount"]) == (len(given["store"]), len(found.store))
    else:
        rows = json.loads((tmp_path / "sessions.json").read_bytes())
        assert [] == [step for step in planned(folder, Sweep(rules, given["now"], keep)).steps if step.action != "keep"]
        store.update(str(tmp_path / "sessions.json"), lambda s: s.update({k: normal_row(r) for k, r in rows.items()}))
    assert expected["storeText"] == (tmp_path / "sessions.json").read_text()
    assert expected["files"] == listing(tmp_path)
    for row in expected["warnings"]:
        assert row == maintain.warning(given["store"], row["activeSessionKey"], rules, given["now"])


@vectors("sessions-maintenance-fs", CONFIG + "store-maintenance.ts rotateSessionFile")
def test_rotation(case):
    size = case.input["files"].get("sessions.json", {"size": 0})["size"]
    folder = Folder({"a": {"sessionId": "x", "updatedAt": 1}}, [], store_bytes=size)
    rules = maintain.Settings(rotate_bytes=case.input["maxBytes"])
    found = plan(folder, rules, case.input["now"])
    assert case.expected["rotated"] is any(step.action == "rotate" for step in found.steps)


@vectors("sessions-maintenance-fs", GATEWAY + "cleanupArchived")
def test_old_archives(case, tmp_path, folder):
    given, expected = case.input, case.expected
    fill(tmp_path, given["files"])
    # A negative age is no time: nothing is deleted.
    age_ms = given["olderThanMs"] if given["olderThanMs"] >= 0 else None
    rules = maintain.Settings(prune_after_ms=10**15, reset_archive_ms=age_ms)
    found, _ = swept(folder, Sweep(rules, given["now"]))
    assert expected["removed"] == len(found.steps)
    assert expected["files"] == listing(tmp_path)


@vectors("sessions-maintenance-fs", GATEWAY + "archiveSessionTranscripts")
def test_transcripts_are_put_away(case, tmp_path, folder):
    """A reset renames for the one reason, gc for the other; a row whose id could leave the folder names no file."""
    given = case.input
    fill(tmp_path, given["files"])
    row = {"sessionId": given["sessionId"], "updatedAt": 1, "sessionFile": given.get("sessionFile")}
    (tmp_path / "sessions.json").write_bytes(store.store_text({"main": row}))
    if given["reason"] == "deleted":
        swept(folder, Sweep(maintain.Settings(), given["now"]))
    else:
        rules = Rules(load(str(tmp_path), {}), Clock(given["now"]), Ids("1"))
        with suppress(NotFound):
            os.unlink(reset_session("main", folder, rules).ref.path)
    assert case.expected["files"] == [name for name in listing(tmp_path) if name != "sessions.json"]
