import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.errors import NotFound, Usage
from oc.memory.read import byte_lines, get, place, read


@pytest.fixture
def workspace(tmp_path):
    root = tmp_path / "ws"
    (root / "memory" / "sub").mkdir(parents=True)
    (root / "MEMORY.md").write_text("l1\nl2\nl3")
    (root / "memory" / "2026-06-30.md").write_text("day\n")
    (root / "memory" / "deploy.md").write_bytes(b"\xef\xbb\xbfa\r\nb\r\n\xff\n")
    (tmp_path / "out.md").write_text("secret")
    (tmp_path / "team").mkdir()
    (tmp_path / "team" / "t.md").write_text("team")
    return root


def text(workspace, path, *extra):
    return read(str(workspace), extra, path).data


@pytest.mark.parametrize(
    "path", ["2026-06-30", "2026-06-30.md", "memory/2026-06-30.md", "./memory/2026-06-30.md", " 2026-06-30 "]
)
def test_a_bare_name_is_a_note_of_the_memory_folder(workspace, path):
    assert b"day\n" == text(workspace, path)


def test_bytes_come_back_as_they_are(workspace):
    assert b"\xef\xbb\xbfa\r\nb\r\n\xff\n" == text(workspace, "deploy.md")


@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../out.md",
        "memory/../../out.md",
        "memory",
        "memory/",
        "memory/sub",
        "notes.txt",
        "MEMORY.MD",
        "a/b.md",
        "none.md",
    ],
)
def test_what_is_no_note_is_refused(workspace, path):
    with pytest.raises(NotFound):
        text(workspace, path)


def test_no_path_is_an_error_of_usage(workspace):
    with pytest.raises(Usage):
        text(workspace, " ")


def test_a_missing_note_says_so(workspace):
    for path in ("memory/none.md", "2026-01-01", "2026-01-01.md"):
        assert (b"", False) == read(str(workspace), (), path)[1:]


def test_no_link_leads_out(workspace, tmp_path):
    """The real path must lie in the workspace or an extra path (D8)."""
    (workspace / "memory" / "link.md").symlink_to(tmp_path / "out.md")
    (workspace / "memory" / "away").symlink_to(tmp_path)
    (workspace / "memory" / "team").symlink_to(tmp_path / "team")
    for path in ("memory/link.md", "memory/away/out.md", "memory/team/t.md"):
        with pytest.raises(NotFound):
            text(workspace, path)
    assert b"team" == text(workspace, "memory/team/t.md", "../team")


def test_extra_paths_are_read_unless_they_are_links(workspace, tmp_path):
    (tmp_path / "linked").symlink_to(tmp_path / "team")
    assert b"team" == text(workspace, "../team/t.md", "../team")
    assert b"team" == text(workspace, str(tmp_path / "team" / "t.md"), "../team/t.md")
    with pytest.raises(NotFound):
        text(workspace, "../linked/t.md", "../linked")


@given(st.lists(st.sampled_from([*"./\\ma#é \0~", "memory/", "MEMORY.md", "../", ".md"]), max_size=20).map("".join))
def test_no_path_reads_anything_outside(tmp_path_factory, path):
    root = tmp_path_factory.getbasetemp() / "prop" / "ws"
    (root / "memory").mkdir(parents=True, exist_ok=True)
    (root.parent / "MEMORY.md").write_text("secret")
    try:
        assert not read(str(root), (), path).exists
    except (NotFound, Usage):
        return


@pytest.mark.parametrize(
    ("start", "count", "expected"),
    [
        (None, None, b"a\r\nb\n\nd"),
        (1, 1, b"a\r\n"),
        (2, None, b"b\n\nd"),
        (None, 2, b"a\r\nb\n"),
        (3, 1, b"\n"),
        (4, 9, b"d"),
        (5, 1, b""),
        (0, 0, b"a\r\nb\n\nd"),
        (2, 0, b"b\n"),
    ],
)
def test_byte_lines(start, count, expected):
    assert expected == byte_lines(b"a\r\nb\n\nd", start, count)


@given(st.binary(max_size=60), st.integers(1, 8), st.integers(1, 8))
def test_lines_and_the_rest_are_the_file(data, start, count):
    parts = [byte_lines(data, 1, start), byte_lines(data, start + 1, count), byte_lines(data, start + count + 1, None)]
    assert data == b"".join(parts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.md", ("a.md", None, None)),
        ("a.md#L3", ("a.md", 3, 3)),
        ("a.md#L3-L5", ("a.md", 3, 5)),
        ("a.md#L3-5", ("a.md", 3, 5)),
        ("a.md#x", ("a.md#x", None, None)),
        ("#L3", ("#L3", None, None)),
    ],
)
def test_place(text, expected):
    assert expected == place(text)


def test_text_keeps_line_ends_inside(workspace):
    assert "\ufeffa\r\nb\r" == get(str(workspace), (), "deploy.md", 1, 2).text


def test_an_unreadable_note_is_an_error_of_its_own(workspace):
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (workspace / "MEMORY.md").chmod(0)
    with pytest.raises(PermissionError):
        text(workspace, "MEMORY.md")
