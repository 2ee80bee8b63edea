"""`oc workspace` as a process."""

import json
import os
import subprocess
import sys

import pytest

from oc.workspace.names import STANDARD
from tests.support import OC, run_killed

LINE = "AGENTS.md:4\terror\tsecret\tlooks like a secret (password or key)\n"


def test_init_says_what_it_made_and_makes_nothing_twice(oc):
    first = oc("workspace", "init")
    assert (first.status, first.err) == (0, "")
    assert first.out == "".join(f"created\t{oc.workspace / name}\n" for name in STANDARD)
    again = oc("workspace", "init", "--lang", "zh")
    assert (again.status, again.err) == (0, "")
    assert again.out == "".join(f"kept\t{oc.workspace / name}\n" for name in STANDARD)
    assert (oc.workspace / "SOUL.md").read_text().startswith("# Voice")
    assert sorted(os.listdir(oc.workspace)) == sorted(STANDARD)


def test_init_elsewhere_in_chinese_tells_how_to_use_it(oc):
    done = oc("workspace", "init", "notes", "--lang", "zh", "--json")
    made = done.json()
    assert (done.status, made["workspace"], made["language"]) == (0, str(oc.home / "notes"), "zh")
    assert made["files"][0] == {
        "name": "AGENTS.md",
        "path": str(oc.home / "notes" / "AGENTS.md"),
        "action": "created",
    }
    assert (
        done.err
        == f"hint: name this workspace with --workspace, $OC_WORKSPACE or the configuration: {made['workspace']}\n"
    )
    assert "## Red Lines" in (oc.home / "notes" / "AGENTS.md").read_text(encoding="utf-8")
    shown = oc("workspace", "show", "--workspace", oc.home / "notes", "--json").json()
    assert shown["workspace"] == made["workspace"]


def test_init_dry_run_makes_nothing(oc):
    done = oc("workspace", "init", "--dry-run")
    assert (done.status, done.err) == (0, "")
    assert done.out == "".join(f"would create\t{oc.workspace / name}\n" for name in STANDARD)
    assert not oc.state.exists()


@pytest.mark.parametrize("where", ["file", "file/below"])
def test_init_where_a_file_stands_fails_with_one_line(oc, where):
    (oc.home / "file").write_text("x")
    done = oc("workspace", "init", where)
    assert (done.status, done.out) == (74, "")
    assert done.err.count("\n") == 1
    assert (oc.home / "file").read_text() == "x"


def test_init_in_a_language_that_is_not_there_is_a_usage_error(oc):
    done = oc("workspace", "init", "--lang", "xx")
    assert (done.status, done.out) == (2, "")
    assert "'xx' is not one of 'en', 'zh'" in done.err


def whole(folder):
    return {name: (folder / name).read_bytes() for name in os.listdir(folder)}


def test_init_killed_at_any_write_is_finished_by_the_next_run(oc):
    """BOOTSTRAP.md is there in the end whatever happened, and no file is half or has two names."""
    oc("workspace", "init", "whole")
    _, points = run_killed(oc, 0, ["workspace", "init", "counted"])
    assert points >= 21
    for at in range(1, points + 1):
        name = f"ws{at}"
        status, _ = run_killed(oc, at, ["workspace", "init", name], half=at % 2 == 0)
        assert status == -9
        assert oc("workspace", "init", name).status == 0
        assert whole(oc.home / name) == whole(oc.home / "whole"), at
        assert {os.stat(oc.home / name / file).st_nlink for file in STANDARD} == {1}


def test_four_inits_at_once_make_one_workspace(oc):
    runs = [oc.popen("workspace", "init", "ws", stdout=subprocess.PIPE) for _ in range(4)]
    outputs = [run.communicate()[0].decode() for run in runs]
    assert [run.returncode for run in runs] == [0] * 4
    assert sum(text.count("created\t") for text in outputs) == len(STANDARD)
    assert sorted(os.listdir(oc.home / "ws")) == sorted(STANDARD)


@pytest.fixture
def filled(oc):
    oc.workspace.mkdir(parents=True)
    for name in (*STANDARD, "MEMORY.md"):
        (oc.workspace / name).write_text(f"# {name}\n\ntext\n")
    return oc


def test_show_lists_files_with_sizes(filled):
    done = filled("workspace", "show")
    assert (done.status, done.err) == (0, "")
    sizes = {name: len(f"# {name}\n\ntext") for name in (*STANDARD, "MEMORY.md")}
    assert done.out == "".join(f"{name}\tshown\t{size}\t{size}\t\n" for name, size in sizes.items())


def test_show_tells_why_a_group_is_not_shown_memory(filled):
    done = filled("workspace", "show", "telegram:group:42", "--jsonl")
    rows = done.jsonl()
    assert [row["name"] for row in rows if row["status"] == "shown"] == list(STANDARD)
    assert [(r["name"], r["status"], r["cause"]) for r in rows][-1] == (
        "MEMORY.md",
        "withheld",
        "private sessions only",
    )


def test_show_takes_the_kind_from_the_row_and_the_workspace_from_the_agent(filled):
    sessions = filled.state / "agents" / "work" / "sessions"
    sessions.mkdir(parents=True)
    row = {"sessionId": "s1", "updatedAt": 1773651600000, "chatType": "group"}
    (sessions / "sessions.json").write_text(json.dumps({"agent:work:main": row}))
    (filled.state / "workspace-work").mkdir()
    (filled.state / "workspace-work" / "MEMORY.md").write_text("work memory")
    done = filled("workspace", "show", "agent:work:main", "--json")
    shown = done.json()
    assert (shown["kind"], shown["session"]) == ("group", "agent:work:main")
    assert shown["workspace"] == str(filled.state / "workspace-work")
    assert [(f["name"], f["cause"]) for f in shown["files"] if f["status"] == "withheld"] == [
        ("MEMORY.md", "private sessions only")
    ]


def test_show_names_the_lines_that_are_dropped(filled):
    (filled.state / "oc.json").write_text('{"agents": {"defaults": {"bootstrapMaxChars": 400}}}')
    (filled.workspace / "AGENTS.md").write_text("".join(f"line {n}\n" for n in range(1, 201)))
    done = filled("workspace", "show", "subagent:1", "--json")
    assert done.err == (
        "oc: warning: workspace bootstrap file AGENTS.md is 1691 chars (limit 400); truncating in injected context\n"
    )
    document = done.json()
    agents = document["files"][0]
    assert {k: agents[k] for k in ("status", "rawChars", "injectedChars", "cause", "droppedLines")} == {
        "status": "truncated",
        "rawChars": 1691,
        "injectedChars": 465,
        "cause": "per-file-limit: lines 37-191",
        "droppedLines": [[37, 191]],
    }
    assert (document["bootstrapMaxChars"], document["bootstrapTotalMaxChars"]) == (400, 150000)
    assert document["injectedChars"] == sum(f["injectedChars"] for f in document["files"])


def test_show_content_is_the_text_of_the_system_prompt(filled):
    (filled.workspace / "SOUL.md").unlink()
    done = filled("workspace", "show", "--content", "cron:job")
    lines = done.out.split("\n")
    assert lines[0] == "# Project Context"
    assert [line for line in lines if line.startswith("## ")] == [
        f"## {filled.workspace / name}" for name in ("AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md")
    ]
    assert f"[MISSING] Expected at: {filled.workspace / 'SOUL.md'}" in lines


def test_show_of_a_light_run_without_files_is_1(filled):
    done = filled("workspace", "show", "cron:job", "--run", "cron", "--light", "--json")
    assert (done.status, done.json()["light"]) == (1, True)
    assert {f["cause"] for f in done.json()["files"]} == {"lightweight run", "not for cron runs"}


@pytest.mark.parametrize("verb", ["show", "check"])
def test_without_a_workspace_there_is_nothing_to_see(oc, verb):
    done = oc("workspace", verb)
    assert (done.status, done.out) == (66, "")
    assert done.err == f"oc: {oc.workspace}: no workspace\nhint: `oc workspace init` makes one\n"
    assert not oc.state.exists()


def test_check_prints_file_and_line(filled):
    assert (filled("workspace", "check").status, filled("workspace", "check").out) == (0, "")
    with open(filled.workspace / "AGENTS.md", "a") as file:
        file.write("DB_PASSWORD=hunter2\n")
    done = filled("workspace", "check", cwd=filled.workspace)
    assert (done.status, done.out, done.err) == (1, LINE, "")
    from_elsewhere = filled("workspace", "check")
    assert from_elsewhere.out == f"state/workspace/{LINE}"


def test_check_of_files_as_a_commit_hook_calls_it(filled):
    (filled.home / "docs.md").write_text("see [x](gone.md)\n")
    done = filled("workspace", "check", "docs.md", "state/workspace/SOUL.md", "nowhere.md")
    assert (done.status, done.err) == (1, "")
    assert done.out == (
        "docs.md:1\terror\tdead-link\tthe link gone.md leads nowhere\n"
        "nowhere.md:1\terror\tnot-read\tno such file; it counts as missing\n"
    )


def test_check_in_all_formats(filled):
    (filled.workspace / "AGENTS.md").write_text("x\n" * 9000)
    rows = filled("workspace", "check", "--json").json()["findings"]
    assert [(row["path"], row["line"], row["severity"], row["code"]) for row in rows] == [
        ("state/workspace/AGENTS.md", 1, "warning", "near-budget")
    ]
    assert "18000 characters" in rows[0]["message"]
    assert filled("workspace", "check", "--jsonl").jsonl() == rows
    assert filled("workspace", "check", "--tsv").out.splitlines()[0] == "place\tseverity\tcode\tmessage"
    annotated = filled("workspace", "check", "--github")
    assert annotated.status == 1
    assert annotated.out == (
        f"::warning file=state/workspace/AGENTS.md,line=1,title=near-budget::{rows[0]['message'].replace('%', '%25')}\n"
    )
    both = filled("workspace", "check", "--github", "--json")
    assert both.status == 2
    assert both.json()["error"]["message"] == "--github and --json exclude each other"


def test_check_counts_as_wc_does(filled):
    """The number is that of `wc -m`; what the limit is compared with stands beside it where it differs."""
    (filled.workspace / "AGENTS.md").write_text("规则😀" * 6400 + "\n", encoding="utf-8")
    counted = subprocess.run(
        ["wc", "-m", filled.workspace / "AGENTS.md"],
        capture_output=True,
        text=True,
        env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]},
        check=True,
    ).stdout.split()[0]
    message = filled("workspace", "check", "--json").json()["findings"][0]["message"]
    assert message.startswith(f"{counted} characters, which count as 25600 ")


def test_a_reader_that_goes_away_is_no_error(filled):
    script = f"{' '.join(OC)} workspace show --content | head -n 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", script], capture_output=True, text=True, env=filled.environ, check=False
    )
    assert (done.stdout, done.stderr) == ("# Project Context\n", "")
    assert done.returncode in (0, 141)


def test_looking_imports_nothing_heavy(filled):
    code = (
        "import sys; from oc.cli.main import main; sys.argv = ['oc', 'workspace', 'check']; main(); "
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=filled.environ, check=False)
    heavy = {
        "pathlib",
        "json5",
        "llm",
        "sqlite_utils",
        "tiktoken",
        "httpx",
        "asyncio",
        "unicodedata",
        "importlib.metadata",
    }
    assert set(done.stderr.split()) & heavy == set()
