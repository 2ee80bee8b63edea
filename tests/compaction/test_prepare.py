"""What a compaction takes in and what it leaves, over sessions of all shapes."""

from hypothesis import given, settings
from hypothesis import strategies as st

from oc.base.clock import iso
from oc.base.tokens import CHARS4, ESTIMATE
from oc.compaction.cut import cut_points, find_cut
from oc.compaction.plan import counted_after, entry_of, joined, material, questions
from oc.compaction.prepare import messages_of, prepare
from oc.message.derived import from_entry
from oc.message.shapes import calls, result_id
from oc.message.size import total_tokens
from oc.session.context import context_entries
from tests.shapes import START_MS, branches

KEEP = st.sampled_from([0, 1, 10, 60, 400])
# A history is four branches and their compactions: half as many as of simpler things.
HALF = settings(max_examples=settings.default.max_examples // 2)


def user(text, **more):
    return {"type": "message", "message": {"role": "user", "content": text}, **more}


def answer(text, **more):
    return {"type": "message", "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}, **more}


def call(ident, tool="read", path="a.py"):
    block = {"type": "toolCall", "id": ident, "name": tool, "arguments": {"path": path}}
    return {"type": "message", "message": {"role": "assistant", "content": [block]}}


def result(ident, text):
    message = {
        "role": "toolResult",
        "toolCallId": ident,
        "toolName": "read",
        "content": [{"type": "text", "text": text}],
    }
    return {"type": "message", "message": message}


def chained(entries, start=0):
    for number, entry in enumerate(entries, start):
        entry.update(id=f"e{number}", parentId=f"e{number - 1}" if number else None, timestamp=iso(START_MS + number))
    return entries


def prepared(path, keep=10, counter=ESTIMATE):
    return prepare(path, keep_recent_tokens=keep, counter=counter, from_previous_kept=True)


def compacted(path, keep):
    """Returns the path with one more compaction, and the preparation; the path itself when there is nothing to do."""
    made = prepared(path, keep)
    if made is None or made.is_empty:
        return path, None
    asked = [question.part for question in questions(made, reserve_tokens=1000)]
    summary = joined(made, "H" if "history" in asked else None, "P" if "prefix" in asked else None)
    entry = entry_of(made, summary, summariser="m", timestamp=iso(START_MS))
    return [*path, *chained([entry], len(path))], made


@st.composite
def histories(draw):
    """A path that was compacted several times while it grew, and the preparations."""
    path, made = [], []
    for _ in range(draw(st.integers(1, 4))):
        path = [*path, *chained(draw(branches(10)), len(path))]
        path, preparation = compacted(path, draw(KEEP))
        made += [preparation] if preparation else []
    return path, made


@HALF
@given(histories())
def test_every_entry_is_summarised_or_in_the_context(history):
    """However often a branch is compacted, nothing that was said is in neither."""
    path, made = history
    said = {entry["id"] for entry in path if entry["type"] != "compaction" and from_entry(entry) is not None}
    summarised = {entry["id"] for preparation in made for entry in (*preparation.summarised, *preparation.prefix)}
    assert said <= summarised | {entry["id"] for entry in context_entries(path)}


@HALF
@given(histories())
def test_the_context_holds_one_summary_the_newest(history):
    path, made = history
    context = [entry["message"] for entry in context_entries(path)]
    summaries = [m["summary"] for m in context if m["role"] == "compactionSummary"]
    newest = [entry["summary"] for entry in path if entry["type"] == "compaction"][-1:]
    assert newest == summaries
    assert bool(made) == bool(summaries)
    assert context[: len(summaries)] == [m for m in context if m["role"] == "compactionSummary"]


@HALF
@given(histories())
def test_a_cut_never_parts_a_call_from_its_result(history):
    """A result that stays has its call with it, unless no call stands in the window."""
    _, made = history
    for preparation in made:
        window = [*preparation.summarised, *preparation.prefix, *preparation.kept]
        first_kept = len(window) - len(preparation.kept)
        called_at = {}
        for index, entry in enumerate(window):
            message = entry.get("message") or {}
            called_at.update({block["id"]: index for block in calls(message)})
            ident = result_id(message) if message.get("role") == "toolResult" else None
            if index >= first_kept and ident in called_at:
                assert called_at[ident] >= first_kept


@HALF
@given(histories())
def test_summarised_and_kept_are_the_window(history):
    """Without gap, without overlap, in order, from the first kept entry of the previous compaction on."""
    path, made = history
    for preparation in made:
        window = [*preparation.summarised, *preparation.prefix, *preparation.kept]
        assert preparation.kept[0]["id"] == preparation.first_kept_entry_id
        start = path.index(window[0])
        assert window == path[start : start + len(window)]
        older = [entry for entry in path[: start + len(window)] if entry["type"] == "compaction"]
        assert start == 0 or older[-1]["firstKeptEntryId"] == window[0]["id"]


@HALF
@given(histories(), st.text(max_size=30))
def test_the_count_afterwards_is_that_of_the_context_afterwards(history, summary):
    path, _ = history
    made = prepared(path)
    if made is None:
        return
    entry = entry_of(made, summary, summariser="m", timestamp=iso(START_MS))
    after = [e["message"] for e in context_entries([*path, *chained([entry], len(path))])]
    assert total_tokens(after, ESTIMATE) == counted_after(made, summary, ESTIMATE)
    before = [e["message"] for e in context_entries(path)]
    assert total_tokens(before, ESTIMATE) == made.counted_before


@given(branches(), KEEP)
def test_the_cut_lands_on_no_tool_result(path, keep):
    cut = find_cut(path, 0, len(path), keep, CHARS4)
    points = cut_points(path, 0, len(path))
    assert cut.first_kept == 0 or cut.first_kept in points or path[cut.first_kept]["type"] != "message"


def test_a_huge_result_at_the_end_does_not_stop_compaction():
    """The call and its result stay, what came before is summarised; the reference would keep everything."""
    path = chained([user("q"), answer("a" * 400), user("q2"), call("c"), result("c", "x" * 9000)])
    made = prepared(path, 100)
    assert made.first_kept_entry_id == "e3"
    assert [entry["id"] for entry in (*made.summarised, *made.prefix)] == ["e0", "e1", "e2"]
    assert find_cut(path, 0, 5, 100, ESTIMATE).first_kept == 0


def test_a_command_of_the_user_between_call_and_result_moves_the_cut_back():
    bash = {"type": "message", "message": {"role": "bashExecution", "command": "ls", "output": "o" * 400}}
    path = chained([user("q"), call("c"), bash, result("c", "r" * 40), answer("a")])
    assert find_cut(path, 0, 5, 60, ESTIMATE).first_kept == 2
    assert prepared(path, 60).first_kept_entry_id == "e1"


def test_what_the_previous_compaction_kept_is_in_the_next_window():
    """The reference begins after the compaction and loses e1 and e2."""
    path = chained([user("one"), user("two"), answer("three")])
    path += chained([{"type": "compaction", "summary": "S", "firstKeptEntryId": "e1", "tokensBefore": 1}], 3)
    path += chained([user("four"), answer("five" * 50)], 4)
    made = prepared(path, 20)
    assert [entry["id"] for entry in (*made.summarised, *made.prefix)] == ["e1", "e2", "e3", "e4"]
    assert [m["content"] for m in messages_of([*made.summarised, *made.prefix]) if m["role"] == "user"] == [
        "two",
        "four",
    ]
    reference = prepare(path, keep_recent_tokens=20, counter=ESTIMATE, from_previous_kept=False)
    assert [entry["id"] for entry in (*reference.summarised, *reference.prefix)] == ["e4"]


def test_a_compaction_that_kept_nothing_known_starts_after_it():
    """As in excerpts whose first kept entry is not in the file."""
    path = chained(
        [user("one"), {"type": "compaction", "summary": "S", "firstKeptEntryId": "gone"}, user("two"), answer("x" * 99)]
    )
    made = prepared(path)
    assert [entry["id"] for entry in (*made.summarised, *made.prefix, *made.kept)] == ["e2", "e3"]
    assert made.previous_summary == "S"


def test_one_long_turn_updates_the_summary_that_is_there():
    """A turn longer than the window is compacted twice: the previous summary is carried on, not replaced."""
    path = chained([user("q"), call("a"), result("a", "x" * 400), call("b"), result("b", "y" * 400)])
    path, _ = compacted(path, 100)
    path += chained([call("c"), result("c", "z" * 400), answer("end")], len(path))
    made = prepared(path, 60)
    history, prefix, previous = material(made)
    assert made.is_split_turn is False or prefix is None
    assert previous is not None
    assert [m["role"] for m in history][-2:] == ["assistant", "toolResult"]
    [asked] = questions(made, reserve_tokens=1000)
    assert "<previous-summary>\n" in asked.prompt


def test_the_file_lists_of_the_previous_summary_are_not_asked_about():
    path = chained([user("q"), call("a", path="a.md"), result("a", "x" * 400), user("y" * 400), answer("a2")])
    path, _ = compacted(path, 50)
    assert path[-1]["summary"] == "H\n\n<read-files>\na.md\n</read-files>"
    path += chained([user("z" * 400), answer("a3")], len(path))
    made = prepared(path, 50)
    assert material(made).previous_summary == "H"
    assert joined(made, "N", None) == "N\n\n<read-files>\na.md\n</read-files>"


def test_a_usage_from_before_the_previous_compaction_is_out_of_date():
    """The kept assistant reported 150,000 tokens of a context that is gone."""
    old = answer("three")
    old["message"] |= {"usage": {"totalTokens": 150_000}, "stopReason": "stop"}
    path = chained([user("one"), user("two"), old])
    path += chained([{"type": "compaction", "summary": "S" * 40, "firstKeptEntryId": "e1"}, user("four")], 3)
    assert prepared(path, 1).tokens_before == prepared(path, 1).counted_before < 50
    new = answer("five")
    new["message"] |= {"usage": {"totalTokens": 900}, "stopReason": "stop"}
    path += chained([new], 5)
    assert prepared(path, 1).tokens_before == 900


def test_nothing_to_prepare():
    """Right after a compaction, and without entries."""
    path = chained([user("q"), {"type": "compaction", "summary": "S", "firstKeptEntryId": "e0"}])
    assert prepared(path) is None
    assert prepared([]) is None


def test_a_session_within_the_limit_is_empty_work():
    assert prepared(chained([user("q"), answer("a")]), 20_000).is_empty


def test_details_of_a_hook_are_not_file_lists():
    hook = {
        "type": "compaction",
        "summary": "S",
        "firstKeptEntryId": "e0",
        "fromHook": True,
        "details": {"readFiles": ["x"]},
    }
    path = chained([user("q"), hook, user("two"), answer("y" * 99)])
    assert prepared(path).files.read == ()
