"""Pruning as the reference does it, case by case."""

from oc.base.clock import duration_ms
from oc.window.prune import REFERENCE, prune
from oc.window.rules import caches_prompts, is_expired, last_touch, rules_from, tool_filter
from tests.forms import expand, same
from tests.support import NOW_MS, vectors


def _getter(raw):
    def get(path):
        value = raw
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        return value

    return get


def _rules(raw):
    return rules_from(_getter(raw or {}))._replace(images=True)


@vectors("context-pruning")
def test_prune(case):
    given = expand(case.input)
    window = given.get("contextWindowTokens") or given.get("model", {}).get("contextWindow")
    messages, rows = prune(given["messages"], window_tokens=window, rules=_rules(given.get("config")), manner=REFERENCE)
    assert same(case.expected["messages"], messages)
    assert case.expected["changed"] is any(row["action"] in ("trim", "clear") for row in rows)


@vectors("context-pruning-config", fn="computePruningSettings")
def test_settings(case):
    raw = case.input["raw"]
    if case.expected is None:
        assert raw["mode"] == "off"
        return
    rules = _rules(raw)
    tools = {"allow": list(rules.allow), "deny": list(rules.deny)}
    assert case.expected == {
        "mode": raw["mode"],
        "ttlMs": rules.ttl_ms,
        "keepLastAssistants": rules.keep_last_assistants,
        "softTrimRatio": rules.soft_trim_ratio,
        "hardClearRatio": rules.hard_clear_ratio,
        "minPrunableToolChars": rules.min_prunable_tool_chars,
        "tools": {name: globs for name, globs in tools.items() if globs},
        "softTrim": {"maxChars": rules.max_chars, "headChars": rules.head_chars, "tailChars": rules.tail_chars},
        "hardClear": {"enabled": rules.hard_clear, "placeholder": rules.placeholder},
    }


@vectors("context-pruning-config", fn="toolPrunable")
def test_globs(case):
    match = case.input["match"]
    passes = tool_filter(match.get("allow", ()), match.get("deny", ()))
    assert case.expected == {name: passes is None or passes(name) for name in case.input["names"]}


@vectors("context-pruning-config", fn="cacheTtlEligible")
def test_eligible(case):
    assert case.expected is caches_prompts(case.input["provider"], case.input["modelId"])


@vectors("context-pruning-config", fn="pruningExtension")
def test_ttl(case):
    given = expand(case.input)
    rules = _rules(given.get("config"))
    expired = is_expired(given["lastTouch"], rules.ttl_ms, NOW_MS)
    rules = rules._replace(keep_last_assistants=1)  # the table's sessions have but two assistants
    _, rows = prune(given["messages"], window_tokens=given["contextWindowTokens"], rules=rules, manner=REFERENCE)
    pruned = expired and any(row["action"] in ("trim", "clear") for row in rows)
    assert case.expected == {"pruned": pruned, "lastCacheTouchAt": NOW_MS if pruned else given["lastTouch"]}


@vectors("context-pruning-config", fn="readLastCacheTtlTimestamp")
def test_last_touch(case):
    assert case.expected == last_touch(case.input["entries"])


@vectors("context-pruning-config", fn="parseDurationMs")
def test_duration(case):
    millis = duration_ms(case.input["raw"], case.input["defaultUnit"])
    assert case.expected == ({"error": True} if millis is None else {"ms": millis})
