from hypothesis import given
from hypothesis import strategies as st

from oc.memory.session_delta import Delta, grown
from tests.support import vectors


@vectors("memory-session-delta")
def test_session_delta(case):
    limits = case.input["thresholds"]
    content, delta, dirty, log = "", Delta(), False, []
    for added in case.input["appends"]:
        content += added if isinstance(added, str) else "x" * added
        delta, due = grown(
            delta,
            len(content),
            lambda start, end, text=content: text[start:end].count("\n"),
            max_bytes=limits["deltaBytes"],
            max_messages=limits["deltaMessages"],
        )
        dirty = dirty or due
        log.append(
            {
                "syncTriggered": due,
                "pendingBytes": delta.bytes,
                "pendingMessages": delta.messages,
                "lastSize": delta.size,
                "dirty": dirty,
            }
        )
    assert case.expected == log


def test_a_file_that_shrank_counts_whole():
    delta, due = grown(Delta(100, 0, 0), 40, lambda start, end: end - start, max_bytes=1000, max_messages=50)
    assert (Delta(40, 40, 40), False) == (delta, due)


def test_lines_are_not_counted_once_the_bytes_decide():
    def never(*_):
        raise AssertionError

    assert (Delta(10, 10, 0), True) == grown(Delta(), 10, never, max_bytes=10, max_messages=1)
    assert (Delta(10, 10, 0), False) == grown(Delta(), 10, never, max_bytes=11, max_messages=0)


def test_nothing_new_is_not_due():
    assert (Delta(5), False) == grown(Delta(5), 5, lambda *_: 0, max_bytes=0, max_messages=0)


@given(st.lists(st.integers(0, 50), max_size=8), st.integers(1, 100))
def test_bytes_add_up_and_due_stays_due(growth, limit):
    delta, size, seen = Delta(), 0, False
    for step in growth:
        size += step
        delta, due = grown(delta, size, lambda *_: 0, max_bytes=limit, max_messages=0)
        assert delta.bytes == size
        assert due >= seen
        seen = due
