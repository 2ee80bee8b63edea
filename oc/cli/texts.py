"""Texts that are kept for ever, from the command line or stdin: what is no text is refused, never mended."""

import sys

from oc.errors import BadInput

_NAME = "stdin"


def argument(text: str, name: str = "TEXT") -> str:
    """Returns an argument as it is; raises BadInput when it was not UTF-8: Python then has surrogates in it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadInput(f"{name} is not UTF-8") from None
    return text


def from_stdin(*, nul: bool = True) -> str:
    """Returns all of stdin; raises BadInput with the first line that is not UTF-8 or, unless `nul`, holds a NUL."""
    data = sys.stdin.buffer.read()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise BadInput("not UTF-8", path=_NAME, line=data.count(b"\n", 0, error.start) + 1) from None
    at = -1 if nul else data.find(b"\0")
    if at >= 0:
        raise BadInput("holds a NUL", path=_NAME, line=data.count(b"\n", 0, at) + 1)
    return text
