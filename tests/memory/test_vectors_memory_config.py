import os

from oc.config.defaults import KEYS
from oc.config.load import Config, Layer
from oc.config.paths import places
from oc.memory.settings import PREFIX, normalised
from tests.support import vectors

DEFAULTS = {key.path.removeprefix(PREFIX): key.default for key in KEYS if key.path.startswith(PREFIX)}


def dig(tree, path):
    for part in path.split("."):
        tree = tree.get(part) if isinstance(tree, dict) else None
    return tree


def lookup(*trees):
    def value(path):
        found = [v for tree in trees if (v := dig(tree, path)) is not None]
        if path == "extraPaths":
            return [item for part in reversed(found) for item in part]
        return found[0] if found else DEFAULTS[path]

    return value


def shown(s):
    """The settings in the reference's form."""
    found = {
        "enabled": s.enabled,
        "sources": list(s.sources),
        "extraPaths": list(s.extra_paths),
        "multimodal": {
            "enabled": bool(s.modalities),
            "modalities": list(s.modalities),
            "maxFileBytes": s.max_file_bytes,
        },
        "provider": s.provider,
        "fallback": s.fallback,
        "model": s.model,
        "local": {} if s.local_model_path is None else {"modelPath": s.local_model_path},
        "chunking": {"tokens": s.chunk_tokens, "overlap": s.chunk_overlap},
        "sync": {
            "onSessionStart": s.on_session_start,
            "onSearch": s.on_search,
            "watch": s.watch,
            "watchDebounceMs": s.watch_debounce_ms,
            "intervalMinutes": s.interval_minutes,
            "sessions": {
                "deltaBytes": s.delta_bytes,
                "deltaMessages": s.delta_messages,
                "postCompactionForce": s.post_compaction_force,
            },
        },
        "query": {
            "maxResults": s.max_results,
            "minScore": s.min_score,
            "hybrid": {
                "enabled": s.hybrid,
                "vectorWeight": s.vector_weight,
                "textWeight": s.text_weight,
                "candidateMultiplier": s.candidate_multiplier,
                "mmr": {"enabled": s.mmr, "lambda": s.mmr_lambda},
                "temporalDecay": {"enabled": s.decay, "halfLifeDays": s.half_life_days},
            },
        },
        "cache": {"enabled": s.cache},
    }
    if s.cache_max_entries is not None:
        found["cache"]["maxEntries"] = s.cache_max_entries
    return found


def shown_batch(s):
    return {
        "enabled": s.batch,
        "wait": s.batch_wait,
        "concurrency": s.batch_concurrency,
        "pollIntervalMs": s.batch_poll_ms,
        "timeoutMinutes": s.batch_timeout_minutes,
    }


@vectors("memory-config")
def test_settings(case):
    given = case.input
    trees = [given[name] for name in ("agent", "defaults", "memorySearch") if name in given]
    settings = normalised(lookup(*trees))
    if case.expected is None:
        assert not settings.enabled
        return
    expected = {key: value for key, value in case.expected.items() if key not in ("remote", "experimental", "store")}
    assert expected == shown(settings)
    batch = case.expected.get("remote", {}).get("batch")
    assert batch in (None, shown_batch(settings))
    assert case.expected["experimental"]["sessionMemory"] == ("sessions" in settings.sources)
    assert case.expected["store"]["vector"]["enabled"] == settings.vector_enabled


@vectors("memory-config")
def test_store_path_is_ours_unless_oc_json_names_one(case):
    """The reference's own index is never written to: the default has `oc-` before the agent's name."""
    if case.expected is None:
        return
    given = case.input
    tree = {"agents": {"defaults": {"memorySearch": given.get("memorySearch", {})}}}
    found = places(Config((Layer("oc.json", "oc.json", tree),)), given["stateDir"], given["agentId"], {})
    folder, name = os.path.split(case.expected["store"]["path"])
    named = given.get("memorySearch", {}).get("store", {}).get("path")
    assert os.path.join(folder, name if named else f"oc-{name}") == found.index
