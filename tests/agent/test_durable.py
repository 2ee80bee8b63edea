"""What the built-in model notes of a conversation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.agent.durable import MAX_CHARS, MAX_FACTS, durable
from oc.base.text import len16


def user(text):
    return {"role": "user", "content": text}


def assistant(text, model="x"):
    return {"role": "assistant", "content": [{"type": "text", "text": text}], "model": model}


URL = "postgresql://shop:s3@pg-b.internal:5432/orders?sslmode=require"
ENGLISH = [
    user("We need to move the database. It's pg-a at the moment, the new one is pg-b."),
    assistant("I'll look at config/db.yml first."),
    user(f"The connection string is {URL}"),
    assistant("Done. I updated config/db.yml so the app connects to pg-b."),
    user("Should we build the reporting endpoint with GraphQL?"),
    assistant("No. The REST API already covers every query the dashboard makes."),
    user("The browser shows a CORS error."),
    assistant(
        "The preflight failed since the header was a wildcard while credentials are sent. I set:\n"
        "```\nAccess-Control-Allow-Origin: https://app.example.com\n```\n"
        "It must be a concrete origin, never `*`."
    ),
]
CHINESE = [
    user(f"数据库要从 pg-a 迁移到 pg-b，连接串是 {URL}"),
    assistant("好的，我来看看 config/db.yml。"),
    user("报表接口要不要用 GraphQL？"),
    assistant("不用。现有的 REST API 已经覆盖了仪表盘的全部查询。"),
    user("浏览器报 CORS 错误。"),
    assistant("因为带了 cookie，响应头不能用通配符。我把 Access-Control-Allow-Origin 设为 https://app.example.com。"),
]


@pytest.mark.parametrize(
    ("talk", "wanted"),
    [
        (ENGLISH, ("pg-a", "pg-b", URL, "GraphQL", "REST API already covers", "https://app.example.com", "wildcard")),
        (CHINESE, ("pg-a", "pg-b", URL, "GraphQL", "REST API 已经覆盖", "https://app.example.com", "不能用通配符")),
    ],
    ids=["en", "zh"],
)
def test_values_reasons_and_rules_are_kept(talk, wanted):
    noted = "\n".join(durable(talk))
    assert [] == [part for part in wanted if part not in noted]


def test_a_decision_stands_with_its_reason_and_a_short_answer_with_its_question():
    assert ["We will not use GraphQL. The REST endpoints serve all of it."] == durable(
        [user("We will not use GraphQL. The REST endpoints serve all of it.")]
    )
    assert ["The old disk is full. So we move to pg-b."] == durable([user("The old disk is full. So we move to pg-b.")])
    assert ["Which port does staging use? 5433"] == durable([assistant("Which port does staging use?"), user("5433")])
    talk = [user("要不要用 GraphQL？"), assistant("不用，REST 够了。")]
    assert ["要不要用 GraphQL？不用，REST 够了。"] == durable(talk)


@pytest.mark.parametrize(
    "talk",
    [
        [],
        [user("hello"), assistant("Hi there! How can I help you today?")],
        [user("你好"), assistant("你好！有什么可以帮你？")],
        [user("第 3 轮：请检查 logs/job-3.log 里的错误。"), user("Step 4: please check logs/job-4.log")],
        [assistant("**Fixed `src/app.py`**:"), assistant("**Fixed v1.2.3:**")],
        [user("Please read src/app.py"), assistant("Let me read src/app.py.")],
        [user("Tell me a joke"), assistant("Why did the chicken cross the road? To get to the other side.")],
        [assistant("> the port is 5432\nSource: memory/2026-03-16.md#L3", model="oc-offline")],
        [{"role": "toolResult", "content": [{"type": "text", "text": "DB=postgres://x@y.internal/z"}]}],
        [{"role": "compactionSummary", "summary": "we decided to use pg-b.internal:5432"}],
    ],
)
def test_small_talk_orders_and_what_memory_said_are_no_facts(talk):
    assert [] == durable(talk)


def test_what_was_asked_to_be_remembered_is_noted_without_the_asking():
    talk = [user("Remember: the deploy key is in vault/deploy"), user("请记住：发布窗口是每周二 10:00")]
    assert ["the deploy key is in vault/deploy", "发布窗口是每周二 10:00"] == durable(talk)


@pytest.mark.parametrize(
    ("talk", "expected"),
    [
        ([user("GraphQL? No, REST is enough.")], ["GraphQL? No, REST is enough."]),
        ([user("host=pg-b port=5432 dbname=orders user=app")], ["host=pg-b port=5432 dbname=orders user=app"]),
        ([user("把数据库从pg-a换到pg-b吧")], ["把数据库从pg-a换到pg-b吧"]),
        ([user("GraphQL 就不上了，REST 接口够用。")], ["GraphQL 就不上了，REST 接口够用。"]),
    ],
)
def test_other_ways_to_say_it(talk, expected):
    assert expected == durable(talk)


def test_an_address_that_is_only_written_into_a_file_is_a_fact():
    arguments = {
        "path": "a.ts",
        "oldText": "https://old.example.com",
        "newText": "x\nres.header('https://app.example.com')",
    }
    edit = {"type": "toolCall", "id": "1", "name": "edit", "arguments": arguments}
    noted = {"type": "toolCall", "id": "2", "name": "memory_add", "arguments": {"text": "db.internal:5432"}}
    talk = [{"role": "assistant", "content": [edit, noted], "model": "x"}]
    assert ["res.header('https://app.example.com')"] == durable(talk)


def test_an_order_that_decides_is_a_fact():
    talk = [user("Please use pg-c instead of pg-b from now on."), user("好的，请改用 pg-c，不再用 pg-b。")]
    assert [one["content"] for one in talk] == durable(talk)


def test_the_weightiest_stay_in_the_order_in_which_they_were_said():
    talk = [user(f"Host number {n} is db-{n}.internal:5432 for now.") for n in range(MAX_FACTS + 50)]
    talk.insert(100, user("We decided to keep Postgres because the team knows it."))
    noted = durable(talk)
    assert MAX_FACTS == len(noted)
    assert "We decided to keep Postgres because the team knows it." == noted[100]
    assert "Host number 0 is db-0.internal:5432 for now." == noted[0]


def test_a_long_sentence_is_cut_and_its_values_stay():
    (noted,) = durable([user("We decided to use " + "words and " * 90 + "https://far.example.com/end at last")])
    assert len16(noted) < MAX_CHARS + 100
    assert noted.endswith("… https://far.example.com/end")


def test_a_fact_is_noted_once():
    assert 1 == len(durable([user("Staging is at db.internal:5432 now.")] * 3))


TEXTS = st.lists(
    st.sampled_from(
        [
            "We use x.",
            "because of 5",
            "?",
            "是否用 A？",
            "不用。",
            "https://a.example/b",
            "```",
            "| a:5432 |",
            "\n",
            " ",
        ]
    )
    | st.text(max_size=20),
    max_size=8,
).map("".join)


@given(st.lists(st.builds(user, TEXTS) | st.builds(assistant, TEXTS), max_size=6))
def test_any_conversation_gives_single_lines_each_once(talk):
    noted = durable(talk)
    assert noted == durable(talk)
    assert len(noted) == len({line.casefold() for line in noted}) <= MAX_FACTS
    assert all(line.strip() and "\n" not in line for line in noted)
