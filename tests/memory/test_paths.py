import pytest

from oc.memory.paths import as_note, is_note_name


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("2026-06-30", "memory/2026-06-30.md"),
        (" 2026-06-30.md ", "memory/2026-06-30.md"),
        ("deploy.md", "memory/deploy.md"),
        ("deploy", None),
        ("MEMORY.md", None),
        ("memory/x.md", None),
        ("a\\b.md", None),
        ("2026-06-301", None),
    ],
)
def test_as_note(name, path):
    assert path == as_note(name)


def test_media_are_notes_only_where_they_are_enabled():
    assert [False, True, False] == [
        is_note_name("x.PNG"),
        is_note_name("x.PNG", ["image"]),
        is_note_name("x.png", ["audio"]),
    ]
