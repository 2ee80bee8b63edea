from oc.config.defaults import KEYS
from oc.memory import paths
from oc.memory.settings import MODALITIES, PREFIX, normalised
from tests.support import vectors

DEFAULTS = {key.path.removeprefix(PREFIX): key.default for key in KEYS if key.path.startswith(PREFIX)}


def multimodal(raw):
    given = {f"multimodal.{name}": value for name, value in raw.items()}
    # The table normalises the three keys alone; a whole configuration is only accepted with a model that embeds media.
    model = {"provider": "gemini", "model": "gemini-embedding-2-preview"}
    got = normalised((DEFAULTS | model | given).__getitem__)
    return {"modalities": list(got.modalities), "maxFileBytes": got.max_file_bytes}


def run(given):
    match given["op"]:
        case "isMemoryPath":
            path = given["path"]
            return {"normalized": paths.normal(path), "isMemoryPath": paths.is_memory_path(path)}
        case "isAllowedMemoryFilePath":
            return [paths.is_note_name(given["path"], MODALITIES if every else ()) for every in given["multimodalAll"]]
        case "normalizeExtraMemoryPaths":
            return paths.extra_paths(given["workspaceDir"], given["extraPaths"])
        case "shouldIgnoreMemoryWatchPath":
            return paths.is_ignored_by_watch(given["path"])
    raise AssertionError(given["op"])


@vectors("memory-paths")
def test_paths(case):
    if case.input["op"] == "normalizeMemoryMultimodalSettings":
        got = multimodal(case.input["raw"])
        assert case.expected == {"enabled": bool(case.input["raw"].get("enabled")), **got}
        return
    assert case.expected == run(case.input)
