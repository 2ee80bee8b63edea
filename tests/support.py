"""What the tests share: reference tables, the real command in an empty home, data that is not shipped."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
VECTORS = Path(os.environ.get("OC_VECTORS") or ROOT / "tests" / "vectors")
NOW_MS = 1773651600000  # 2026-03-16T09:00:00Z
OC = [sys.executable, "-m", "oc.cli.main"]


@dataclass
class Case:
    """One row of a table."""

    file: str
    name: str
    input: Any
    expected: Any
    row: dict[str, Any]

    @property
    def fn(self) -> str:
        return self.row.get("fn", "")


@cache
def _table(name: str) -> list[dict[str, Any]]:
    # The standard json module, since a few strings hold lone surrogates, which orjson refuses.
    return json.loads((VECTORS / f"{name}.json").read_text(encoding="utf-8"))


@cache
def deviations() -> dict[str, str]:
    """`file:case` -> `D<n>  reason`; lines of tests/vectors/deviations.txt are `file:case  D<n>  reason`."""
    path = VECTORS / "deviations.txt"
    path = path if path.is_file() else ROOT / "tests" / "vectors" / "deviations.txt"
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            case, _, rest = line.partition("  D")
            found[case.strip()] = "D" + rest.strip()
    return found


def vectors(name: str, fn: str | None = None) -> Any:
    """Parametrises a test with every case of a table (those whose `fn` starts with `fn`), named `file:case`.

    A case of deviations.txt must fail against the reference value; the new value has a test of its own.
    """
    params = []
    for row in _table(name):
        if fn is not None and not row.get("fn", "").startswith(fn):
            continue
        ident = f"{name}:{row['name']}"
        marks = []
        if row.get("quirk"):
            marks.append(pytest.mark.xfail(reason="a fault of the reference, not to be copied", strict=True))
        if ident in deviations():
            marks.append(pytest.mark.xfail(reason=deviations()[ident], strict=True))
        case = Case(name, row["name"], row.get("input"), row.get("expected"), row)
        params.append(pytest.param(case, id=ident, marks=marks))
    return pytest.mark.parametrize("case", params)


def testdata(*parts: str) -> Path:
    """Returns a path below $OC_TESTDATA; skips the test when the data is not there."""
    base = os.environ.get("OC_TESTDATA")
    if not base:
        pytest.skip("OC_TESTDATA is not set: this test needs data that the project does not ship")
    path = Path(base, *parts)
    if not path.exists():
        pytest.skip(f"no {'/'.join(parts)} below OC_TESTDATA")
    return path


testdata.__test__ = False  # its name looks like a test's


@dataclass
class Ran:
    status: int
    out: str
    err: str
    raw: bytes

    def json(self) -> Any:
        return json.loads(self.out)

    def jsonl(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


class Oc:
    """Runs the real command in a home of its own with fixed clock, zone and ids."""

    def __init__(self, home: Path, **environ: str) -> None:
        self.home = home
        keep = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH")}
        self.environ = {
            **keep,
            "HOME": str(home),
            "OC_HOME": str(home / "state"),
            "OC_NOW": str(NOW_MS),
            "OC_TZ": "UTC",
            "OC_SEED": "1",
            "LLM_USER_PATH": str(home / "llm"),
            "PYTHONPATH": str(ROOT),
            **environ,
        }

    @property
    def state(self) -> Path:
        return self.home / "state"

    @property
    def workspace(self) -> Path:
        return self.state / "workspace"

    def __call__(
        self,
        *args: str | Path,
        stdin: str | bytes | None = "",
        cwd: Path | None = None,
        timeout: float = 60,
        **environ: str,
    ) -> Ran:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [*OC, *map(str, args)],
            input=data,
            capture_output=True,
            cwd=cwd or self.home,
            env={**self.environ, **environ},
            timeout=timeout,
            check=False,
        )
        return Ran(
            done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"), done.stdout
        )

    def popen(self, *args: str | Path, **settings: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*OC, *map(str, args)], env=self.environ, cwd=self.home, **settings)


# Runs `oc` in this process and dies at the N-th call of os.write, os.fsync, os.replace, os.truncate, os.unlink or
# os.open-for-writing; with HALF=1 the N-th write puts half of its bytes down first. Prints nothing of its own.
KILLER = r"""
import os, sys
at, half = int(os.environ["KILL_AT"]), os.environ.get("HALF") == "1"
count = 0
names = []
def wrap(name):
    real = getattr(os, name)
    def call(*args, **kwargs):
        global count
        if name == "write" and args[0] <= 2:
            return real(*args, **kwargs)
        count += 1
        names.append(name)
        if count == at:
            if name == "write" and half:
                real(args[0], bytes(args[1])[: max(1, len(args[1]) // 2)])
            real_kill(os.getpid(), 9)
        return real(*args, **kwargs)
    setattr(os, name, call)
real_kill = os.kill
for name in ("write", "fsync", "replace", "truncate", "unlink", "rename"):
    wrap(name)
from oc.cli.main import main
sys.argv = ["oc", *sys.argv[1:]]
status = main()
sys.stdout.flush()
print("POINTS", count, *names, file=sys.stderr)
sys.exit(status)
"""


def disk_operations(oc: Oc, args: Sequence[str | Path], *, stdin: str = "") -> list[str]:
    """Runs the command whole and returns its disk operations by name: KILL_AT n stops before the n-th."""
    done = subprocess.run(
        [sys.executable, "-c", KILLER, *map(str, args)],
        input=stdin.encode(),
        capture_output=True,
        cwd=oc.home,
        env={**oc.environ, "KILL_AT": "0"},
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr.decode().strip().rpartition("\n")[2].split()[2:]


def run_killed(oc: Oc, at: int, args: Sequence[str | Path], *, half: bool = False, stdin: str = "") -> tuple[int, int]:
    """Kills the command at its N-th disk operation; returns (return code, operations of a whole run or 0)."""
    done = subprocess.run(
        [sys.executable, "-c", KILLER, *map(str, args)],
        input=stdin.encode(),
        capture_output=True,
        cwd=oc.home,
        env={**oc.environ, "KILL_AT": str(at), "HALF": "1" if half else "0"},
        timeout=60,
        check=False,
    )
    last = done.stderr.decode().strip().rpartition("\n")[2]
    return done.returncode, int(last.split()[1]) if last.startswith("POINTS") else 0
