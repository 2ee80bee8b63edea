"""The window, its origin, and the reserve."""

import pytest

from oc.config.load import Config, Layer
from oc.window.budget import keep_recent_tokens, reserve_tokens, window

PROVIDERS = {
    "anthropic": {"models": [{"id": "claude-x", "contextWindow": 300_000}, {"id": "small"}]},
    "local": {"models": [{"id": "org/tiny", "contextWindow": 8192}]},
}


def config(agent=None, **defaults):
    tree = {"models": {"providers": PROVIDERS}, "agents": {"defaults": defaults}}
    return Config((Layer("openclaw.json", "openclaw.json", tree),), agent)


@pytest.mark.parametrize(
    ("asked", "defaults", "expected"),
    [
        ({}, {}, (200_000, "default")),
        ({"tokens": 5}, {"contextTokens": 3}, (5, "--window")),
        ({"model": "anthropic/claude-x"}, {}, (300_000, "models.providers.anthropic")),
        ({"model": "claude-x"}, {}, (300_000, "models.providers.anthropic")),
        ({"model": "local/org/tiny"}, {}, (8192, "models.providers.local")),
        ({"model": "org/tiny"}, {}, (8192, "models.providers.local")),
        ({"model": "small"}, {}, (200_000, "default")),
        ({"model": "unheard-of", "row": {"contextTokens": 9000}}, {}, (200_000, "default")),
        ({"row": {"contextTokens": 9000}}, {"model": "claude-x"}, (9000, "session")),
        (
            {"row": {"contextTokens": 0, "providerOverride": "local", "modelOverride": "org/tiny"}},
            {},
            (8192, "models.providers.local"),
        ),
        ({"row": {"modelProvider": "anthropic", "model": "claude-x"}}, {}, (300_000, "models.providers.anthropic")),
        ({}, {"model": {"primary": "anthropic/claude-x"}}, (300_000, "models.providers.anthropic")),
        ({}, {"contextTokens": 64_000}, (64_000, "agents.defaults.contextTokens")),
        ({"model": "claude-x"}, {"contextTokens": 64_000}, (64_000, "agents.defaults.contextTokens")),
        ({"model": "org/tiny"}, {"contextTokens": 64_000}, (8192, "models.providers.local")),
    ],
)
def test_window(asked, defaults, expected):
    """Option, model, session, configuration, default, in this order; contextTokens caps all but the option."""
    assert expected == window(config(**defaults), **asked)


def test_odd_configuration_is_passed_over():
    """Providers that are no objects and windows that are no numbers are as if they were not there."""
    odd = {
        "a": 1,
        "b": {"models": 2},
        "c": {"models": [3, {"id": "m", "contextWindow": "big"}, {"id": "m", "contextWindow": True}]},
    }
    layer = Layer("oc.json", "oc.json", {"models": {"providers": odd}})
    assert window(Config((layer,)), model="m") == (200_000, "default")


@pytest.mark.parametrize(
    ("compaction", "reserve", "keep"),
    [
        ({}, 20_000, 20_000),
        ({"reserveTokens": 5000}, 20_000, 20_000),
        ({"reserveTokensFloor": 0}, 16_384, 20_000),
        ({"reserveTokensFloor": 0, "reserveTokens": 0}, 0, 20_000),
        ({"reserveTokensFloor": 30_000, "keepRecentTokens": 0}, 30_000, 20_000),
        ({"keepRecentTokens": 7}, 20_000, 7),
    ],
)
def test_reserve_and_keep(compaction, reserve, keep):
    given = config(compaction=compaction)
    assert (reserve, keep) == (reserve_tokens(given), keep_recent_tokens(given))
