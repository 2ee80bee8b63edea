"""Reads oc.json and openclaw.json and answers "what holds, and why": flag > environment > oc.json > openclaw.json.

openclaw.json is never written, and keys in it that are not ours are silent. JSON is tried first, JSON5 when that fails.
"""

import os
import re
from collections.abc import Iterator, Mapping

from oc.base.jsonl import parse
from oc.base.text import pattern
from oc.base.typed import Any, NamedTuple
from oc.config.defaults import KEYS
from oc.config.schema import Finding, check, fits, known
from oc.errors import BadConfig

_ENV = r"\$\{([A-Z_][A-Z0-9_]*)\}"
_UNSET = object()


class Value(NamedTuple):
    """`origin`: `flag`, `environment`, `oc.json`, `openclaw.json` or `default`."""

    value: Any
    origin: str


class Layer(NamedTuple):
    origin: str
    path: str
    tree: dict[str, Any]


class Config:
    """The effective configuration of one agent; `warnings` are lines for stderr."""

    def __init__(self, layers: tuple[Layer, ...], agent: str | None = None, warnings: tuple[str, ...] = ()) -> None:
        self.layers = layers
        self.agent = agent
        self.warnings = warnings

    def for_agent(self, agent: str) -> "Config":
        """Returns the same configuration with that agent's overrides of agents.defaults in force."""
        return Config(self.layers, agent, self.warnings)

    def get(self, path: str) -> Any:
        """Returns the effective value of a known key; None where nothing sets it."""
        return self.explain(path).value

    def explain(self, path: str) -> Value:
        key = known(path)
        if key is None:
            raise KeyError(path)
        for value, origin in self._candidates(path):
            if value is not None and fits(key.kind, value):
                return Value(value, origin)
        default = list(key.default) if isinstance(key.default, tuple) else key.default
        return Value(default, "default")

    def _candidates(self, path: str) -> Iterator[tuple[Any, str]]:
        head, _, rest = path.partition("agents.defaults.")
        for layer in self.layers:
            if not head and rest and self.agent is not None:
                yield _dig(_listed_agent(layer.tree, self.agent), rest), layer.origin
            yield _dig(layer.tree, path), layer.origin

    def agents(self) -> list[dict[str, Any]]:
        """Returns the elements of agents.list of the strongest file that has one."""
        listed = self.get("agents.list")
        return listed if isinstance(listed, list) else []

    def names(self, path: str) -> list[str]:
        """Returns what stands for the `*` right below a path, in any of the files; a name with a dot is no name."""
        found = {name for layer in self.layers if isinstance(tree := _dig(layer.tree, path), dict) for name in tree}
        return sorted(name for name in found if "." not in name)

    def merged(self, path: str) -> dict[str, Any]:
        """Returns the object at a path with the members of all files, the strongest file's first in force.

        For names that may hold a dot, which no path can address; values are as they stand, of whatever type.
        """
        found: dict[str, Any] = {}
        for layer in reversed(self.layers):
            found = _over(found, _dig(layer.tree, path))
        return found

    def effective(self) -> Iterator[tuple[str, Value]]:
        """Yields every key that has a value, wildcard keys as they are set, in order of path."""
        paths = {key.path for key in KEYS if "*" not in key.path}
        for layer in self.layers:
            paths |= {path for path in _leaves(layer.tree) if known(path) is not None}
        for path in sorted(paths):
            yield path, self.explain(path)


def load(home: str, environ: Mapping[str, str]) -> Config:
    """Reads both files of a state directory; raises BadConfig with the key's path.

    An unknown key or a wrong type in oc.json is an error; in openclaw.json a wrong type of a key of ours is a warning.
    """
    layers = []
    warnings = []
    for name in ("oc.json", "openclaw.json"):
        path = os.path.join(home, name)
        tree = _read(path)
        if tree is _UNSET:
            continue
        if not isinstance(tree, dict):
            raise BadConfig("the configuration is not an object", path=path)
        if name == "oc.json":
            for finding in check(tree):
                raise BadConfig(f"{finding.path}: {finding.message}", path=path, hint="`oc config check` lists all")
        else:
            tree = _expand(tree, environ)
            warnings += [f"{path}: {f.path}: {f.message}; ignored" for f in check(tree) if not f.unknown]
        layers.append(Layer(name, path, tree))
    return Config(tuple(layers), None, tuple(warnings))


def findings(path: str) -> list[Finding]:
    """Returns what is wrong in one file, nothing when it is not there; raises BadConfig when it cannot be parsed."""
    tree = _read(path)
    return [] if tree is _UNSET else list(check(tree))


def _read(path: str) -> Any:
    try:
        with open(path, "rb") as file:
            raw = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return _UNSET
    except OSError as error:
        raise BadConfig(f"cannot be read: {os.strerror(error.errno or 0).lower()}", path=path) from None
    try:
        return parse(raw)
    except ValueError:
        return _parse_json5(raw, path)


def _parse_json5(raw: bytes, path: str) -> Any:
    import json5

    try:
        return json5.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        place = re.search(r":(\d+)", str(error))
        line = int(place[1]) if place else None
        raise BadConfig("neither JSON nor JSON5", path=path, line=line) from None


def _expand(value: Any, environ: Mapping[str, str]) -> Any:
    """Replaces ${NAME} in strings; a string that names an unset variable counts as not set."""
    if isinstance(value, str):
        if any(name not in environ for name in pattern(_ENV).findall(value)):
            return None
        return pattern(_ENV).sub(lambda m: environ[m[1]], value)
    if isinstance(value, dict):
        return {k: _expand(v, environ) for k, v in value.items()}
    if isinstance(value, list):
        return [_expand(v, environ) for v in value]
    return value


def _dig(tree: Any, path: str) -> Any:
    for part in path.split("."):
        if not isinstance(tree, dict):
            return None
        tree = tree.get(part)
    return tree


def _over(below: dict[str, Any], above: Any) -> dict[str, Any]:
    """Returns both trees as one; where both have a value that is no object, `above` counts unless it is null."""
    if not isinstance(above, dict):
        return below
    both = dict(below)
    for name, value in above.items():
        old = below.get(name)
        if isinstance(value, dict):
            both[name] = _over(old if isinstance(old, dict) else {}, value)
        elif value is not None:
            both[name] = value
    return both


def _listed_agent(tree: dict[str, Any], agent: str) -> Any:
    listed = _dig(tree, "agents.list")
    agents = listed if isinstance(listed, list) else ()
    return next((a for a in agents if isinstance(a, dict) and a.get("id") == agent), None)


def _leaves(node: Any, prefix: str = "") -> Iterator[str]:
    for name, value in node.items() if isinstance(node, dict) else ():
        path = f"{prefix}.{name}" if prefix else name
        yield path
        yield from _leaves(value, path)
