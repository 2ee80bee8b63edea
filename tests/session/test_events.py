import multiprocessing

from oc.base.clock import Ids
from oc.session.events import pending, queue, remove
from tests.support import NOW_MS

KEY = "agent:main:main"


def add(path, text, key=KEY):
    return queue(str(path), {"sessionKey": key, "kind": "refresh", "text": text}, ids=Ids(), now_ms=NOW_MS)


def test_events_wait_for_their_session_until_they_are_removed(tmp_path):
    path = tmp_path / "deep" / "oc-events.jsonl"
    assert [] == pending(str(path), KEY)
    first, other, second = add(path, "一"), add(path, "x", "agent:main:other"), add(path, "two")
    assert [first, second] == pending(str(path), KEY.upper())
    assert {"id", "timestamp", "sessionKey", "kind", "text"} == set(first)
    remove(str(path), {first["id"]})
    assert [second] == pending(str(path), KEY)
    assert [other] == pending(str(path), "agent:main:other")
    assert 0o600 == path.stat().st_mode & 0o777


def test_lines_that_are_no_events_stay_and_do_no_harm(tmp_path):
    path = tmp_path / "oc-events.jsonl"
    path.write_bytes(b'\xff\x00\n{"id":1}\n[]\n{"id":"a","sessionKey":7}\ntorn')
    before = path.read_bytes()
    event = add(path, "x")
    assert [event] == pending(str(path), KEY)
    remove(str(path), {event["id"]})
    assert before + b"\n" == path.read_bytes()
    remove(str(path), {"unknown"})
    assert before + b"\n" == path.read_bytes()


def test_nothing_to_remove_makes_no_file(tmp_path):
    remove(str(tmp_path / "none.jsonl"), {"a"})
    assert [] == list(tmp_path.iterdir())


def test_events_of_many_processes_all_arrive(tmp_path):
    path = tmp_path / "oc-events.jsonl"
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=lambda: [add(path, str(n)) for n in range(10)]) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    found = pending(str(path), KEY)
    assert 40 == len({event["id"] for event in found})
