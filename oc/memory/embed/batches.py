"""How texts are sent: packed into requests, and several requests at a time."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def packed(sizes: Sequence[int], max_bytes: int, max_items: int | None = None) -> list[list[int]]:
    """Returns the indices of texts of those sizes in batches of at most `max_bytes`, in order.

    A text larger than that is alone. Table: tests/vectors/memory-retry.json.
    """
    batches: list[list[int]] = []
    total = 0
    for index, size in enumerate(sizes):
        if not batches or total + size > max_bytes or len(batches[-1]) == max_items:
            batches.append([])
            total = 0
        batches[-1].append(index)
        total += size
    return batches


def in_parallel(work: Callable[[T], R], items: Sequence[T], workers: int) -> Iterator[R]:
    """Yields the results in order, `workers` items at a time; `work` must not raise.

    Threads are daemons: a program that is interrupted does not wait for an answer. Closing starts no more items.
    """
    if workers <= 1 or len(items) <= 1:
        yield from map(work, items)
        return
    from queue import Empty, SimpleQueue
    from threading import Thread

    results = [SimpleQueue[R]() for _ in items]
    left = SimpleQueue[int]()
    for number in range(len(items)):
        left.put(number)

    def run() -> None:
        with suppress(Empty):
            while True:
                number = left.get_nowait()
                results[number].put(work(items[number]))

    for _ in range(min(workers, len(items))):
        Thread(target=run, daemon=True).start()
    try:
        for result in results:
            yield result.get()
    finally:
        with suppress(Empty):
            while True:
                left.get_nowait()
