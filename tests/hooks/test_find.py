"""Which hooks are found, in what order, and why one does not run."""

import os

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from oc.config.load import Config, Layer
from oc.hooks.events import EVENTS
from oc.hooks.find import Search, find, problem, strays, workspaces


def found(place, event):
    return find(place.made().search, event)


def reasons(place, event):
    return {os.path.basename(hook.label): hook.why_not for hook in found(place, event)}


def test_own_file_first_then_all_by_name(place):
    for name in ("context", "context.d/20-b", "context.d/10-a", "context.d/9-c"):
        place.sh(name, "")
    place.config({"hooks": {"exec": {"entries": {"15-x": {"command": ["true"], "events": ["context", "agent_end"]}}}}})
    assert [os.path.basename(hook.label) for hook in found(place, "context")] == [
        "context",
        "10-a",
        "hooks.exec.entries.15-x",
        "20-b",
        "9-c",
    ]
    assert [hook.label for hook in found(place, "agent_end")] == ["hooks.exec.entries.15-x"]
    assert found(place, "session_new") == []


def test_what_editors_and_other_programs_leave_is_passed_over(place):
    for name in ("context.d/.hidden", "context.d/x~", "context.d/sub/x", "context/HOOK.md", "my-hook/handler.ts"):
        place.sh(name, "")
    assert found(place, "context") == []
    assert list(strays(place.made().search)) == []


def test_why_a_file_does_not_run(place):
    place.sh("context.d/a-plain", "", mode=0o644)
    place.sh("context.d/e-runs", "")
    (place.hooks / "context.d" / "b-link").symlink_to("/no/such/file")
    (place.hooks / "context.d" / "c-link").symlink_to("c-link")
    os.mkfifo(place.hooks / "context.d" / "d-pipe")
    assert reasons(place, "context") == {
        "a-plain": "not executable",
        "b-link": "a link to nothing",
        "c-link": "too many levels of symbolic links",
        "d-pipe": "not a regular file",
        "e-runs": "",
    }


@pytest.mark.parametrize(("target", "why_not"), [("context.d", "too many levels of symbolic links"), ("x", "no such")])
def test_a_folder_that_cannot_be_read_is_named(place, target, why_not):
    place.hooks.mkdir()
    (place.hooks / "context.d").symlink_to(target)
    (reason,) = reasons(place, "context").items()
    assert reason[0] == "context.d"
    assert reason[1].startswith(why_not)


REFUSED = "in the workspace, which a model may write to"


def test_nothing_runs_from_the_workspace(place):
    inside = place.sh("evil", "", folder=place.workspace)
    outside = place.sh("good", "", folder=place.home / "bin")
    folder = place.hooks / "context.d"
    folder.mkdir(parents=True)
    (folder / "a-direct").symlink_to(inside)
    (folder / "b-fine").symlink_to(outside)
    # Outside today, but the model could turn the link.
    (place.workspace / "turn").symlink_to(outside)
    (folder / "c-by-a-link-inside").symlink_to(place.workspace / "turn")
    (place.workspace / "bin").symlink_to(place.home / "bin")
    (folder / "d-by-a-folder-inside").symlink_to(place.workspace / "bin" / "good")
    (place.home / "alias").symlink_to(place.workspace)
    (folder / "e-by-an-alias").symlink_to("../../alias/evil")
    (folder / "f-and-back").symlink_to("../../workspace/../bin/good")
    assert reasons(place, "context") == {
        "a-direct": REFUSED,
        "b-fine": "",
        "c-by-a-link-inside": REFUSED,
        "d-by-a-folder-inside": REFUSED,
        "e-by-an-alias": REFUSED,
        "f-and-back": REFUSED,
    }


def test_a_hooks_folder_that_is_a_link_into_the_workspace_is_refused(place):
    place.sh("context", "", folder=place.workspace / "h")
    place.hooks.symlink_to(place.workspace / "h")
    assert reasons(place, "context") == {"context": REFUSED}


def test_a_workspace_around_the_state_directory_refuses_all(place):
    place.sh("context", "")
    place.workspace = place.home.parent
    assert reasons(place, "context") == {"context": REFUSED}


def test_a_workspace_reached_by_a_link_is_the_same_workspace(place):
    inside = place.sh("evil", "", folder=place.workspace)
    place.hooks.mkdir()
    (place.hooks / "context").symlink_to(inside)
    (place.home / "ws").symlink_to(place.workspace)
    place.workspace = place.home / "ws"
    assert reasons(place, "context") == {"context": REFUSED}


def test_another_agents_workspace_is_refused_too(place):
    other = place.home / "elsewhere"
    place.config({"agents": {"list": [{"id": "main"}, {"id": "b"}, {"id": "c", "workspace": str(other)}]}})
    place.hooks.mkdir()
    for event, folder in (("context", other), ("agent_end", place.home / "workspace-b")):
        (place.hooks / event).symlink_to(place.sh("x", "", folder=folder))
    place.environ["OC_WORKSPACE"] = str(place.workspace)
    assert reasons(place, "context") == {"context": REFUSED}
    assert reasons(place, "agent_end") == {"agent_end": REFUSED}


def test_a_folder_whose_name_begins_like_the_workspaces_is_another(place):
    place.hooks.mkdir()
    (place.hooks / "context").symlink_to(place.sh("x", "", folder=place.home / "workspace-tools"))
    assert reasons(place, "context") == {"context": ""}


@pytest.mark.parametrize(
    ("entry", "argv", "why_not"),
    [
        ({"command": ["/bin/sh", "-c", "x"]}, ("/bin/sh", "-c", "x"), ""),
        ({"command": ["~/tool", "a"]}, ("{base}/tool", "a"), ""),
        ({"command": ["tool"]}, ("{base}/tool",), ""),
        ({"command": ["bin/tool"]}, ("",), "no program 'bin/tool'"),
        ({"command": ["no-such-tool"]}, ("",), "no program 'no-such-tool'"),
        ({"command": []}, ("",), "no program ''"),
        ({}, ("",), "no program ''"),
        ({"command": ["/no/such"]}, ("/no/such",), "no such file"),
        ({"command": ["/a\0b"]}, ("/a\0b",), "not a path"),
        ({"command": ["/bin"]}, ("/bin",), "not a regular file"),
        ({"command": ["/bin/sh"], "enabled": False}, ("/bin/sh",), "switched off"),
        ({"command": ["{base}/state/workspace/evil"]}, ("{base}/state/workspace/evil",), REFUSED),
    ],
)
def test_configured_commands(place, entry, argv, why_not):
    base = place.home.parent
    place.sh("tool", "", folder=base)
    place.sh("evil", "", folder=place.workspace)
    place.environ["PATH"] = f".::relative:{base}:/bin:/usr/bin"
    command = {"command": [word.format(base=base) for word in entry["command"]]} if "command" in entry else {}
    place.config({"hooks": {"exec": {"entries": {"x": {**entry, **command, "events": ["context"]}}}}})
    (hook,) = found(place, "context")
    assert (hook.argv, hook.why_not) == (tuple(word.format(base=base) for word in argv), why_not)
    assert hook.switched_off == (why_not == "switched off")


def test_time_limits_come_from_the_entry_then_from_the_common_key(place):
    place.sh("context", "")
    entries = {name: {"command": ["true"], "events": ["context"]} for name in "abc"}
    entries["a"]["timeoutMs"] = 70
    entries["b"]["timeoutMs"] = 0
    place.config({"hooks": {"exec": {"entries": entries}}})
    assert [hook.timeout_ms for hook in found(place, "context")] == [10_000, 70, 10_000, 10_000]
    place.config({"hooks": {"exec": {"entries": entries, "timeoutMs": 500.0}}})
    assert [hook.timeout_ms for hook in found(place, "context")] == [500, 70, 500, 500]


def test_one_key_switches_all_off(place):
    place.sh("context", "")
    place.config({"hooks": {"exec": {"enabled": False, "entries": {"x": {"events": ["context"]}}}}})
    assert [(hook.why_not, hook.switched_off) for hook in found(place, "context")] == [
        ("hooks.exec.enabled is false", True)
    ] * 2


def test_misspelt_events_are_found(place):
    place.sh("befor_prompt_build", "")
    place.sh("contex.d/x", "")
    place.config({"hooks": {"exec": {"entries": {"x": {"command": ["true"], "events": ["agent-end"]}}}}})
    assert [(s.event, os.path.basename(s.label), s.why_not) for s in strays(place.made().search)] == [
        ("befor_prompt_build", "befor_prompt_build", "no such event"),
        ("contex", "contex.d", "no such event"),
        ("agent-end", "hooks.exec.entries.x", "no such event"),
    ]


def test_a_name_that_is_too_long_is_a_problem_and_no_crash():
    assert problem("/" + "x" * 300, ()) == "file name too long"


names = st.sampled_from(["x", "command", "events", "enabled", "timeoutMs", "entries", "a.b", ""])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.sampled_from(sorted(EVENTS)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=8,
)
entries = st.dictionaries(
    names, st.fixed_dictionaries({"events": st.lists(st.sampled_from(sorted(EVENTS)))}, optional={"command": values})
)


@given(values | st.fixed_dictionaries({"entries": entries}), values, st.text(max_size=3))
@example({"timeoutMs": float("nan")}, None, "")
@example({"entries": {"x": {"command": ["/\ud800"], "events": ["context"]}}}, None, "\0")
@example({"entries": {"x": {"command": ["true"], "events": ["context"], "timeoutMs": 1e300}}}, None, "\ud800")
def test_no_configuration_breaks_the_search(hooks, listed, workspace):
    tree = {"hooks": {"exec": hooks}, "agents": {"list": listed, "defaults": {"workspace": workspace}}}
    config = Config((Layer("openclaw.json", "", tree),))
    refused = workspaces("/nowhere", workspace, config, {})
    search = Search("/nowhere/hooks", frozenset(), config, {"PATH": "/bin"}, refused)
    for found in [*(hook for event in EVENTS for hook in find(search, event)), *strays(search)]:
        assert found.argv or found.why_not
        assert found.timeout_ms > 0 or found.why_not == "no such event"
