import json

import pytest

from oc.config.load import load
from oc.workspace.names import STANDARD, Rules
from oc.workspace.project import Run, is_light, project_context, rules_of, workspace_notes


@pytest.fixture
def workspace(tmp_path):
    for name in (*STANDARD, "MEMORY.md"):
        (tmp_path / name).write_text(f"text of {name}")
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "MEMORY.md").write_text("more memory")
    (tmp_path / "packages" / "TOOLS.md").write_text("more tools")
    return tmp_path


def names(context):
    return [item.path.rpartition("ws/")[2].rpartition("/")[2] for item in context.injected]


def config(tmp_path, tree):
    home = tmp_path / "home"
    home.mkdir()
    (home / "oc.json").write_text(json.dumps(tree))
    return load(str(home), {})


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("agent:main:main", [*STANDARD, "MEMORY.md"]),
        ("agent:main:telegram:direct:1", [*STANDARD, "MEMORY.md"]),
        ("agent:main:telegram:group:1", list(STANDARD)),
        ("agent:main:slack:channel:1", list(STANDARD)),
        ("agent:main:subagent:1", ["AGENTS.md", "TOOLS.md"]),
        ("agent:main:cron:j:run:1", ["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md"]),
        (None, [*STANDARD, "MEMORY.md"]),
    ],
)
def test_each_kind_of_session_is_shown_its_files_in_order(workspace, key, shown):
    context = project_context(str(workspace), Rules(), Run(key))
    assert shown == names(context)
    assert {w.file.name for w in context.withheld} == {*STANDARD, "MEMORY.md"} - set(shown)


def test_d10_is_a_matter_of_configuration(workspace, tmp_path):
    rules = rules_of(config(tmp_path, {"bootstrap": {"memoryInGroups": True}}))
    assert names(project_context(str(workspace), rules, Run("agent:main:telegram:group:1")))[-1] == "MEMORY.md"


def test_d11_is_a_matter_of_configuration(workspace, tmp_path):
    rules = rules_of(config(tmp_path, {"bootstrap": {"subagentFiles": ["SOUL.md"]}}))
    assert names(project_context(str(workspace), rules, Run("agent:main:subagent:1"))) == ["SOUL.md"]


def test_what_the_row_says_of_a_group_counts(workspace):
    context = project_context(str(workspace), Rules(), Run("agent:main:main", "group"))
    assert "MEMORY.md" not in names(context)


def test_extra_files_come_last_and_memory_among_them_is_private_too(workspace):
    rules = Rules(extra_patterns=("packages/*.md",))
    private = project_context(str(workspace), rules, Run("agent:main:main"))
    assert names(private) == [*STANDARD, "MEMORY.md", "MEMORY.md", "TOOLS.md"]
    group = project_context(str(workspace), rules, Run("agent:main:telegram:group:1"))
    assert names(group) == [*STANDARD, "TOOLS.md"]
    assert [w.cause for w in group.withheld] == ["private sessions only"] * 2


def test_lightweight_runs_leave_the_standard_files_out(workspace):
    heartbeat = project_context(str(workspace), Rules(), Run("agent:main:main", kind="heartbeat", light=True))
    assert names(heartbeat) == ["HEARTBEAT.md"]
    cron = project_context(str(workspace), Rules(), Run("agent:main:cron:j", kind="cron", light=True))
    assert names(cron) == []


def test_a_heartbeat_is_light_when_it_is_configured_so(tmp_path):
    light = config(tmp_path, {"agents": {"defaults": {"heartbeat": {"lightContext": True}}}})
    assert [is_light(light, kind) for kind in ("heartbeat", "cron", "default")] == [True, False, False]


def test_refused_and_unusable_files_are_warned_about(workspace):
    (workspace / "SOUL.md").unlink()
    (workspace / "SOUL.md").symlink_to("/etc/hostname")
    context = project_context(str(workspace), Rules(extra_patterns=("x/README.md",)), Run())
    assert context.warnings == (
        "workspace bootstrap file SOUL.md is not read: a link leads out of the workspace",
        "extra bootstrap file x/README.md is not used: not a name of a bootstrap file",
    )
    assert dict(context.shown)[str(workspace / "SOUL.md")].startswith("[MISSING] Expected at: ")


def test_rules_come_from_the_configuration(tmp_path):
    tree = {
        "agents": {"defaults": {"bootstrapMaxChars": 100, "bootstrapTotalMaxChars": -5}},
        "hooks": {"internal": {"entries": {"bootstrap-extra-files": {"paths": [" a/AGENTS.md "]}}}},
    }
    rules = rules_of(config(tmp_path, tree))
    assert (rules.max_chars, rules.total_max_chars, rules.extra_patterns) == (100, 150_000, ("a/AGENTS.md",))


def test_a_hook_that_is_switched_off_names_no_files(tmp_path):
    entry = {"enabled": False, "paths": ["a/AGENTS.md"]}
    tree = {"hooks": {"internal": {"entries": {"bootstrap-extra-files": entry}}}}
    assert rules_of(config(tmp_path, tree)).extra_patterns == ()


def test_a_brand_new_workspace_is_noted_in_the_prompt(workspace):
    assert len(workspace_notes(project_context(str(workspace), Rules(), Run()))) == 1
    (workspace / "BOOTSTRAP.md").unlink()
    assert workspace_notes(project_context(str(workspace), Rules(), Run())) == []
