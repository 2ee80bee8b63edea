import pytest

from oc.base.size import byte_size


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1.5k", 1536),
        (" 3MB ", 3 * 1024**2),
        ("3 mb", None),
        ("1g", 1024**3),
        (2.9, 2),
        (0, 0),
        ("", None),
        ("k", None),
        ("1kib", None),
        ("-1", None),
        ("1e3", None),
        ("٣", None),
        (float("nan"), None),
        (None, None),
        (["1"], None),
        ("9" * 400, None),
    ],
)
def test_byte_size(value, expected):
    assert expected == byte_size(value)
