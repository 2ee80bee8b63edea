"""Every `$` line of README and of the pages' EXAMPLES runs and prints what is shown."""

import os
import re
import subprocess
import sys

import pytest

from tests.support import NOW_MS, ROOT

# One bash per document, since later lines build on earlier ones; after each command its status is printed.
MARK = "\x1d"


def blocks():
    for page in sorted((ROOT / "man").glob("man?/*.?")):
        text = page.read_text(encoding="utf-8")
        shown = re.findall(r"^\.EX\n(.*?)^\.EE", text, re.DOTALL | re.MULTILINE)
        plain = [unescaped(block) for block in shown]
        if any("$ " in block for block in plain):
            yield pytest.param("\n".join(plain), id=page.name)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```console\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    if shown:
        yield pytest.param("\n".join(shown), id="README.md")


def unescaped(text):
    return text.replace("\\-", "-").replace("\\(dq", '"').replace("\\&", "").replace("\\e", "\\").replace("\\(aq", "'")


def steps(block):
    """Splits a block into (command, expected lines, expected status)."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append([line[2:], [], 0])
        elif found and line.startswith("> "):
            found[-1][0] += "\n" + line[2:]
        elif found and re.fullmatch(r"\[\d+\]", line):
            found[-1][2] = int(line[1:-1])
        elif found and line:
            found[-1][1].append(line)
    return found


def matches(expected, actual):
    """`...` matches anything, also several lines when it stands alone."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else ".*?".join(map(re.escape, line.split("..."))) + r"[ \t]*\n"
        for line in expected
    )
    return re.fullmatch(pattern, actual + "\n" if actual and not actual.endswith("\n") else actual) is not None


@pytest.mark.parametrize("block", list(blocks()))
def test_example(block, tmp_path):
    found = steps(block)
    # As on a terminal, which shows both streams.
    script = "exec 2>&1\n" + "".join(f"{command}\nprintf '\\n{MARK}%s\\n' $?\n" for command, _, _ in found)
    (tmp_path / "bin").mkdir()
    for name in ("oc", "oc-toolkit"):
        shim = tmp_path / "bin" / name
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m oc.cli.main "$@"\n')
        shim.chmod(0o755)
    (tmp_path / "work").mkdir()
    environ = {
        "PATH": f"{tmp_path / 'bin'}:{os.path.dirname(sys.executable)}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
        "OC_HOME": str(tmp_path / "state"),
        "OC_NOW": str(NOW_MS),
        "OC_TZ": "UTC",
        "OC_SEED": "1",
        "LLM_USER_PATH": str(tmp_path / "llm"),
        "LC_ALL": "C.UTF-8",
    }
    (tmp_path / "state").mkdir()
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", script],
        capture_output=True,
        text=True,
        cwd=tmp_path / "work",
        env=environ,
        timeout=120,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    parts = re.split(f"\n{MARK}(\\d+)\n", done.stdout)
    for (command, expected, status), output, actual in zip(found, parts[::2], parts[1::2], strict=False):
        assert int(actual) == status, f"$ {command}\n{output}"
        assert matches(expected, output), f"$ {command}\n--- shown\n{chr(10).join(expected)}\n--- printed\n{output}"
    assert len(parts[1::2]) == len(found)


def test_a_wrong_line_is_seen():
    assert matches(["a...c", "..."], "abc\nx\ny\n")
    assert matches(["..."], "")
    assert not matches(["abc"], "abd\n")
    assert not matches([], "something\n")
