"""The gate of the flush, its prompt and the arithmetic behind both, by the reference's tables."""

import json
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from oc.base.clock import Clock, parse_iso
from oc.base.size import byte_size
from oc.base.tokens import CHARS4
from oc.config.load import Config, Layer
from oc.message.usage import is_told, normalised, prompt_tokens
from oc.session.usage_tail import read_usage
from oc.window import flush
from oc.window.budget import keep_recent_tokens, reserve_tokens, run_limit
from oc.window.flush_prompt import NO_REPLY, TARGET, for_run, words_of
from tests.forms import expand
from tests.support import NOW_MS, VECTORS, vectors


def config(tree):
    return Config((Layer("openclaw.json", "openclaw.json", tree or {}),))


def rules(case):
    return flush.Rules(True, case["softThresholdTokens"], 0, case["reserveTokensFloor"])


def should(case):
    return flush.should_flush(case.get("entry"), case.get("tokenCount"), case["contextWindowTokens"], rules(case))


def settings(given):
    found, words = flush.rules_of(given), words_of(given)
    if not found.enabled:
        return None
    return found, words


@vectors("context-flush-gate", "shouldRunMemoryFlush")
def test_should_run(case):
    assert case.expected is should(case.input)


@vectors("context-flush-gate", "resolveMemoryFlushSettings")
def test_settings(case):
    """Of the texts their form: the wording is our own."""
    found = settings(config(case.input["config"]))
    if case.expected is None:
        assert found is None
        return
    found, words = found
    assert case.expected["softThresholdTokens"] == found.soft_tokens
    assert case.expected["forceFlushTranscriptBytes"] == found.force_bytes
    assert case.expected["reserveTokensFloor"] == found.reserve_floor
    assert case.expected["promptHasNoReply"] is (NO_REPLY in words.prompt)
    assert case.expected["systemPromptHasNoReply"] is (NO_REPLY in words.system)
    assert case.expected["paragraphs"] == len(words.prompt.split("\n\n"))
    if case.input["config"]:
        custom = case.input["config"]["agents"]["defaults"]["compaction"]["memoryFlush"].get("prompt", "")
        assert words.prompt.startswith(custom.strip())


@vectors("context-flush-gate", "parseNonNegativeByteSize")
def test_byte_size(case):
    assert case.expected == byte_size(case.input["value"])


OWN = [p for p in vectors("memory-flush").args[1] if "RelativePath" not in p.values[0].input["op"]]


@pytest.mark.parametrize("case", OWN)
def test_memory_flush(case):
    given = case.input
    match given["op"]:
        case "shouldRunMemoryFlush":
            assert case.expected is should(given)
        case "resolveMemoryFlushPromptForRun":
            clock = Clock(parse_iso(given["now"]), ZoneInfo(given["userTimezone"]))
            assert case.expected == for_run(given["prompt"], clock.date(), given["timeLine"])
        case "resolveMemoryFlushSettings":
            compaction = {"memoryFlush": given["memoryFlush"], "reserveTokensFloor": given["reserveTokensFloor"]}
            found = settings(config({"agents": {"defaults": {"compaction": compaction}}}))
            if case.expected is None:
                assert found is None
                return
            found, words = found
            assert case.expected["softThresholdTokens"] == found.soft_tokens
            assert case.expected["forceFlushTranscriptBytes"] == found.force_bytes
            assert case.expected["reserveTokensFloor"] == found.reserve_floor
            for name, text in (("prompt", words.prompt), ("systemPrompt", words.system)):
                for mark in (TARGET, "MEMORY.md", "SOUL.md", "TOOLS.md", "AGENTS.md", NO_REPLY):
                    assert mark in case.expected[name]
                    assert mark in text
        case other:
            pytest.fail(other)


@vectors("context-flush-prompt")
def test_prompt_for_run(case):
    defaults = case.input["config"]["agents"]["defaults"]
    clock = Clock(case.input["nowMs"], ZoneInfo(defaults["userTimezone"]))
    line = clock.time_line(twelve_hours=defaults["timeFormat"] == "12")
    assert case.expected["prompt"] == for_run(case.input["prompt"], clock.date(), line)
    assert case.expected["path"] == f"memory/{clock.date()}.md"


@vectors("context-usage-tail", "readUsageTail")
def test_usage_tail(case, tmp_path):
    path = tmp_path / "t.jsonl"
    lines = [json.dumps(line, ensure_ascii=False) for line in expand(case.input["lines"])]
    path.write_text("\n".join(lines) + ("" if case.input.get("noNewline") else "\n"))
    usage = read_usage(str(path))
    told = {"promptTokens": prompt_tokens(usage), "outputTokens": (usage or {}).get("output")}
    known = {name: value for name, value in told.items() if value is not None}
    assert case.expected == {"usage": usage, "snapshot": known or None}


@vectors("context-usage-tail", "normalizeUsage")
def test_normalised(case):
    usage = normalised(case.input["usage"])
    assert case.expected == {"usage": usage, "promptTokens": prompt_tokens(usage)}
    assert is_told(usage)


@vectors("context-usage-tail", "resolveEffectivePromptTokens")
def test_effective(case):
    given = case.input
    assert case.expected == flush.effective_tokens(given["base"], given["output"], given["estimate"])


@vectors("context-usage-tail", "estimatePromptTokens")
def test_said_tokens(case):
    assert case.expected == flush.said_tokens(case.input["prompt"], CHARS4)


@vectors("context-flush-run")
def test_run(case, tmp_path):
    """The whole gate; a flush that is due is taken to have run."""
    given = expand(case.input)
    defaults = given.get("config", {}).get("agents", {}).get("defaults", {})
    found = flush.rules_of(config(given.get("config")))
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in given["transcript"]) + "\n")
    row = given.get("entry")
    said = flush.said_tokens(given.get("prompt", ""), CHARS4)
    closed = flush.closed_by(
        private_run=given.get("isHeartbeat", False),
        provider=given.get("provider", "anthropic"),
        sandbox=defaults.get("sandbox", {}),
        is_main=True,
    )
    verdict = flush.judge(
        flush.Facts(row, read_usage(str(path)), said, path.stat().st_size), given["contextTokens"], found, closed
    )
    assert case.expected["ran"] is verdict.due
    if row is None:
        assert case.expected["entry"] is None
        return
    after = {**row, **verdict.fields}
    if verdict.due:
        after |= flush.flushed_fields(after, None, NOW_MS)
    names = ("totalTokens", "totalTokensFresh", "compactionCount", "memoryFlushCompactionCount", "memoryFlushAt")
    kept = {name: after.get(name) for name in names}
    assert case.expected["entry"] == case.expected["stored"] == kept


@vectors("context-config-defaults", "piCompactionSettings")
def test_pi_settings(case):
    found = config(case.input["config"])
    assert case.expected["compaction"] == kept_and_reserved(found)


SETTINGS = [p for p in vectors("sessions-settings").args[1] if "applyPiCompactionSettings" in p.values[0].fn]


@pytest.mark.parametrize("case", SETTINGS)
def test_openclaw_settings(case):
    found = config({"agents": {"defaults": {"compaction": case.input["compaction"] or {}}}})
    assert case.expected["compaction"] == kept_and_reserved(found)


def kept_and_reserved(found):
    return {"reserveTokens": reserve_tokens(found), "keepRecentTokens": keep_recent_tokens(found)}


@vectors("context-config-defaults", "maxRunRetryIterations")
def test_run_limit(case):
    assert case.expected == run_limit(case.input["profiles"])


@vectors("context-config-defaults", "windowConfigDefaults")
def test_window_defaults(case):
    """No provider is detected, and nothing is switched on by one (D18)."""
    found = config(case.input["config"])
    mode = found.get("agents.defaults.contextPruning.mode")
    pruning = {"mode": mode} if found.explain("agents.defaults.contextPruning.mode").origin != "default" else None
    compaction = {"mode": found.get("agents.defaults.compaction.mode")}
    assert case.expected == {"compaction": compaction, "contextPruning": pruning, "heartbeat": None}


@pytest.mark.parametrize(
    "tree",
    [
        {"auth": {"profiles": {"a": {"provider": "anthropic", "mode": "api_key"}}}},
        {"auth": {"profiles": {"a": {"provider": "anthropic", "mode": "oauth"}}}},
        {"agents": {"defaults": {"contextPruning": {"ttl": "10m"}}}},
        {"agents": {"defaults": {"contextPruning": {"mode": "off"}}}},
    ],
)
def test_a_provider_switches_no_pruning_on(tree, monkeypatch):
    """D18: only contextPruning.mode does."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    assert "off" == config(tree).get("agents.defaults.contextPruning.mode")


def test_every_case_of_the_tables_has_its_test():
    functions = {row["fn"] for row in json.loads(Path(VECTORS, "context-config-defaults.json").read_text())}
    assert functions == {
        "windowConfigDefaults",
        "piCompactionSettings",
        "maxRunRetryIterations",
        "extractCompactInstructions",
    }
