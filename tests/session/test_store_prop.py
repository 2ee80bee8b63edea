"""Whatever stands in sessions.json, as long as it is an object, is listed, found and opened without a fault."""

from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from oc.base.clock import Clock, Ids
from oc.config.load import load
from oc.config.paths import places as places_of
from oc.errors import NotFound, Usage
from oc.session import store
from oc.session.find import Scope, find, sessions_of
from oc.session.open import Rules, freshness, open_session, touch
from oc.session.transcript import read
from tests.support import NOW_MS

odd = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=4),
    st.sampled_from(["../../x", "/etc/passwd", "a\0b", "\ud800", "~", "s1", "sub/x.jsonl"]),
    st.lists(st.integers(), max_size=1),
    st.just({}),
)
FIELDS = (
    "sessionId",
    "updatedAt",
    "sessionFile",
    "chatType",
    "channel",
    "lastChannel",
    "totalTokens",
    "provider",
    "room",
)
rows = st.dictionaries(st.sampled_from(FIELDS), odd, max_size=6)
ids = st.one_of(st.sampled_from(["s1", "s2"]), odd)
stores = st.dictionaries(
    st.sampled_from(["agent:main:main", "Agent:Main:MAIN", "main", "", "global", "agent:main:telegram:group:1"]),
    st.one_of(odd, rows, st.builds(lambda row, i: {**row, "sessionId": i}, rows, ids)),
    max_size=4,
)


@settings(max_examples=150)
@given(stores, st.sampled_from(["agent:main:main", "main", "s1", "telegram:group:1", ""]))
def test_any_store_is_read_and_opened(tmp_path_factory, content, name):
    home = str(tmp_path_factory.mktemp("state"))
    places = places_of(load(home, {}), home, "main", {})
    rules = Rules(load(home, {}), Clock(NOW_MS, ZoneInfo("UTC")), Ids("1"))
    store.update(places.store, lambda rows: rows.update({**content, "agent:main:last": None}))
    with open(places.store, "rb") as file:
        before = file.read()
    for ref in sessions_of(places):
        freshness(ref, rules)
        assert ref.path.startswith(home)
    try:
        found = find(name, Scope("main", lambda _: places))
        assert found.path.startswith(home)
    except NotFound:
        pass
    with open(places.store, "rb") as file:
        assert before == file.read()
    try:
        opened = open_session("agent:main:main", places, rules)
    except Usage:
        return
    assert opened.ref.session_id == read(opened.ref.path).header["id"]
    touch(opened.ref, places, rules, compactionCount=1)
    row = store.load(places.store)["agent:main:main"]
    assert (opened.ref.session_id, 1) == (row["sessionId"], row["compactionCount"])
    others = {key: value for key, value in content.items() if key.lower() != "agent:main:main"}
    assert set(others) <= set(store.load(places.store))
