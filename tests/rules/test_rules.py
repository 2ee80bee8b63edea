"""Rules of the code that a machine holds."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from oc.cli.registry import COMMANDS
from oc.config.defaults import KEYS
from tests.support import ROOT

FILES = sorted((ROOT / "oc").rglob("*.py"))
LEVELS = {
    "errors": 0,
    "base": 0,
    "session_key": 0,
    "message": 1,
    "config": 1,
    "workspace": 2,
    "session": 2,
    "history": 2,
    "window": 2,
    "compaction": 2,
    "memory": 2,
    "hooks": 3,
    "agent": 4,
    "cli": 5,
}
PURE = ("message", "history", "window", "compaction")
IMPURE_MODULES = {
    "os",
    "io",
    "time",
    "random",
    "socket",
    "subprocess",
    "shutil",
    "tempfile",
    "pathlib",
    "urllib",
    "http",
    "sys",
}
LLM = {"oc/agent/model.py", "oc/agent/offline.py"}
CATCH_ALL = {"oc/cli/run.py", "oc/memory/backend.py"}
EXCEPTIONS = {
    tuple(line.split("  ")[:2])
    for line in (ROOT / "tests" / "rules" / "exceptions.txt").read_text().splitlines()
    if line and not line.startswith("#")
}


def rel(path):
    return path.relative_to(ROOT).as_posix()


def room(path):
    return path.relative_to(ROOT / "oc").parts[0].removesuffix(".py")


def imports(path, *, top_level_only=False):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if top_level_only else ast.walk(tree)
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{rel(path)}: relative import"
            yield node.module or ""
            assert "*" not in {alias.name for alias in node.names}, f"{rel(path)}: star import"


@pytest.mark.parametrize("path", FILES, ids=rel)
def test_imports_point_down_and_rooms_do_not_meet(path):
    mine = room(path)
    if mine == "__init__":
        return
    for name in imports(path):
        parts = name.split(".")
        if parts[0] != "oc" or len(parts) < 2:
            continue
        other = parts[1]
        assert LEVELS[other] < LEVELS[mine] or other == mine or LEVELS[mine] == 0 == LEVELS[other], (
            f"{mine} imports {name}"
        )


@pytest.mark.parametrize("path", [p for p in FILES if room(p) in PURE], ids=rel)
def test_pure_rooms_touch_no_disk_clock_or_network(path):
    assert {name.split(".")[0] for name in imports(path)} & IMPURE_MODULES == set()
    calls = {
        n.func.id
        for n in ast.walk(ast.parse(path.read_text()))
        if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
    }
    assert calls & {"open", "print", "input"} == set()


@pytest.mark.parametrize("path", FILES, ids=rel)
def test_llm_is_imported_where_models_are_called_only(path):
    if rel(path) not in LLM and not rel(path).startswith("oc/memory/embed/"):
        assert "llm" not in {name.split(".")[0] for name in imports(path)}


@pytest.mark.parametrize("path", FILES, ids=rel)
def test_only_cli_prints_or_exits(path):
    if room(path) == "cli":
        return
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            assert ast.unparse(node.func) not in ("print", "sys.exit", "click.echo", "exit"), (
                f"{rel(path)}:{node.lineno}"
            )


@pytest.mark.parametrize("path", FILES, ids=rel)
def test_foreign_exceptions_are_caught_where_plugins_are_called_only(path):
    if rel(path) not in {"oc/agent/model.py", "oc/memory/embed/plugin.py"}:
        assert "oc.base.caught" not in set(imports(path))


@pytest.mark.parametrize("path", FILES, ids=rel)
def test_everything_is_caught_in_two_places_only(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ExceptHandler):
            names = ast.unparse(node.type) if node.type else "Exception"
            broad = {"Exception", "BaseException"} & set(names.strip("()").split(", "))
            assert not broad or rel(path) in CATCH_ALL, f"{rel(path)}:{node.lineno} catches {names}"


def oversized():
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        lines = text.count("\n")
        limit = 120 if "cli/cmd/" in rel(path) else 400
        if lines > limit:
            yield rel(path), f"{limit} lines"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno - node.lineno + 1 > 60:
                yield rel(path), node.name


def test_files_and_functions_are_read_in_one_sitting():
    assert set(oversized()) == EXCEPTIONS


def test_exceptions_are_sorted():
    lines = [x for x in (ROOT / "tests" / "rules" / "exceptions.txt").read_text().splitlines() if x and x[0] != "#"]
    assert lines == sorted(lines)


def test_tables_are_sorted():
    paths = [key.path for key in KEYS]
    assert paths == sorted(paths)
    assert list(COMMANDS) == sorted(COMMANDS)
    for row in COMMANDS.values():
        assert row.verbs is None or list(row.verbs) == sorted(row.verbs)


HEAVY = {
    "asyncio",
    "httpx",
    "importlib.metadata",
    "json5",
    "lancedb",
    "llm",
    "numpy",
    "pathlib",
    "pydantic",
    "sqlite_utils",
    "tiktoken",
    "unicodedata",
}


def modules_after(oc, *args, stdin=""):
    code = (
        "import sys; from oc.cli.main import main; sys.argv = ['oc', *sys.argv[1:]]; main(); "
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *args], input=stdin, capture_output=True, text=True, env=oc.environ, check=False
    )
    return set(done.stderr.splitlines()[-1].split())


def test_version_is_answered_before_click_is_imported(oc):
    assert modules_after(oc, "--version") & {"click", "orjson", "json", "re"} == set()


MESSAGE = '{"role":"user","content":"hi"}\n'


@pytest.mark.parametrize(
    ("args", "stdin"),
    [
        (["config", "get", "memory.backend"], ""),
        (["context", "hi"], ""),
        (["session", "list"], ""),
        (["limit", "-n", "1", "-"], MESSAGE),
        (["guard", "-"], MESSAGE),
        (["prune", "-"], MESSAGE),
        (["sanitize", "-"], MESSAGE),
        (["tokens", "-"], MESSAGE),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_hot_paths_import_nothing_heavy(oc, args, stdin):
    assert modules_after(oc, *args, stdin=stdin) & HEAVY == set()


def test_keyword_search_imports_nothing_heavy(oc):
    note = oc.workspace / "memory" / "2026-03-16.md"
    note.parent.mkdir(parents=True)
    note.write_text("- staging moved to pg-b\n")
    oc("memory", "index")
    assert modules_after(oc, "memory", "search", "staging", "--mode", "keyword") & (HEAVY - {"unicodedata"}) == set()


def leaves(rows, prefix=()):
    for name, row in rows.items():
        yield (*prefix, name)
        if row.verbs is not None:
            yield from leaves(row.verbs, (*prefix, name))


@pytest.mark.parametrize("path", list(leaves(COMMANDS)), ids=" ".join)
def test_every_command_helps_by_itself(oc, path):
    done = oc(*path, "--help")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("Usage: oc " + " ".join(path))


def test_help_lines_of_the_table_are_those_of_the_commands():
    from importlib import import_module

    def check(rows):
        for row in rows.values():
            if row.verbs is not None:
                check(row.verbs)
            else:
                command = import_module(row.module).command
                assert (command.help or "").split("\n")[0] == row.help + "."

    check(COMMANDS)


@pytest.mark.parametrize("path", list(leaves(COMMANDS)), ids=" ".join)
def test_global_options_stand_on_either_side(oc, path, tmp_path):
    before = oc("--home", tmp_path / "x", *path, "--help")
    after = oc(*path, "--home", tmp_path / "x", "--help")
    assert (before.status, after.status) == (0, 0)


def test_top_level_holds_what_was_agreed():
    tracked = subprocess.run(
        ["git", "-C", ROOT, "ls-files"], capture_output=True, text=True, check=False
    ).stdout.split()
    if not tracked:
        pytest.skip("not a git checkout")
    top = {Path(name).parts[0] for name in tracked}
    assert {t for t in top if not t.startswith(".")} <= {"pyproject.toml", "oc", "tests", "scripts", "man", "README.md"}
