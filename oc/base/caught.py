"""The exception of foreign code as a value: what the clients of plugins raise is open, so no classes can be named.

Used where a plugin of `llm` is called and nowhere else (tests/rules holds that); nothing of ours runs in such a block.
"""

from types import TracebackType
from typing import Self


class Caught:
    """A `with` block that ends its exception in `error`; interrupts and exits go through."""

    error: Exception | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> bool:
        self.error = error if isinstance(error, Exception) else None
        return self.error is not None
