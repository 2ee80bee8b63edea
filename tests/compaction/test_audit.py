"""What a compaction lost: what counts as worth keeping, and where it may stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.compaction.audit import KINDS, VALUES, audit, retention


def path_of(*messages, summary="", kept=1, previous=None):
    """Returns a path that ends with a compaction which keeps the last `kept` messages."""
    entries = [{"type": "message", "id": f"m{n}", "message": message} for n, message in enumerate(messages)]
    if previous is not None:
        at, text, first = previous
        entries.insert(at, {"type": "compaction", "id": "old", "summary": text, "firstKeptEntryId": first})
    first_kept = f"m{len(messages) - kept}"
    return [*entries, {"type": "compaction", "id": "new", "summary": summary, "firstKeptEntryId": first_kept}]


def user(text):
    return {"role": "user", "content": text}


def said(text):
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def result(text, *, failed=False):
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": "c", "toolName": "exec", "content": content, "isError": failed}


def lost(*messages, notes=(), tools=False, **settings):
    return [(one.kind, one.value) for one in audit(path_of(*messages, **settings), notes, tools=tools).lost]


END = user("go on")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("urls", "https://example.com/a?b=1"),
        ("emails", "ops@example.com"),
        ("paths", "/srv/app/main.py"),
        ("hosts", "pg-b.internal:5432"),
        ("hashes", "9fceb02d0ae5"),
        ("hashes", "123e4567-e89b-12d3-a456-426614174000"),
        ("tickets", "OPS-431"),
        ("tickets", "#4711"),
        ("names", "MAX_POOL_SIZE"),
        ("versions", "v2.14.0"),
        ("dates", "2026-03-16"),
        ("numbers", "250 ms"),
        ("numbers", "30 分钟"),
    ],
)
def test_every_kind_of_value_is_lost_and_found(kind, value):
    """In the summary, a kept message, a call of one, or a note it is kept; nowhere it is lost."""
    talk = user(f"请看 {value} 。")
    call = {"role": "assistant", "content": [{"type": "toolCall", "name": "x", "arguments": {"deep": [value]}}]}
    assert [(kind, value)] == lost(talk, END)
    assert [] == lost(talk, END, summary=f"- {value.upper()}")
    assert [] == lost(talk, user(value))
    assert [] == lost(talk, call)
    assert [] == lost(talk, END, notes=["other", f"(`{value}`)\n"])


def test_a_piece_of_a_longer_value_is_not_the_value():
    assert [("tickets", "OPS-43")] == lost(user("OPS-43"), END, summary="OPS-431 DEVOPS-43")
    assert [] == lost(user("OPS-43"), END, summary="OPS-431，OPS-43。")


def test_a_loss_names_all_its_entries():
    (item,) = audit(path_of(user("OPS-1"), said("OPS-1 again"), user("nothing"), END), []).lost
    assert ("tickets", "OPS-1", ("m0", "m1")) == item


def test_the_output_of_tools_counts_when_it_failed_or_is_asked_for():
    assert [] == lost(result("see /etc/app/one.conf"), END)
    assert [("paths", "/etc/app/one.conf")] == lost(result("see /etc/app/one.conf"), END, tools=True)
    assert ("paths", "/etc/app/one.conf") in lost(result("no /etc/app/one.conf", failed=True), END)
    call = {"role": "assistant", "content": [{"type": "toolCall", "name": "x", "arguments": {"path": "/a/b.c"}}]}
    assert [] == lost(call, END)
    assert [("paths", "/a/b.c")] == lost(call, END, tools=True)


DECISION = "We decided to keep the REST API because it covers every report we need."
CHINESE = "我们决定改用连接池，因为每次新建连接太慢。"


@pytest.mark.parametrize(
    ("statement", "anew", "other"),
    [
        (DECISION, "Keep the REST API: it covers every report.", "The REST API has a cache."),
        (CHINESE, "决定改用连接池：每次新建连接太慢", "连接池在测试里"),
    ],
)
def test_a_statement_may_be_worded_anew(statement, anew, other):
    assert [("decisions", statement)] == lost(said(statement), END)
    assert [] == lost(said(statement), END, summary=f"## Key Decisions\n- {statement}")
    assert [] == lost(said(statement), END, summary=f"- {anew}")
    assert [] == lost(said(statement), END, notes=[f"- {anew}"])
    assert [("decisions", statement)] == lost(said(statement), END, summary=f"- {other}")


def test_words_that_are_spread_over_lines_are_no_statement():
    spread = "\n".join(DECISION.split())
    assert [("decisions", DECISION)] == lost(said(DECISION), END, summary=spread)


def test_a_question_is_open_until_somebody_answers():
    asked = user("Which port does the proxy use?")
    assert [("questions", "Which port does the proxy use?")] == lost(asked, {"role": "assistant", "content": []})
    assert [] == lost(asked, said("It is the usual one."))


def test_an_error_is_lost_healed_or_not():
    failed = result("starting\nValueError: bad pool", failed=True)
    expected = [("errors", "exec: ValueError: bad pool")]
    assert expected == lost(failed, END)
    assert expected == lost(failed, result("fine"), END)
    assert [] == lost(failed, END, summary="- exec: ValueError: bad pool")


def test_the_range_begins_where_the_compaction_before_began_to_keep():
    """And what that one's summary said belongs to it, under that one's id."""
    messages = (user("OPS-1"), user("OPS-2"), user("OPS-3"), END)
    done = audit(path_of(*messages, previous=(2, "- OPS-9", "m1")), [])
    assert [("OPS-9", ("old",)), ("OPS-2", ("m1",)), ("OPS-3", ("m2",))] == [(i.value, i.entry_ids) for i in done.lost]
    assert ("new", "m3", 2) == (done.compaction_id, done.first_kept_entry_id, done.summarised_entries)


def test_a_first_kept_entry_that_is_nowhere_keeps_nothing():
    path = path_of(user("OPS-1"), user("OPS-2"))
    path[-1]["firstKeptEntryId"] = "gone"
    assert ["OPS-1", "OPS-2"] == [item.value for item in audit(path, []).lost]


def test_what_is_no_message_says_nothing():
    path = path_of(user("OPS-1"), END)
    path[1:1] = [{"type": "label", "id": "x", "label": "OPS-2"}, {"type": "message", "id": "y"}, {"type": "strange"}]
    assert ["OPS-1"] == [item.value for item in audit(path, []).lost]


def test_notes_are_not_read_when_nothing_is_missing():
    def notes():
        yield pytest.fail("read")

    assert () == audit(path_of(user("OPS-1"), END, summary="OPS-1"), notes()).lost


def test_of_nothing_all_is_kept():
    assert (1.0, 0.75, 0.0) == (retention(0, 0), retention(4, 1), retention(2, 2))


_WORDS = [
    "OPS-1",
    "/a/b/c.py",
    "v1.2.3",
    "决定用 pg-b.internal",
    "why?",
    "we decided on it now",
    "#12",
    "10 ms",
    "\ud800",
]
_TEXT = st.lists(st.sampled_from(_WORDS)).map(" ".join)


@given(st.lists(_TEXT.map(user) | _TEXT.map(said) | _TEXT.map(lambda t: result(t, failed=True))), _TEXT, _TEXT)
def test_more_notes_never_lose_more(messages, summary, note):
    """The losses are part of what was found, each once, by kind; the whole conversation as a note loses no value."""
    path = path_of(*messages, END, summary=summary)
    bare, noted = audit(path, []), audit(path, [note])
    assert {*noted.lost} <= {*bare.lost} <= {*bare.found}
    assert len({item[:2] for item in bare.found}) == len(bare.found)
    order = [KINDS.index(item.kind) for item in bare.lost]
    assert order == sorted(order)
    whole = "\n".join(str(m["content"]) if isinstance(m["content"], str) else m["content"][0]["text"] for m in messages)
    assert not [item for item in audit(path, [whole]).lost if item.kind in VALUES]
