"""Devices, pipes and folders where a transcript is expected: what is read may be a pipe, what is written not."""

import os
import subprocess
import sys

import pytest

HEADER = '{"type":"session","version":3,"id":"s","timestamp":"2026-03-16T09:00:00.000Z","cwd":"/"}\n'
ENTRY = (
    '{"type":"message","id":"e1","parentId":null,"timestamp":"2026-03-16T09:00:00.000Z",'
    '"message":{"role":"user","content":"hello"}}\n'
)
pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")


@pytest.fixture
def link(oc):
    (oc.home / "full.jsonl").symlink_to("/dev/full")


@pytest.fixture
def pipe(oc):
    os.mkfifo(oc.home / "pipe.jsonl")


@pytest.mark.parametrize(
    "args",
    [
        ("tokens",),
        ("session", "show"),
        ("session", "check"),
        ("session", "import"),
        ("session", "repair"),
        ("session", "usage", "--add"),
        ("compact",),
    ],
)
@pytest.mark.usefixtures("link")
def test_a_device_without_an_end_is_not_read(oc, args):
    for path in ("/dev/full", "full.jsonl"):
        ran = oc(*args, path, timeout=20)
        assert (65, "", f"oc: {path}: not a regular file\n") == (ran.status, ran.out, ran.err)


def test_a_summary_is_not_read_from_a_device(oc):
    (oc.home / "s.jsonl").write_text(HEADER + ENTRY + ENTRY.replace("e1", "e2").replace("null", '"e1"'))
    ran = oc("compact", "s.jsonl", "--keep-recent-tokens", "1", "--summary-file", "/dev/full", timeout=20)
    assert (65, "oc: /dev/full: not a regular file\n") == (ran.status, ran.err)


@pytest.mark.parametrize(
    "args",
    [
        ("session", "append", "PATH", "--role", "user", "x"),
        ("session", "append", "PATH", "--role", "user", "x", "--dry-run"),
        ("session", "name", "PATH", "x"),
        ("session", "label", "PATH", "e1", "x"),
        ("session", "branch", "PATH", "e1"),
        ("session", "branch", "PATH", "root"),
        ("session", "repair", "PATH", "--write"),
        ("compact", "PATH"),
    ],
)
@pytest.mark.usefixtures("link", "pipe")
def test_only_regular_files_are_written_to(oc, args):
    """Opening the pipe would wait for its other end for ever."""
    for path in ("full.jsonl", "pipe.jsonl"):
        ran = oc(*[path if arg == "PATH" else arg for arg in args], timeout=20)
        assert (65, "", f"oc: {path}: not a regular file\n") == (ran.status, ran.out, ran.err)
    assert {"full.jsonl", "pipe.jsonl"} == {p.name for p in oc.home.iterdir() if p.name != "state"}


@pytest.mark.parametrize("args", [("session", "show", "--messages"), ("tokens",), ("sanitize",), ("session", "check")])
@pytest.mark.usefixtures("pipe")
def test_a_pipe_is_read(oc, args):
    (oc.home / "s.jsonl").write_text(HEADER + ENTRY)
    writer = subprocess.Popen(
        [sys.executable, "-c", "import shutil; shutil.copyfileobj(open('s.jsonl'), open('pipe.jsonl', 'w'))"],
        cwd=oc.home,
    )
    try:
        piped = oc(*args, "pipe.jsonl", timeout=20)
        assert 0 == writer.wait(timeout=20)
    finally:
        writer.kill()
    plain = oc(*args, "s.jsonl")
    assert (0, plain.out.replace("s.jsonl", "pipe.jsonl")) == (piped.status, piped.out)
