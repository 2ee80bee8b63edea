"""What a tool is: a name, words and a schema for the model, and a function from arguments to a result.

A tool that fails answers with an error result, which the model reads; it never ends the turn.
"""

from collections.abc import Callable, Iterable

from oc.base.typed import Any, NamedTuple
from oc.errors import OcError

Arguments = dict[str, Any]


class Result(NamedTuple):
    """`details` are stored beside the text and never shown to a model."""

    text: str
    failed: bool = False
    details: dict[str, Any] | None = None


class Tool(NamedTuple):
    """`summary` is its line in the system prompt; `parameters` a JSON schema of plain properties."""

    name: str
    summary: str
    description: str
    parameters: dict[str, Any]
    run: Callable[[Arguments], Result]


def schema(required: Iterable[str], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def failed(text: str) -> Result:
    return Result(text, failed=True)


def call(tool: Tool | None, name: str, arguments: Any) -> Result:
    """Runs a tool on what a model gave it; whatever is wrong with that is an error result."""
    if tool is None:
        return failed(f"there is no tool {name!r} in this session")
    fitted, problem = fit(arguments, tool.parameters)
    if problem is not None:
        return failed(f"{tool.name}: {problem}")
    try:
        return tool.run(fitted)
    except OcError as error:
        return failed(f"{tool.name}: {error}" + (f" ({error.hint})" if error.hint else ""))
    except OSError as error:
        return failed(f"{tool.name}: {(error.strerror or str(error)).lower()}")


def fit(arguments: Any, parameters: dict[str, Any]) -> tuple[Arguments, str | None]:
    """Returns the arguments as the schema has them, and what is wrong with them, if anything.

    Null is the same as left out, and "5" or 5.0 for a whole number is taken as 5: models write such things.
    """
    if not isinstance(arguments, dict):
        return {}, "the arguments must be a JSON object"
    properties = parameters["properties"]
    fitted: Arguments = {}
    for name, value in arguments.items():
        if value is None:
            continue
        if name == "_raw":
            return {}, "the arguments were no valid JSON object"
        if name not in properties:
            return {}, f"no argument {name!r}; there are: {', '.join(properties)}"
        taken = _taken(value, properties[name])
        if taken is None:
            return {}, f"{name} must be {_described(properties[name])}"
        fitted[name] = taken
    for name in parameters["required"]:
        if name not in fitted:
            return {}, f"{name} is missing"
    return fitted, None


def _taken(value: Any, rule: dict[str, Any]) -> Any:
    """Returns the value in the rule's type, None where it does not fit."""
    kind = rule["type"]
    if kind == "string":
        return value if isinstance(value, str) and value.strip() else None
    if kind == "boolean":
        return value if isinstance(value, bool) else {"true": True, "false": False}.get(str(value).lower())
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
        whole = kind == "integer"
        number = int(number) if whole and number.is_integer() else number
    except (TypeError, ValueError, OverflowError):
        return None
    if whole and not isinstance(number, int):
        return None
    low, high = rule.get("minimum"), rule.get("maximum")
    inside = (low is None or number >= low) and (high is None or number <= high)
    return number if inside else None


def _described(rule: dict[str, Any]) -> str:
    words = {"string": "a text that is not blank", "boolean": "true or false", "integer": "a whole number"}
    said = words.get(rule["type"], "a number")
    if "minimum" in rule:
        said += f" from {rule['minimum']}" + (f" to {rule['maximum']}" if "maximum" in rule else "")
    return said
