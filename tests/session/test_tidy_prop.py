"""Whatever a sessions folder holds: what is protected stays, what was done need not be done again."""

from hypothesis import given
from hypothesis import strategies as st

from oc.session.archive import archive_name, is_archive, is_primary
from oc.session.maintain import File, Settings, referenced
from oc.session.store import store_text
from oc.session.tidy import Folder, plan
from tests.support import NOW_MS

DAY_MS = 86_400_000
ages = st.integers(0, 60)
ids = st.sampled_from(["s1", "s2", "s3", "s4"])
keys = st.sampled_from(["agent:main:main", "agent:main:x", "agent:main:cron:a:run:1", "agent:main:y", "global"])


def rows():
    row = st.builds(lambda i, age: {"sessionId": i, "updatedAt": NOW_MS - age * DAY_MS}, ids, ages)
    odd = st.sampled_from([None, 7, {}, {"sessionId": "../x", "updatedAt": 1}, {"sessionId": "s1"}])
    return st.dictionaries(keys, st.one_of(row, row, odd), max_size=5)


@st.composite
def names(draw):
    name = draw(ids) + draw(st.sampled_from(["", "-topic-7"])) + ".jsonl"
    kind = draw(st.sampled_from(["", "", "", "reset", "deleted", "bak", "lock"]))
    if kind == "lock":
        return name + ".lock"
    return archive_name(name, kind, NOW_MS - draw(ages) * DAY_MS) if kind else name


def listings():
    other = st.sampled_from(["notes.txt", "oc-events.jsonl", "s1.jsonl.bak-1-2", "sessions.json.bak.5", "x.tmp"])
    file = st.builds(lambda n, size, age: File(n, size, NOW_MS - age * DAY_MS), st.one_of(names(), other), ages, ages)
    return st.lists(file, max_size=8, unique_by=lambda file: file.name)


rules = st.builds(
    lambda days, entries, disk, keep: Settings(
        prune_after_ms=days * DAY_MS,
        max_entries=entries,
        reset_archive_ms=keep,
        max_disk_bytes=disk,
        high_water_bytes=None if disk is None else disk // 2,
        rotate_bytes=10**6,
    ),
    ages,
    st.integers(0, 5),
    st.one_of(st.none(), st.integers(0, 600)),
    st.one_of(st.none(), ages.map(lambda days: days * DAY_MS)),
)
folders = st.builds(
    lambda store, files, protected, dead: Folder(
        store,
        files,
        store_bytes=len(store_text(store)),
        dead={file.name: "gone" for file in files if file.name.endswith(".lock") and dead},
        protected=frozenset(protected),
    ),
    rows(),
    listings(),
    st.sets(keys),
    st.booleans(),
)


def done(folder, found):
    """Returns the folder as the steps leave it."""
    files = {file.name: file for file in folder.files}
    for step in found.steps:
        if step.action == "archive":
            file = files.pop(step.name)
            assert step.target not in files
            files[step.target] = file._replace(name=step.target)
        elif step.action == "delete":
            assert step.bytes == files.pop(step.name).bytes
    return folder._replace(store=found.store, files=list(files.values()), store_bytes=len(store_text(found.store)))


@given(folders, rules, st.booleans())
def test_what_is_protected_or_in_use_stays(folder, rules, every):
    found = plan(folder, rules, NOW_MS, all_orphans=every)
    assert {key for key in folder.store if key in folder.protected} <= set(found.store)
    assert all(folder.store[key] is row for key, row in found.store.items())
    touched = {step.name for step in found.steps if step.action in ("archive", "delete")}
    assert not touched & referenced(found.store.values(), [file.name for file in folder.files])
    assert all(is_primary(name) or is_archive(name) or name in folder.dead for name in touched)
    removed = [step.name for step in found.steps if step.action == "remove"]
    assert sorted([*removed, *found.store]) == sorted(folder.store)
    assert found.freed_bytes <= found.total_bytes


@given(folders, rules, st.booleans())
def test_what_was_done_need_not_be_done_again(folder, rules, every):
    once = plan(folder, rules, NOW_MS, all_orphans=every)
    again = plan(done(folder, once), rules, NOW_MS, all_orphans=every)
    assert [] == [step for step in again.steps if step.action != "keep"]
