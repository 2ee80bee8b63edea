"""The rules of the built-in model: what it takes for a request to remember, for a question, and what it quotes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.agent.rules import Done, best_lines, facts_of, is_question, respond, terms
from oc.agent.tools.recall import Passage, fenced

ALL = {"memory_search", "memory_get", "memory_add", "read"}


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ("Remember: the port is 5433", ["the port is 5433"]),
        ("remember that the port is 5433", ["the port is 5433"]),
        ("Please remember that Müller owns billing.", ["Müller owns billing."]),
        ("Hi! Could you please note that we ship on Friday?", ["we ship on Friday?"]),
        ("note: a", ["a"]),
        ("Note that a < b", ["a < b"]),
        ("Make a note: buy milk", ["buy milk"]),
        ("Keep in mind that x", ["x"]),
        ("Don't forget to call Bob", ["call Bob"]),
        ("remember my birthday is May 4", ["my birthday is May 4"]),
        ("Remember the following:\n- a is 1\n- b is 2", ["a is 1", "b is 2"]),
        ("Remember:\nfirst line\nsecond line", ["first line\nsecond line"]),
        ("记住：预发布数据库在 pg-b.internal:5432", ["预发布数据库在 pg-b.internal:5432"]),
        ("请记住，周五发布", ["周五发布"]),
        ("请帮我记一下: 会议在三点", ["会议在三点"]),
        ("你好，记住密码轮换是每月一号", ["密码轮换是每月一号"]),
        ("记得周五交报告", ["周五交报告"]),
        ("记住以下内容：\n1. 甲\n2. 乙", ["甲", "乙"]),
        ("Notes are useful", []),
        ("Remember when we met?", []),
        ("remember", []),
        ("你还记得数据库在哪里吗？", []),
        ("记得数据库在哪里吗？", []),
        ("I remember that", []),
        ("where is it?", []),
        ("", []),
    ],
)
def test_what_is_to_be_remembered(said, facts):
    assert facts == facts_of(said)


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("where is the staging database?", True),
        ("What's the port", True),
        ("tell me about Müller", True),
        ("the port, again?", True),
        ("预发布数据库在哪里", True),
        ("谁负责账单？", True),
        ("我们用的是 MySQL 吗", True),
        ("查一下端口", True),
        ("what changed?\n\ncommit 1\ncommit 2", True),
        ("hello", False),
        ("The port is 5433.", False),
        ("谢谢", False),
        ("", False),
    ],
)
def test_what_is_a_question(said, question):
    assert question == is_question(said)


def test_it_says_what_it_is_when_it_can_do_nothing():
    assert "not a language model" in respond("write me a poem", [], ALL).text
    assert "不是语言模型" in respond("写一首诗", [], ALL).text


def test_remembering_calls_the_tool_once_for_each_fact_and_then_tells_where():
    said = "Remember:\n- a is 1\n- b is 2"
    assert [("memory_add", {"text": "a is 1"}), ("memory_add", {"text": "b is 2"})] == respond(said, [], ALL).calls
    done = [
        Done("memory_add", {"text": "a is 1"}, "Written to memory/2026-03-16.md#L1"),
        Done("memory_add", {"text": "b is 2"}, "Written to memory/2026-03-16.md#L2"),
    ]
    reply = respond(said, done, ALL)
    assert () == reply.calls
    expected = "Noted: a is 1\nSource: memory/2026-03-16.md#L1\nNoted: b is 2\nSource: memory/2026-03-16.md#L2"
    assert expected == reply.text


def test_a_note_that_could_not_be_written_is_said():
    done = [Done("memory_add", {"text": "a"}, "memory_add: read-only file system", failed=True)]
    assert "Not noted: memory_add: read-only file system" == respond("Remember: a", done, ALL).text
    assert respond("记住：甲", done, ALL).text.startswith("没有记下")


def test_without_the_tools_it_says_so():
    assert "cannot note" in respond("Remember: a", [], set()).text
    assert "cannot look" in respond("where is a?", [], {"memory_add"}).text
    assert "无法" in respond("记住：甲", [], set()).text
    assert "无法" in respond("甲在哪里", [], set()).text


def passage(*lines, path="memory/2026-03-16.md", start=1, around=None):
    return Passage(path, start, start + len(lines) - 1, lines, 0.9, around)


def answered(said, *passages):
    return respond(said, [Done("memory_search", {"query": said}, fenced(passages))], ALL)


def test_a_question_is_searched_then_answered_with_line_and_place():
    said = "where is the staging database?"
    assert [("memory_search", {"query": said})] == respond(said, [], ALL).calls
    found = passage("# Monday", "- lunch with Ann", "- the staging database moved to pg-b.internal:5432", start=4)
    expected = "> the staging database moved to pg-b.internal:5432\nSource: memory/2026-03-16.md#L6"
    assert expected == answered(said, found).text


def test_the_same_in_chinese():
    found = passage("- 午饭", "- 预发布数据库已迁到 pg-b.internal:5432")
    expected = "> 预发布数据库已迁到 pg-b.internal:5432\n来源: memory/2026-03-16.md#L2"
    assert expected == answered("预发布数据库在哪里？", found).text


def test_nothing_found_is_said():
    done = [Done("memory_search", {}, "Nothing is recorded about that.")]
    assert "I have nothing on that." == respond("where is x?", done, ALL).text
    assert "没有相关的记录。" == respond("甲在哪里？", done, ALL).text


def test_where_nothing_shown_answers_more_of_the_note_is_opened():
    cut = passage("- something else", start=3, around=(1, 5))
    said = "who owns billing?"
    reply = answered(said, cut)
    assert [("memory_get", {"path": "memory/2026-03-16.md", "from": 1, "lines": 5})] == reply.calls
    whole = passage("- a", "", "- something else", "- Müller owns billing", "")
    done = [Done("memory_search", {}, fenced([cut])), Done("memory_get", {}, fenced([whole]))]
    assert "> Müller owns billing\nSource: memory/2026-03-16.md#L4" == respond(said, done, ALL).text


def test_what_answers_is_not_opened():
    assert () == answered("who owns billing?", passage("- Müller owns billing", around=(1, 9))).calls


def test_a_failed_search_is_said():
    done = [Done("memory_search", {}, "memory_search: the index is locked", failed=True)]
    assert "the index is locked" in respond("where is x?", done, ALL).text


def test_a_hit_without_a_common_word_is_still_quoted():
    """Vectors find what shares no word with the question."""
    assert [("memory/2026-03-16.md", 2, "the port is 5433")] == list(
        best_lines("which socket?", [passage("# Head", "- the port is 5433", "- other")])
    )


def test_at_most_three_lines_best_first():
    lines = [f"- staging database {n}" for n in range(5)]
    found = list(best_lines("where is the staging database?", [passage("- database", *lines)]))
    assert [2, 3, 4] == [number for _, number, _ in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where is the staging database?", {"staging", "database"}),
        ("databases", {"database"}),
        ("预发布数据库在哪里", {"预发", "发布", "布数", "数据", "据库"}),
        ("谁", set()),
        ("", set()),
    ],
)
def test_terms(text, expected):
    assert expected <= terms(text)
    assert not {"the", "is", "where"} & terms(text)


@given(st.text(max_size=300), st.lists(st.text(max_size=200), max_size=3))
def test_any_text_gets_an_answer_or_a_known_call_and_always_the_same(said, results):
    done = [Done("memory_search", {}, result) for result in results]
    reply = respond(said, done, ALL)
    assert reply == respond(said, done, ALL)
    assert {name for name, _ in reply.calls} <= ALL
    assert bool(reply.text) != bool(reply.calls)


@given(st.lists(st.text(alphabet='ab中"<>&:# \u2028-/', max_size=30), min_size=1, max_size=5), st.integers(1, 99))
def test_fenced_text_reads_back_and_cannot_end_its_fence(lines, start):
    from oc.agent.tools.recall import parse

    given_passage = Passage('memory/a".md', start, start + len(lines) - 1, tuple(lines), 0.5, (1, 200))
    text = fenced([given_passage])
    (back,) = parse(text)
    assert given_passage._replace(score=None) == back
    assert 1 == text.count("</passage>") == text.count("</recalled>")
