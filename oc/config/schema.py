"""Checks configuration against the table of defaults.py. Pure: finds, does not judge."""

from collections.abc import Iterator

from oc.base.typed import Any, NamedTuple
from oc.config.defaults import AGENT_KEYS, KEYS, Key


class Finding(NamedTuple):
    """`unknown` tells a key that is not ours from a value of the wrong kind."""

    path: str
    message: str
    unknown: bool


_NAMES = {
    "agents": "a list of objects",
    "bool": "true or false",
    "duration": 'a duration such as "5m" or a number, or false',
    "int": "a whole number",
    "model": "a model name, or an object with `primary`",
    "number": "a number",
    "object": "an object",
    "secret": "a string or an object of strings",
    "size": 'a size such as "10mb" or a number',
    "str": "a string",
    "strings": "a list of strings",
}


def fits(kind: str, value: Any) -> bool:
    """Says whether a JSON value is of that kind; null is the same as not set."""
    if value is None:
        return True
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match kind:
        case "bool":
            return isinstance(value, bool)
        case "int":
            return number and float(value).is_integer()
        case "number":
            return number
        case "str":
            return isinstance(value, str)
        case "strings":
            return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
        case "duration":
            return isinstance(value, str) or number or value is False
        case "size":
            return isinstance(value, str) or number
        case "agents":
            return isinstance(value, list) and all(isinstance(item, dict) for item in value)
        case "model" | "secret":
            return isinstance(value, str | dict)
    return isinstance(value, dict)


def known(path: str) -> Key | None:
    """Returns the row of a concrete path, wildcards applied."""
    exact = _EXACT.get(path)
    if exact is not None:
        return exact
    parts = path.split(".")
    return next((key for key in _WILD if _matches(key.path.split("."), parts)), None)


_EXACT = {key.path: key for key in KEYS if "*" not in key.path}
_WILD = tuple(key for key in KEYS if "*" in key.path)


def _matches(pattern: list[str], parts: list[str]) -> bool:
    return len(pattern) == len(parts) and all(p in ("*", part) for p, part in zip(pattern, parts, strict=True))


def check(tree: Any) -> Iterator[Finding]:
    """Yields what is unknown or of the wrong kind, with the path of the key."""
    if not isinstance(tree, dict):
        yield Finding("", "the configuration is not an object", unknown=False)
        return
    yield from _check_node(tree, "")
    agents = tree.get("agents")
    listed = agents.get("list") if isinstance(agents, dict) else None
    for index, agent in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(agent, dict):
            yield from _check_agent(agent, f"agents.list[{index}]")


def _check_node(node: dict[str, Any], prefix: str) -> Iterator[Finding]:
    for name, value in node.items():
        path = f"{prefix}.{name}" if prefix else name
        key = known(path)
        if key is not None:
            if not fits(key.kind, value):
                yield Finding(path, f"must be {_NAMES[key.kind]}", unknown=False)
        elif _is_branch(path):
            if isinstance(value, dict):
                yield from _check_node(value, path)
            elif value is not None:
                yield Finding(path, "must be an object", unknown=False)
        else:
            yield Finding(path, "unknown key", unknown=True)


def _is_branch(path: str) -> bool:
    parts = path.split(".")
    return any(
        len(key.path.split(".")) > len(parts) and _matches(key.path.split(".")[: len(parts)], parts) for key in KEYS
    )


def _check_agent(agent: dict[str, Any], place: str) -> Iterator[Finding]:
    own = {key.path: key for key in AGENT_KEYS}
    for name, value in agent.items():
        if name in own:
            if not fits(own[name].kind, value):
                yield Finding(f"{place}.{name}", f"must be {_NAMES[own[name].kind]}", unknown=False)
            continue
        for finding in _check_node({name: value}, "agents.defaults"):
            yield finding._replace(path=finding.path.replace("agents.defaults", place, 1))
