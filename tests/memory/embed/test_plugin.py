"""Embedding models that llm serves: one of a plugin, and OpenAI's against a server on loopback."""

import pytest

from oc.errors import Unavailable
from oc.memory.embed.interface import Failure
from oc.memory.embed.plugin import plugin_embedder
from tests.loopback_embeddings import Answer, embed, serving

SECRET = "stored-key-0123456789"


@pytest.fixture(autouse=True)
def llm_home(tmp_path, monkeypatch):
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


class Status(Exception):
    def __init__(self, text, status_code=None):
        super().__init__(text)
        self.status_code = status_code


@pytest.fixture
def plugin():
    """Registers a plugin with one embedding model; `errors` are raised first, one a call."""
    import llm
    from llm.plugins import load_plugins, pm

    class Words(llm.EmbeddingModel):
        model_id = "words-16"
        batch_size = 3
        errors = []  # noqa: RUF012
        calls = []  # noqa: RUF012

        def embed_batch(self, items):
            items = list(items)
            self.calls.append(items)
            if self.errors:
                raise self.errors.pop(0)
            return iter([embed(item) for item in items])

    class Plugin:
        @llm.hookimpl
        def register_embedding_models(self, register):
            register(Words(), aliases=("words",))

    Words.errors, Words.calls = [], []
    load_plugins()
    registered = Plugin()
    pm.register(registered, name="test-words")
    yield Words
    pm.unregister(registered)


def test_a_model_of_a_plugin_by_id_or_alias(plugin):
    for name in ("words-16", "words"):
        embedder = plugin_embedder(name)
        assert ("llm", "words-16") == (embedder.provider, embedder.model)
        assert pytest.approx(embed("a b"), abs=1e-6) == list(embedder.embed_query("a b\n"))
    found = embedder.embed_passages(["a", "b", "c", "d"])
    assert [["a", "b", "c"], ["d"]] == plugin.calls[-2:]
    assert [] == found.problems


@pytest.mark.usefixtures("plugin")
def test_an_unknown_model_is_named_with_those_there_are():
    with pytest.raises(Failure, match="llm has no embedding model 'bge'") as caught:
        plugin_embedder("bge")
    assert "words-16" in caught.value.hint
    with pytest.raises(Failure, match="no model is named"):
        plugin_embedder("")


def test_what_a_plugin_raises_is_told_without_keys(plugin, llm_home):
    (llm_home / "keys.json").write_text(f'{{"x": "{SECRET}"}}')
    plugin.errors = [Status(f"bad key\n {SECRET}", 401)]
    with pytest.raises(Unavailable, match=r"^llm embeddings: bad key \*\*\*$"):
        plugin_embedder("words").embed_query("q")


def test_an_error_without_words_is_named_by_its_class(plugin):
    plugin.errors = [Status("")]
    with pytest.raises(Unavailable, match="llm embeddings: Status"):
        plugin_embedder("words").embed_query("q")


@pytest.mark.parametrize("error", [Status("slow", 429), Status("Rate limit reached"), Status("503 busy")])
def test_what_may_pass_is_tried_again(plugin, error):
    embedder = plugin_embedder("words")
    embedder.sleep = lambda _: None
    plugin.errors = [error]
    assert [] == embedder.embed_passages(["a"]).problems
    assert 2 == len(plugin.calls)


def test_a_refused_text_costs_no_other_its_vector(plugin):
    plugin.errors = [Status("too long", 400), Status("too long", 400)]
    found = plugin_embedder("words").embed_passages(["a", "b", "c"])
    assert [(0, "llm embeddings: too long")] == found.problems
    assert [False, True, True] == [vector is not None for vector in found.vectors]


def test_a_model_with_an_address_of_its_own_does_not_get_the_providers_key(plugin, monkeypatch):
    monkeypatch.setattr(plugin, "api_base", "http://127.0.0.1:9", raising=False)
    monkeypatch.setattr(plugin, "key_env_var", "OPENAI_API_KEY")
    assert plugin_embedder("words").engine._model.key_env_var is None


def test_openais_model_through_llm(monkeypatch):
    with serving() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base + "/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        found = plugin_embedder("3-small").embed_query("hello world")
    assert pytest.approx(embed("hello world"), abs=1e-6) == list(found)
    assert ("/v1/embeddings", "text-embedding-3-small") == (server.requests[0].path, server.requests[0].body["model"])


def test_openais_errors_through_llm(monkeypatch):
    with serving(rule=lambda _: Answer({"error": {"message": "no access"}}, 403)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base + "/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        with pytest.raises(Unavailable, match=r"llm embeddings: .*no access"):
            plugin_embedder("3-small").embed_query("q")


def test_a_missing_key_is_told():
    with pytest.raises(Unavailable, match="llm embeddings: No key found"):
        plugin_embedder("3-small").embed_query("q")
