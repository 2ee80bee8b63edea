"""An entry that holds only for the leaf it was made for: a compaction, whose summary tells of what was before."""

import pytest

from oc.errors import Busy
from oc.session.entry import new_header
from oc.session.transcript import append, create, read

NOTE = {"type": "custom", "customType": "n", "timestamp": "2026-03-16T09:00:00.000Z"}


@pytest.fixture
def path(tmp_path):
    name = str(tmp_path / "s.jsonl")
    create(name, new_header("s", "2026-03-16T09:00:00.000Z", "/"))
    return name


def test_it_is_appended_to_the_leaf_it_was_made_for(path):
    [first] = append(path, [NOTE])
    [second] = append(path, [NOTE], after=first["id"])
    assert second["parentId"] == first["id"]


def test_it_is_refused_when_another_writer_went_on(path):
    """Nothing is written then."""
    [first] = append(path, [NOTE])
    append(path, [NOTE])
    with open(path, "rb") as file:
        before = file.read()
    with pytest.raises(Busy, match="another writer"):
        append(path, [NOTE], after=first["id"])
    with open(path, "rb") as file:
        assert before == file.read()
    assert len(read(path).entries) == 2
