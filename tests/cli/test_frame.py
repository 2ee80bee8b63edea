"""What holds for every command: errors, statuses, pipes, global options."""

import subprocess
import sys

from oc import __version__
from tests.support import OC


def test_version(oc):
    assert (oc("--version").status, oc("--version").out) == (0, f"oc {__version__}\n")
    assert oc("config", "show", "--version").status == 2
    assert oc("-v", "--version").out == f"oc {__version__}\n"


def test_unknown_command_names_the_nearest(oc):
    done = oc("confg")
    assert (done.status, done.out) == (2, "")
    assert done.err == "oc: no command 'confg', did you mean 'config'?\nhint: `oc --help`\n"


def test_unknown_option_is_usage(oc):
    done = oc("config", "show", "--nope")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("oc: no such option")


def test_errors_are_documents_with_json(oc):
    done = oc("config", "get", "no.such.key", "--json")
    assert done.status == 66
    assert done.json()["error"]["status"] == 66
    assert done.json()["error"]["code"] == "not_found"
    assert set(done.json()["error"]) == {"status", "code", "message", "path", "line", "hint"}
    assert done.err.startswith("oc: no configuration key")


def test_usage_errors_are_documents_too(oc):
    assert oc("--jsonl", "nope").json()["error"]["code"] == "usage"


def test_formats_exclude_each_other(oc):
    assert oc("config", "show", "--json", "--tsv").status == 2


def test_broken_config_is_78_with_the_place(oc):
    oc.state.mkdir()
    (oc.state / "oc.json").write_text('{"memory": {"backed": 1}}')
    done = oc("config", "show")
    assert (done.status, done.out) == (78, "")
    assert done.err.startswith(f"oc: {oc.state}/oc.json: memory.backed: unknown key\n")
    assert oc("config", "check").status == 1
    assert oc("config", "check").out == f"{oc.state}/oc.json\tmemory.backed\terror\tunknown key\n"


def test_secrets_are_not_shown(oc):
    oc.state.mkdir()
    (oc.state / "oc.json").write_text(
        '{"agents": {"defaults": {"memorySearch": {"remote": {"apiKey": "sk-topsecret"}}}}}'
    )
    for args in (["show"], ["show", "--json"], ["get", "agents.defaults.memorySearch.remote.apiKey"]):
        done = oc("config", *args)
        assert "topsecret" not in done.out + done.err
        assert "***" in done.out


def test_a_reader_that_goes_away_ends_with_141(oc):
    reader = subprocess.Popen(["true"], stdin=subprocess.PIPE)
    reader.wait()
    done = subprocess.run(
        [*OC, "config", "show"], stdout=reader.stdin, stderr=subprocess.PIPE, env=oc.environ, check=False
    )
    reader.stdin.close()
    assert (done.returncode, done.stderr) == (141, b"")


def test_global_options_count_on_either_side(oc, tmp_path):
    before = oc("--home", tmp_path / "a", "config", "show", "--tsv")
    after = oc("config", "show", "--tsv", "--home", tmp_path / "a")
    assert before.out == after.out
    assert before.out.splitlines()[1] == f"home\t{tmp_path}/a\tflag"


def test_bad_global_values_are_usage(oc):
    assert oc("config", "show", "--tz", "Nowhere/Land").status in (0, 2)
    assert oc("session", "open", "main", "--now", "yesterday").status == 2
    assert oc("session", "open", "main", "--tz", "Nowhere/Land").status == 2


def test_control_characters_of_data_are_visible_in_errors(oc):
    done = oc("config", "get", "a\x1b[31mb")
    assert "\x1b" not in done.err
    assert "\\x1b[31mb" in done.err


def test_the_second_name_is_the_same_command():
    from importlib.metadata import entry_points

    scripts = {e.name: e.value for e in entry_points(group="console_scripts") if e.name in ("oc", "oc-toolkit")}
    assert scripts == {"oc": "oc.cli.main:main", "oc-toolkit": "oc.cli.main:main"}


def test_looking_creates_nothing(oc):
    oc("config", "show")
    oc("config", "check")
    assert not oc.state.exists()


def test_non_utf8_arguments_are_no_bug(oc):
    done = subprocess.run([*OC, "config", "get", b"\xff"], capture_output=True, env=oc.environ, check=False)
    assert done.returncode == 66
    done.stderr.decode()


def test_ascii_locale_prints_utf8(oc):
    done = oc("config", "get", "部署", LC_ALL="C")
    assert "部署" in done.err


def test_python_m_runs_it(oc):
    done = subprocess.run(
        [sys.executable, "-m", "oc.cli.main", "--help"], capture_output=True, env=oc.environ, check=False
    )
    assert done.returncode == 0


def test_a_file_of_any_name_is_read_where_no_session_has_the_name(oc):
    oc("session", "append", "main", "--create", "--role", "user", "hello")
    whole = oc("session", "show", "main")
    (oc.home / "G").write_bytes(whole.raw)
    assert whole.raw == oc("session", "show", "G").raw
    assert oc("tokens", "main").out == oc("tokens", "G").out
    (oc.home / "main").write_text("not the session\n")
    assert whole.raw == oc("session", "show", "main").raw
    assert oc("session", "show", "nothing-of-this-name").status == 66


def run_with_closed(oc, which, *args):
    """Runs the command with a standard stream closed, as `oc ... >&-` does."""
    shell = f'exec "$@" {which}'
    return subprocess.run(
        ["bash", "-c", shell, "bash", *OC, *args], capture_output=True, env=oc.environ, cwd=oc.home, check=False
    )


def test_a_closed_stdout_stops_before_anything_is_done(oc):
    done = run_with_closed(oc, ">&-", "session", "append", "main", "--create", "--role", "user", "x")
    assert (done.returncode, done.stderr) == (74, b"oc: stdout is closed\n")
    assert not oc.state.exists()
    for args in (["--version"], ["--help"], ["prune", "-"], ["memory", "search", "x"]):
        assert run_with_closed(oc, ">&-", *args).returncode == 74


def test_a_closed_stderr_or_stdin_is_no_bug(oc):
    done = run_with_closed(oc, "2>&-", "session", "append", "main", "--create", "--role", "user", "x")
    assert (done.returncode, len(done.stdout)) == (0, 9)
    assert run_with_closed(oc, "2>&-", "nope").returncode == 2
    closed = run_with_closed(oc, "<&-", "prune")
    assert (closed.returncode, closed.stdout) == (2, b"")
    assert b"which is closed" in closed.stderr


def test_a_full_disk_under_stdout_is_74_everywhere(oc):
    for args in (["--version"], ["--help"], ["config", "show"]):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([*OC, *args], stdout=full, stderr=subprocess.PIPE, env=oc.environ, check=False)
        assert (done.returncode, done.stderr) == (74, b"oc: no space left on device\n")


def test_a_time_that_no_date_can_hold_is_usage(oc):
    for time in ("99999999999999999999", "-99999999999999999", "253402300800000", "--5"):
        assert oc("session", "open", "main", f"--now={time}").status == 2
    assert oc("session", "open", "main", "--now=253402300799999").status == 0


def test_an_error_is_one_line_whatever_the_name(oc):
    done = oc("session", "show", "a\nb.jsonl")
    assert (done.status, done.err) == (66, "oc: a\\nb.jsonl: no such file\n")


def test_a_noun_alone_is_a_document_with_json(oc):
    assert oc("--json", "session").json()["error"]["message"] == "a command is expected"
    assert oc("--json", "session").status == 2
