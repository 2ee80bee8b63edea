import json
import os

import pytest

from oc.base.files import lock
from oc.errors import BadInput, Busy
from oc.memory.sqlite.driver import connect
from oc.memory.sqlite.generation import Index


@pytest.fixture
def index(tmp_path):
    return Index(str(tmp_path / "memory" / "oc-main.sqlite"))


def build(index, mark):
    path = index.next_path()
    connection = connect(path, "rwc")
    connection.execute("CREATE TABLE t (x)")
    connection.execute("INSERT INTO t VALUES (?)", (mark,))
    connection.close()
    index.switch(path)


def marks(connection):
    with connection:
        return [row[0] for row in connection.execute("SELECT x FROM t")]


def test_there_is_no_index_at_first_and_looking_makes_none(index, tmp_path):
    assert (None, None, []) == (index.current(), index.read(), index.leftovers())
    assert [] == os.listdir(tmp_path)


def test_the_pointer_is_one_line_of_json(index):
    with index.lock(1000):
        build(index, "a")
        build(index, "b")
    with open(index.pointer) as file:
        assert {"file": "oc-main.2.sqlite"} == json.loads(file.read())
    assert ["oc-main.2.sqlite", "oc-main.sqlite"] == sorted(os.listdir(index.folder))
    assert ["b"] == marks(index.read())


def test_a_reader_keeps_the_generation_it_opened(index):
    with index.lock(1000):
        build(index, "old")
        reader = index.read()
        build(index, "new")
    assert ["old"] == marks(reader)
    assert ["new"] == marks(index.read())
    reader.close()


def test_what_killed_writers_left_is_removed_and_nothing_else(index):
    with index.lock(1000):
        build(index, "a")
    dead = 2**22 + 1  # above what a pid can be
    left = [
        "oc-main.2.sqlite",
        "oc-main.2.vec.sqlite",
        "oc-main.7.sqlite-journal",
        f"oc-main.sqlite.{dead}-ab12cd34.tmp",
    ]
    kept = [
        "oc-other.1.sqlite",
        "oc-main.x.sqlite",
        "main.sqlite",
        "oc-main.3.sqlite.bak",
        "oc-main.1.vec.sqlite",
        f"oc-main.sqlite.{os.getpid()}-ab12cd34.tmp",
    ]
    for name in (*left, *kept):
        with open(os.path.join(index.folder, name), "w"):
            pass
    assert sorted(left[:-1]) == sorted(index.leftovers())
    assert index.is_littered()
    with index.lock(1000):
        pass
    assert sorted([*kept, "oc-main.1.sqlite", "oc-main.sqlite"]) == sorted(os.listdir(index.folder))


def test_numbers_go_up_over_what_is_there(index):
    with index.lock(1000):
        build(index, "a")
        with open(os.path.join(index.folder, "oc-main.9.sqlite"), "w"):
            pass
        assert index.next_path().endswith("oc-main.10.sqlite")


@pytest.mark.parametrize("content", [b"SQLite format 3\0", b"", b"{}", b"[]", b'{"file":"../x"}', b'{"file":7}'])
def test_another_programs_file_is_never_taken_for_a_pointer(index, content):
    os.makedirs(index.folder)
    with open(index.pointer, "wb") as file:
        file.write(content)
    with pytest.raises(BadInput):
        index.read()
    with pytest.raises(BadInput), index.lock(10):
        pass
    with open(index.pointer, "rb") as file:
        assert content == file.read()


def test_a_pointer_to_nothing_is_no_index(index):
    with index.lock(1000):
        build(index, "a")
    os.unlink(index.current())
    assert index.read() is None


def test_one_writer_at_a_time(index):
    with index.lock(1000), pytest.raises(Busy), index.lock(10):
        pass
    with lock(index.pointer), pytest.raises(Busy), index.lock(10):
        pass


def test_signs_in_a_path_are_no_options_of_sqlite(tmp_path):
    index = Index(str(tmp_path / "a?mode=ro#b%20c" / "x.db"))
    with index.lock(1000):
        build(index, "a")
    assert ["a"] == marks(index.read())
    assert ["x.1.db", "x.db"] == sorted(os.listdir(index.folder))
