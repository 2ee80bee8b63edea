"""Which model a session gets: order, origin, names."""

import pytest

from oc.agent.choice import Choice, choose_model, choose_summariser, llm_ids
from oc.config.load import Config, Layer
from oc.errors import Usage


def config(tree=None, origin="oc.json", agent=None):
    return Config((Layer(origin, f"/{origin}", tree or {}),), agent)


def model_config(value, origin="oc.json"):
    return config({"agents": {"defaults": {"model": value}}}, origin)


ROW = {"providerOverride": "anthropic", "modelOverride": "claude-opus-4-6"}


def test_nobody_named_a_model():
    assert Choice("oc-offline", "default") == choose_model(None, None, config())
    assert choose_model(None, None, config()).offline


def test_order_flag_row_config():
    configured = model_config("openai/gpt-5")
    assert Choice("x", "flag") == choose_model("x", ROW, configured)
    assert Choice("anthropic/claude-opus-4-6", "session") == choose_model(None, ROW, configured)
    assert Choice("openai/gpt-5", "oc.json") == choose_model(None, {}, configured)


@pytest.mark.parametrize("flag", ["", "  "])
def test_a_blank_flag_is_usage(flag):
    with pytest.raises(Usage):
        choose_model(flag, None, config())


def test_config_object_with_primary():
    named = model_config({"primary": "openai/gpt-5", "fallbacks": ["x"]}, "openclaw.json")
    assert Choice("openai/gpt-5", "openclaw.json") == choose_model(None, None, named)


@pytest.mark.parametrize("value", [{"fallbacks": ["x"]}, {"primary": 3}, {"primary": " "}, " "])
def test_config_without_a_usable_name(value):
    assert Choice("oc-offline", "default") == choose_model(None, None, model_config(value))


def test_the_agent_of_the_list_wins():
    tree = {"agents": {"defaults": {"model": "a/b"}, "list": [{"id": "ops", "model": "c/d"}]}}
    assert "c/d" == choose_model(None, None, config(tree, agent="ops")).model
    assert "a/b" == choose_model(None, None, config(tree, agent="main")).model


@pytest.mark.parametrize(
    ("row", "model"),
    [
        ({"modelOverride": "gpt-5"}, "gpt-5"),
        ({"modelOverride": "openrouter/auto", "providerOverride": "openrouter"}, "openrouter/auto"),
        ({"modelOverride": "anthropic/claude", "providerOverride": "openrouter"}, "openrouter/anthropic/claude"),
        ({"modelOverride": "default"}, "oc-offline"),
        ({"modelOverride": " "}, "oc-offline"),
        ({"modelOverride": 3}, "oc-offline"),
        ({"providerOverride": "anthropic"}, "oc-offline"),
        ({"model": "gpt-5", "modelProvider": "openai"}, "oc-offline"),
    ],
)
def test_row_overrides(row, model):
    """What the last run used (`model`) is no override."""
    assert model == choose_model(None, row, config()).model


def test_alias_of_the_configuration():
    tree = {"agents": {"defaults": {"model": "Opus", "models": {"anthropic/claude-opus-4-6": {"alias": "opus"}}}}}
    assert "anthropic/claude-opus-4-6" == choose_model(None, None, config(tree)).model
    assert "anthropic/claude-opus-4-6" == choose_model("opus", None, config(tree)).model


def test_summariser():
    tree = {"agents": {"defaults": {"model": "a/b", "compaction": {"model": "c/d"}}}}
    assert Choice("c/d", "oc.json") == choose_summariser(None, ROW, config(tree))
    assert Choice("x", "flag") == choose_summariser("x", ROW, config(tree))
    assert Choice("a/b", "oc.json") == choose_summariser(None, {}, model_config("a/b"))


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("gpt-5", ("gpt-5",)),
        ("openai/gpt-5", ("openai/gpt-5", "gpt-5")),
        ("google/gemini-3-pro", ("google/gemini-3-pro", "gemini/gemini-3-pro", "gemini-3-pro")),
        ("openrouter/anthropic/claude", ("openrouter/anthropic/claude",)),
        ("nobody/gpt-5", ("nobody/gpt-5",)),
        ("oc/oc-offline", ("oc/oc-offline", "oc-offline")),
        ("openai/", ("openai/",)),
    ],
)
def test_llm_ids(name, ids):
    assert ids == llm_ids(name)
