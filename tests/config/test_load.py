import pytest

from oc.config.load import findings, load
from oc.config.paths import default_agent, home_of, places
from oc.errors import BadConfig


def write(folder, name, text):
    (folder / name).write_text(text, encoding="utf-8")


def test_oc_json_wins_over_openclaw_json_key_by_key(tmp_path):
    write(tmp_path, "openclaw.json", '{"memory": {"backend": "qmd", "citations": "off"}}')
    write(tmp_path, "oc.json", '{"memory": {"backend": "lancedb"}}')
    config = load(str(tmp_path), {})
    assert config.explain("memory.backend") == ("lancedb", "oc.json")
    assert config.explain("memory.citations") == ("off", "openclaw.json")
    assert config.explain("agents.defaults.contextPruning.ttl") == ("5m", "default")


def test_an_agent_of_the_list_overrides_the_defaults(tmp_path):
    write(
        tmp_path,
        "openclaw.json",
        '{"agents": {"defaults": {"workspace": "~/a", "contextTokens": 1}, '
        '"list": [{"id": "main"}, {"id": "ops", "default": true, "workspace": "/b"}]}}',
    )
    config = load(str(tmp_path), {})
    assert default_agent(config) == "ops"
    assert config.for_agent("ops").get("agents.defaults.workspace") == "/b"
    assert config.for_agent("ops").get("agents.defaults.contextTokens") == 1
    assert places(config.for_agent("main"), str(tmp_path), "main", {"HOME": "/h"}).workspace == "/h/a"


def test_json5_is_read_when_json_fails(tmp_path):
    write(tmp_path, "oc.json", "{memory: {backend: 'qmd',},} // the rest is default")
    assert load(str(tmp_path), {}).get("memory.backend") == "qmd"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"memroy": {}}', "memroy: unknown key"),
        ('{"memory": {"backend": 3}}', "memory.backend: must be a string"),
        ('{"agents": {"defaults": {"contextPruning": {"keepLastAssistants": 1.5}}}}', "must be a whole number"),
        ('{"agents": {"list": [{"id": "a", "worksapce": "x"}]}}', "agents.list[0].worksapce: unknown key"),
        ('{"session": 1}', "session: must be an object"),
        ("[]", "the configuration is not an object"),
        ("{", "neither JSON nor JSON5"),
    ],
)
def test_oc_json_is_held_to_the_table(tmp_path, text, message):
    write(tmp_path, "oc.json", text)
    with pytest.raises(BadConfig) as error:
        load(str(tmp_path), {})
    assert message in str(error.value)
    assert str(tmp_path / "oc.json") in str(error.value)


def test_openclaw_json_keeps_keys_of_other_programs_and_names_wrong_types(tmp_path):
    write(tmp_path, "openclaw.json", '{"gateway": {"port": 1}, "memory": {"backend": 3}}')
    config = load(str(tmp_path), {})
    assert config.explain("memory.backend") == ("builtin", "default")
    assert [w.partition("openclaw.json: ")[2] for w in config.warnings] == ["memory.backend: must be a string; ignored"]
    assert [(f.path, f.unknown) for f in findings(str(tmp_path / "openclaw.json"))] == [
        ("gateway", True),
        ("memory.backend", False),
    ]


def test_a_list_of_agents_that_is_none_is_ignored(tmp_path):
    write(tmp_path, "openclaw.json", '{"agents": {"list": true, "defaults": {"workspace": "/w"}}}')
    config = load(str(tmp_path), {}).for_agent("main")
    assert config.agents() == []
    assert config.get("agents.defaults.workspace") == "/w"


def test_variables_are_expanded_in_openclaw_json_only(tmp_path):
    write(tmp_path, "openclaw.json", '{"agents": {"defaults": {"workspace": "${WS}/x", "userTimezone": "${NOT_SET}"}}}')
    config = load(str(tmp_path), {"WS": "/w"})
    assert config.get("agents.defaults.workspace") == "/w/x"
    assert config.get("agents.defaults.userTimezone") is None


def test_wildcard_keys_are_found(tmp_path):
    write(tmp_path, "oc.json", '{"channels": {"telegram": {"dmHistoryLimit": 5, "dms": {"42": {"historyLimit": 7}}}}}')
    config = load(str(tmp_path), {})
    assert config.get("channels.telegram.dmHistoryLimit") == 5
    assert config.get("channels.telegram.dms.42.historyLimit") == 7
    assert config.get("channels.slack.historyLimit") is None


def test_names_below_a_wildcard_come_from_all_files(tmp_path):
    write(tmp_path, "oc.json", '{"channels": {"slack": {}, "irc": null}}')
    write(tmp_path, "openclaw.json", '{"channels": {"telegram": {}, "irc": {}, "a.b": {}}, "hooks": {"exec": []}}')
    config = load(str(tmp_path), {})
    assert config.names("channels") == ["irc", "slack", "telegram"]
    assert config.names("channels.slack") == config.names("hooks.exec.entries") == config.names("session") == []


def test_objects_of_both_files_are_one(tmp_path):
    write(tmp_path, "oc.json", '{"channels": {"slack": {"historyLimit": 1}, "irc": null}}')
    write(
        tmp_path,
        "openclaw.json",
        '{"channels": {"slack": {"historyLimit": 2, "dms": {"a.b": {"historyLimit": 3}}}, "irc": {"x": 1}}}',
    )
    config = load(str(tmp_path), {})
    assert config.merged("channels") == {
        "slack": {"historyLimit": 1, "dms": {"a.b": {"historyLimit": 3}}},
        "irc": {"x": 1},
    }
    assert config.merged("session") == config.merged("channels.slack.historyLimit") == {}


def test_the_index_of_another_program_is_never_ours(tmp_path):
    write(
        tmp_path,
        "openclaw.json",
        '{"agents": {"defaults": {"memorySearch": {"store": {"path": "/x/{agentId}.sqlite"}}}}}',
    )
    assert places(load(str(tmp_path), {}), str(tmp_path), "main", {}).index == f"{tmp_path}/memory/oc-main.sqlite"
    write(tmp_path, "oc.json", '{"agents": {"defaults": {"memorySearch": {"store": {"path": "/y/{agentId}.sqlite"}}}}}')
    assert places(load(str(tmp_path), {}), str(tmp_path), "main", {}).index == "/y/main.sqlite"


@pytest.mark.parametrize(
    ("flag", "environ", "expected"),
    [
        ("/f", {"OC_HOME": "/o"}, ("/f", "flag")),
        (None, {"OC_HOME": "/o", "OPENCLAW_STATE_DIR": "/s"}, ("/o", "environment")),
        (None, {"OPENCLAW_STATE_DIR": "~/s", "HOME": "/h"}, ("/h/s", "environment")),
        (None, {"HOME": "/h"}, ("/h/.openclaw", "default")),
    ],
)
def test_the_state_directory(flag, environ, expected):
    assert home_of(flag, environ) == expected
