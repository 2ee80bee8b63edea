"""Parts of files that go to stdout as they are, whatever stdout is."""

import os
import subprocess

import pytest

from tests.support import OC

LINE = b'{"type":"message","id":"%d","parentId":%s,"message":{"role":"user","content":"%s"}}\n'


@pytest.fixture
def large(tmp_path):
    """A transcript whose context is one run of more than the system copies at once, and that context."""
    path = tmp_path / "s.jsonl"
    lines = [LINE % (n, b'"%d"' % (n - 1) if n else b"null", b"x" * 5000) for n in range(100)]
    path.write_bytes(b'{"type":"session","version":3,"id":"s"}\n' + b"".join(lines))
    return path, b"".join(lines)


def show(path, environ, **settings):
    return subprocess.run([*OC, "session", "show", "--context", str(path)], env=environ, check=False, **settings)


def test_into_a_pipe_and_into_files(oc, large, tmp_path):
    """A file that is opened for appending takes no copy of the system's, and is written as any other."""
    path, expected = large
    assert expected == show(path, oc.environ, stdout=subprocess.PIPE).stdout
    for mode in ("wb", "ab"):
        target = tmp_path / mode
        target.write_bytes(b"before\n")
        with target.open(mode) as file:
            assert 0 == show(path, oc.environ, stdout=file).returncode
        assert (b"" if mode == "wb" else b"before\n") + expected == target.read_bytes()


def test_without_a_line_feed_at_the_end(oc, large):
    path, expected = large
    path.write_bytes(path.read_bytes()[:-1])
    assert expected == show(path, oc.environ, stdout=subprocess.PIPE).stdout


def test_a_reader_that_goes_away_is_141(oc, large):
    path, _ = large
    read, write = os.pipe()
    with subprocess.Popen([*OC, "session", "show", "--context", str(path)], env=oc.environ, stdout=write) as process:
        os.close(write)
        os.close(read)
        assert 141 == process.wait(timeout=30)
