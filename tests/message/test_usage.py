import pytest

from oc.message.usage import no_usage, normalised, snapshot


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, None),
        ({}, None),
        ({"input": "5"}, None),
        ({"input": True, "output": float("inf")}, None),
        ({"input": -3, "output": -1}, {"input": 0, "output": -1}),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 4},
                "total_tokens": 11,
            },
            {"input": 9, "output": 2, "cacheRead": 4, "total": 11},
        ),
        (
            {"input_tokens": 1, "output_tokens": 2, "cache_read_input_tokens": 3, "cache_creation_input_tokens": 4},
            {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4},
        ),
        ({"input": "x", "inputTokens": 5}, None),  # the first name that is there decides
    ],
)
def test_names_of_other_providers_are_read(given, expected):
    assert expected == normalised(given)


def test_a_snapshot_has_every_part_and_a_total():
    assert snapshot({"usage": {"prompt_tokens": 3, "output": 1.5}}) == {
        "input": 3,
        "output": 1.5,
        "cacheRead": 0,
        "cacheWrite": 0,
        "totalTokens": 4.5,
    }
    assert snapshot({"usage": {"input": 1, "totalTokens": 0}})["totalTokens"] == 0
    assert snapshot({}) == snapshot({"usage": 5}) == no_usage()
    assert "cost" not in snapshot({"usage": {"input": 1, "cost": {"input": "free"}}})
