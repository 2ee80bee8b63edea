"""The wire formats and what can go wrong on the wire, with a real server."""

import math
import threading
import time

import pytest

from oc.config.load import Config, Layer
from oc.errors import Unavailable
from oc.memory.embed.choose import choose
from oc.memory.embed.http import Server
from oc.memory.embed.interface import Failure
from oc.memory.settings import settings
from tests.loopback_embeddings import Answer, embed, serving

KEY = "sk-secret-0123456789abcdef"


def open_at(base, provider="openai", path="/v1", **more):
    tree = {"provider": provider, "remote": {"baseUrl": base + path, "apiKey": KEY}, **more}
    config = Config((Layer("oc.json", "oc.json", {"agents": {"defaults": {"memorySearch": tree}}}),))
    embedder = choose(settings(config), config, {}).embedder
    embedder.sleep = lambda _: None
    embedder.workers = 1
    return embedder


def near(expected, vector):
    assert pytest.approx(expected, abs=1e-6) == list(vector)
    return True


def test_openai():
    with serving() as server:
        embedder = open_at(server.base, model="openai/text-embedding-3-large")
        assert near(embed("hello world"), embedder.embed_query(" hello world\n"))
        assert near(embed("部署"), embedder.embed_passages(["部署", "b"]).vectors[0])
    query, passages = server.requests
    assert ("/v1/embeddings", f"Bearer {KEY}", "application/json") == (
        query.path,
        query.headers["authorization"],
        query.headers["content-type"],
    )
    assert {"model": "text-embedding-3-large", "input": ["hello world"]} == query.body
    assert {"model": "text-embedding-3-large", "input": ["部署", "b"]} == passages.body
    assert (16, "openai", "text-embedding-3-large") == (embedder.dims, embedder.provider, embedder.model)


def test_answers_are_put_in_order():
    rows = [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]
    with serving(Answer({"data": rows})) as server:
        found = open_at(server.base).embed_passages(["a", "b"])
    assert [[1, 0], [0, 1]] == [list(vector) for vector in found.vectors]


def test_mistral():
    with serving() as server:
        open_at(server.base, "mistral").embed_query("x")
    assert {"model": "mistral-embed", "input": ["x"]} == server.requests[0].body


def test_voyage_tells_questions_from_passages():
    with serving() as server:
        embedder = open_at(server.base, "voyage", model="voyage/voyage-3")
        embedder.embed_query("q")
        embedder.embed_passages(["p"])
    assert [
        {"model": "voyage-3", "input": ["q"], "input_type": "query"},
        {"model": "voyage-3", "input": ["p"], "input_type": "document"},
    ] == [request.body for request in server.requests]


def test_gemini_tells_questions_from_passages():
    with serving() as server:
        embedder = open_at(server.base, "gemini", "/v1beta")
        assert near(embed("q"), embedder.embed_query("q"))
        assert near(embed("p2"), embedder.embed_passages(["p1", "p2"]).vectors[1])
    query, passages = server.requests
    assert ("/v1beta/models/gemini-embedding-001:embedContent", KEY) == (query.path, query.headers["x-goog-api-key"])
    assert "authorization" not in query.headers
    assert {"content": {"parts": [{"text": "q"}]}, "taskType": "RETRIEVAL_QUERY"} == query.body
    assert "/v1beta/models/gemini-embedding-001:batchEmbedContents" == passages.path
    assert {
        "model": "models/gemini-embedding-001",
        "content": {"parts": [{"text": "p1"}]},
        "taskType": "RETRIEVAL_DOCUMENT",
    } == passages.body["requests"][0]


def test_gemini_is_asked_for_a_size_where_it_has_several():
    with serving() as server:
        embedder = open_at(server.base, "gemini", model="gemini/gemini-embedding-2-preview", outputDimensionality=768)
        with pytest.raises(Unavailable, match="16 dimensions, not 768"):
            embedder.embed_query("q")
    assert 768 == server.requests[0].body["outputDimensionality"]


def test_gemini_takes_many_questions_in_one_request():
    with serving() as server:
        open_at(server.base, "gemini").embed_queries(["a", "b"])
    assert ["RETRIEVAL_QUERY"] * 2 == [r["taskType"] for r in server.requests[0].body["requests"]]


def test_ollama_gets_a_request_a_text():
    with serving() as server:
        embedder = open_at(server.base, "ollama")
        found = embedder.embed_passages(["a", "b"])
    assert [("/api/embeddings", {"model": "nomic-embed-text", "prompt": text}) for text in "ab"] == [
        (request.path, request.body) for request in server.requests
    ]
    assert near(embed("b"), found.vectors[1])


def test_requests_run_side_by_side_and_answers_stay_in_order():
    met = threading.Barrier(4)

    def meet(_):
        met.wait(30)  # passes only while four requests are under way

    with serving(rule=meet) as server:
        embedder = open_at(server.base, "ollama")
        embedder.workers = 4
        found = embedder.embed_passages([f"word{n}" for n in range(8)])
    assert all(near(embed(f"word{n}"), vector) for n, vector in enumerate(found.vectors))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Answer({"error": {"message": f"Incorrect API key: {KEY}"}}, 401), "401 Incorrect API key: ***"),
        (Answer({"error": "no such model"}, 404), "404 no such model"),
        (Answer({"detail": [{"msg": "x"}]}, 403), '403 [{"msg":"x"}]'),
        (Answer(b"<html>\n bad gateway ", 502), "502 <html> bad gateway"),
        (Answer(b"", 302, {"Location": "https://elsewhere.example/x?key=1"}), "302: redirects to elsewhere.example"),
        (Answer(b"not json"), "answered with something that is not JSON"),
        (Answer([]), "answered without 'data'"),
        (Answer({"data": [1]}), "answered without 'data'"),
        (Answer({"data": [{"embedding": None}]}), "the vector is no list of numbers"),
        (Answer({"data": []}), "the vector is no list of numbers"),
        (Answer(b'{"data":[{"embedding":[1,NaN]}]}'), "not JSON"),
        (Answer({"data": [{"embedding": [0, 0]}]}), "the vector is all zero"),
        (Answer(b'{"data"', cut=True), "the answer broke off"),
    ],
)
def test_what_goes_wrong_with_a_question_is_told_without_the_key(answer, message):
    with serving(answer) as server, pytest.raises(Unavailable) as caught:
        open_at(server.base).embed_query("q")
    assert message in str(caught.value)
    assert str(caught.value).startswith("openai embeddings")
    assert KEY not in str(caught.value)
    assert 1 == len(server.requests)


def test_a_redirect_is_not_followed():
    with serving() as other, serving(Answer(b"", 307, {"Location": other.base})) as server:
        with pytest.raises(Failure, match="redirects to 127"):
            open_at(server.base).embed_query("q")
        assert [] == other.requests


def test_nobody_there():
    with serving() as server:
        base = server.base
    with pytest.raises(Failure, match=r"cannot reach 127\.0\.0\.1:\d+: connection refused") as caught:
        open_at(base).embed_query("q")
    assert not caught.value.retryable


def test_the_time_limit_is_for_the_whole_answer():
    gate = threading.Event()
    with serving(Answer({}, gate=gate)) as server:
        began = time.monotonic()
        with pytest.raises(Failure, match=r"no answer of 127\.0\.0\.1:\d+ within 0\.05 s"):
            Server("x", server.base, {}).post("/", {"input": []}, timeout_s=0.05)
        gate.set()
    assert time.monotonic() - began < 25


def waits(answers, texts=("a",)):
    waited = []
    with serving(*answers) as server:
        embedder = open_at(server.base)
        embedder.sleep = waited.append
        try:
            found = embedder.embed_passages(list(texts))
        except Failure as failure:
            found = failure
    return found, waited, len(server.requests)


def test_what_may_pass_is_tried_four_times_with_growing_waits():
    found, waited, count = waits([Answer({"error": "slow down"}, 429)] * 4)
    assert isinstance(found, Failure)
    assert 4 == count
    assert all(low <= wait <= 1.2 * low for wait, low in zip(waited, (0.5, 1, 2), strict=True))


@pytest.mark.parametrize("answer", [Answer(b"", 500), Answer(b"", 503), Answer(b"{", cut=True), Answer(b"", 408)])
def test_the_second_attempt_may_succeed(answer):
    found, waited, count = waits([answer])
    assert near(embed("a"), found.vectors[0])
    assert (1, 2) == (len(waited), count)


def test_a_server_may_ask_for_a_longer_wait_within_bounds():
    assert [3.0] == waits([Answer(b"", 429, {"Retry-After": "3"})])[1]
    assert [8.0] == waits([Answer(b"", 429, {"Retry-After": "600"})])[1]
    assert [4.5] == waits([Answer(b"", 429, {"retry-after-ms": "4500", "Retry-After": "Mon, 1 Jan"})])[1]


@pytest.mark.parametrize(
    "answer",
    [
        Answer({"error": {"message": "x", "code": "insufficient_quota"}}, 401),
        Answer({"error": {"code": "insufficient_quota"}}, 429),
        Answer(b"", 404),
        Answer(b"nope"),
    ],
)
def test_what_cannot_pass_is_not_tried_again(answer):
    found, waited, count = waits([answer])
    assert isinstance(found, Failure)
    assert ([], 1) == (waited, count)


def test_a_question_is_asked_once():
    with serving(Answer(b"", 503)) as server, pytest.raises(Failure):
        open_at(server.base).embed_query("q")
    assert 1 == len(server.requests)


def test_one_bad_text_costs_no_other_its_vector():
    def rule(request):
        return Answer({"error": {"message": "input too long"}}, 400) if "bad" in request.texts else None

    texts = [f"word{n}" for n in range(5)] + ["bad"] + [f"word{n}" for n in range(5, 9)]
    with serving(rule=rule) as server:
        found = open_at(server.base).embed_passages(texts)
    assert [5] == [n for n, vector in enumerate(found.vectors) if vector is None]
    assert [(5, "openai embeddings: 400 input too long")] == found.problems
    assert all(near(embed(text), found.vectors[n]) for n, text in enumerate(texts) if text != "bad")
    assert len(server.requests) <= 1 + 2 * math.ceil(math.log2(len(texts)))


def test_ollama_says_500_for_a_text_that_is_too_long():
    def rule(request):
        long = "the input length exceeds the context length"
        return Answer({"error": long}, 500) if request.body["prompt"] == "bad" else None

    with serving(rule=rule) as server:
        found = open_at(server.base, "ollama").embed_passages(["a", "bad", "b"])
    assert ([1], 3) == ([p.text for p in found.problems], len(server.requests))


def test_bad_vectors_are_problems_of_their_texts():
    rows = [{"embedding": [1, 0]}, {"embedding": [0, 0]}, {"embedding": [1]}, {"embedding": "x"}, {"embedding": [0, 1]}]
    with serving(Answer({"data": rows})) as server:
        found = open_at(server.base).embed_passages(list("abcde"))
    assert [True, False, False, False, True] == [vector is not None for vector in found.vectors]
    assert [
        (1, "the vector is all zero"),
        (2, "the vector has 1 dimensions, not 2"),
        (3, "the vector is no list of numbers"),
    ] == found.problems


def test_a_failure_in_the_middle_keeps_what_is_there_and_stops():
    batch = "x" * 7000
    with serving(Answer({"data": [{"embedding": [1, 0]}]}), Answer({"error": "gone"}, 404)) as server:
        found = open_at(server.base).embed_passages([f"{batch}{n}" for n in range(4)])
    assert [True, False, False, False] == [vector is not None for vector in found.vectors]
    assert [(None, "openai embeddings: 404 gone")] == found.problems
    assert 2 == len(server.requests)


def test_a_server_that_refuses_everything_is_not_asked_for_every_text():
    with serving(rule=lambda _: Answer({"error": "unknown model"}, 400)) as server, pytest.raises(Failure, match="400"):
        open_at(server.base).embed_passages([f"{'x' * 5000}{n}" for n in range(100)])
    assert len(server.requests) < 20


def test_fewer_vectors_than_texts_are_none():
    with (
        serving(Answer({"data": [{"embedding": [1]}]})) as server,
        pytest.raises(Failure, match="1 vectors for 2 texts"),
    ):
        open_at(server.base).embed_passages(["a", "b"])


def test_headers_of_the_configuration_are_sent_and_hidden():
    value = "top-secret-header"
    with serving(Answer({"error": f"bad {value}"}, 403)) as server:
        tree = {"provider": "openai", "remote": {"baseUrl": server.base, "headers": {"X-Api-Key": value}}}
        config = Config((Layer("oc.json", "oc.json", {"agents": {"defaults": {"memorySearch": tree}}}),))
        with pytest.raises(Failure) as caught:
            choose(settings(config), config, {}).embedder.embed_query("q")
    assert value == server.requests[0].headers["x-api-key"]
    assert value not in str(caught.value)
