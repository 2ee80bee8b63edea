"""Arguments as models write them, and errors as results."""

import pytest

from oc.agent.tools.spec import Result, Tool, call, fit, schema
from oc.errors import Busy

RULES = schema(
    ["path"],
    path={"type": "string"},
    limit={"type": "integer", "minimum": 1, "maximum": 9},
    score={"type": "number", "minimum": 0},
    deep={"type": "boolean"},
)


@pytest.mark.parametrize(
    ("arguments", "fitted"),
    [
        ({"path": "a"}, {"path": "a"}),
        ({"path": "a", "limit": None}, {"path": "a"}),
        ({"path": "a", "limit": "5"}, {"path": "a", "limit": 5}),
        ({"path": "a", "limit": 5.0}, {"path": "a", "limit": 5}),
        ({"path": "a", "score": "0.5", "deep": "True"}, {"path": "a", "score": 0.5, "deep": True}),
        ({"path": "a", "deep": False}, {"path": "a", "deep": False}),
    ],
)
def test_what_fits(arguments, fitted):
    assert (fitted, None) == fit(arguments, RULES)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({}, "path is missing"),
        ({"path": " "}, "path must be a text that is not blank"),
        ({"path": 3}, "path must be a text that is not blank"),
        ({"path": "a", "limit": 0}, "limit must be a whole number from 1 to 9"),
        ({"path": "a", "limit": 10}, "limit must be a whole number from 1 to 9"),
        ({"path": "a", "limit": 2.5}, "limit must be a whole number from 1 to 9"),
        ({"path": "a", "limit": True}, "limit must be a whole number from 1 to 9"),
        ({"path": "a", "limit": "many"}, "limit must be a whole number from 1 to 9"),
        ({"path": "a", "limit": float("inf")}, "limit must be a whole number from 1 to 9"),
        ({"path": "a", "score": "nan"}, "score must be a number from 0"),
        ({"path": "a", "deep": "maybe"}, "deep must be true or false"),
        ({"path": "a", "file": "b"}, "no argument 'file'; there are: path, limit, score, deep"),
        ({"_raw": "{"}, "the arguments were no valid JSON object"),
        ([], "the arguments must be a JSON object"),
        (None, "the arguments must be a JSON object"),
    ],
)
def test_what_does_not(arguments, problem):
    assert ({}, problem) == fit(arguments, RULES)


def raising(error):
    def run(_):
        raise error

    return Tool("t", "", "", schema([]), run)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (Busy("locked by process 7", path="x.lock", hint="try again"), "t: x.lock: locked by process 7 (try again)"),
        (PermissionError(13, "Permission denied"), "t: permission denied"),
    ],
)
def test_errors_are_results(error, text):
    assert Result(text, failed=True) == call(raising(error), "t", {})


def test_a_tool_that_is_not_there():
    assert Result("there is no tool 'exec' in this session", failed=True) == call(None, "exec", {})
