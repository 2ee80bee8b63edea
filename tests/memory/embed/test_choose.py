"""Which embedder is chosen, and which key goes where."""

import json

import pytest

from oc.config.load import Config, Layer
from oc.errors import BadConfig
from oc.memory.embed.choose import choose, fallback
from oc.memory.embed.local import installed
from oc.memory.embed.source import source
from oc.memory.settings import settings
from tests.loopback_embeddings import serving

no_local = pytest.mark.skipif(bool(installed()), reason="a local embedder is installed and comes first")
with_local = pytest.mark.skipif(not installed(), reason='needs the extra: pip install "oc-toolkit[embed]"')
ENV_KEYS = {"OPENAI_API_KEY": "env-openai", "GEMINI_API_KEY": "env-gemini", "VOYAGE_API_KEY": "env-voyage"}


@pytest.fixture(autouse=True)
def llm_home(tmp_path, monkeypatch):
    """No keys of the machine's own."""
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path))
    return tmp_path


def config(memory_search=None, providers=None):
    tree = {"agents": {"defaults": {"memorySearch": memory_search or {}}}, "models": {"providers": providers or {}}}
    return Config((Layer("oc.json", "oc.json", tree),))


def chosen(memory_search=None, providers=None, environ=None, llm_home="/nowhere"):
    made = config(memory_search, providers)
    return choose(settings(made), made, {"LLM_USER_PATH": str(llm_home), **(environ or {})})


def place(provider, memory_search=None, providers=None, environ=None, llm_home="/nowhere"):
    made = config({"provider": provider, **(memory_search or {})}, providers)
    return source(provider, settings(made), made, {"LLM_USER_PATH": str(llm_home), **(environ or {})})


@no_local
def test_nothing_is_chosen_by_default_whatever_keys_there_are():
    found = chosen(environ=ENV_KEYS)
    assert (None, "auto") == (found.embedder, found.requested)
    no_local_one, no_remote_one = found.reasons
    assert no_local_one.startswith("no local embedder is installed (")
    assert "no remote one is configured in agents.defaults.memorySearch.provider" == no_remote_one


@no_local
def test_auto_in_a_file_takes_the_first_provider_with_a_key():
    found = chosen({"provider": "auto"}, environ={"VOYAGE_API_KEY": "v", "MISTRAL_API_KEY": "m"})
    assert ("voyage", "voyage-4-large") == (found.embedder.provider, found.embedder.model)
    assert ["no local embedder", "no key for openai", "no key for gemini"] == [r[:17] for r in found.reasons]


@no_local
def test_auto_with_an_address_of_its_own_is_asked_there():
    found = chosen({"remote": {"baseUrl": "http://127.0.0.1:9/v1"}, "model": "bge"}, environ=ENV_KEYS)
    assert ("openai", "bge") == (found.embedder.provider, found.embedder.model)


@no_local
def test_ollama_is_never_chosen_unasked():
    found = chosen({"provider": "auto"}, {"ollama": {"baseUrl": "http://127.0.0.1:11434"}})
    assert found.embedder is None


@with_local
def test_a_local_embedder_comes_first():
    found = chosen({"provider": "auto", "model": "text-embedding-3-large"}, environ=ENV_KEYS)
    assert ("local", installed()[0]) == (found.embedder.provider, found.embedder.model)


def test_none_is_none():
    assert (None, ('the provider is "none"',)) == (
        chosen({"provider": "none"}).embedder,
        chosen({"provider": "none"}).reasons,
    )


@pytest.mark.parametrize(
    ("provider", "model", "variable"),
    [
        ("openai", "text-embedding-3-small", "OPENAI_API_KEY"),
        ("gemini", "gemini-embedding-001", "GEMINI_API_KEY"),
        ("voyage", "voyage-4-large", "VOYAGE_API_KEY"),
        ("mistral", "mistral-embed", "MISTRAL_API_KEY"),
    ],
)
def test_a_named_provider_takes_its_key_from_the_environment(provider, model, variable):
    found = chosen({"provider": provider}, environ={variable: "k"})
    assert (provider, model) == (found.embedder.provider, found.embedder.model)
    missing = chosen({"provider": provider})
    assert missing.embedder is None
    assert missing.reasons[0].startswith(f"no key for {provider} (")
    assert variable in missing.reasons[0]


def test_ollama_needs_no_key():
    assert "ollama" == chosen({"provider": "ollama"}).embedder.provider


def test_an_unknown_provider_is_named():
    found = chosen({"provider": "bedrock"})
    assert found.embedder is None
    assert found.reasons[0].startswith(
        "no embedder is called 'bedrock' (there are gemini, llm, local, mistral, ollama,"
    )


def test_what_is_configured_without_effect_is_named():
    found = chosen(
        {
            "provider": "gemini",
            "model": "gemini-embedding-2-preview",
            "local": {"modelPath": "/m.gguf"},
            "remote": {"batch": {"enabled": True}},
            "multimodal": {"enabled": True},
        },
        environ=ENV_KEYS,
    )
    assert "gemini" == found.embedder.provider
    assert ["local.modelPath", "remote.batch", "multimodal"] == [
        reason.split(" is not used")[0].removeprefix("agents.defaults.memorySearch.") for reason in found.reasons
    ]


def test_choosing_asks_nobody():
    with serving() as server:
        chosen({"provider": "openai", "remote": {"baseUrl": server.base}})
        chosen({"provider": "auto", "remote": {"baseUrl": server.base}})
        assert [] == server.requests


def test_a_missing_provider_gives_way_to_the_fallback():
    found = chosen({"provider": "openai", "fallback": "ollama", "model": "m"})
    assert ("ollama", "nomic-embed-text", "openai") == (
        found.embedder.provider,
        found.embedder.model,
        found.fallback_from,
    )
    assert "no key for openai" in found.reasons[0]


def test_both_missing_are_both_named():
    found = chosen({"provider": "openai", "fallback": "mistral"})
    assert (None, None, 2) == (found.embedder, found.fallback_from, len(found.reasons))


def test_a_fallback_gets_nothing_that_was_configured_for_the_other():
    with serving() as server:
        remote = {"baseUrl": server.base, "apiKey": "k", "headers": {"X-A": "b"}}
        made = config(
            {"provider": "openai", "fallback": "ollama", "remote": remote}, {"ollama": {"baseUrl": server.base}}
        )
        found = fallback(settings(made), made, {}, "openai embeddings: 500")
        found.embedder.embed_query("q")
    assert ("openai", ("openai embeddings: 500",)) == (found.fallback_from, found.reasons)
    assert {"authorization", "x-a"} & set(server.requests[0].headers) == set()


def test_no_fallback_to_itself():
    made = config({"provider": "ollama", "fallback": "ollama"})
    assert fallback(settings(made), made, {}, "x").embedder is None


OWN = "https://proxy.example/v1"


@pytest.mark.parametrize(
    ("memory_search", "providers", "environ", "expected"),
    [
        ({}, {}, {}, ("https://api.openai.com/v1", None)),
        ({}, {}, ENV_KEYS, ("https://api.openai.com/v1", "env-openai")),
        # An address of its own gets no key of the environment.
        ({"remote": {"baseUrl": OWN}}, {}, ENV_KEYS, (OWN, None)),
        ({"remote": {"baseUrl": OWN, "apiKey": "own"}}, {}, ENV_KEYS, (OWN, "own")),
        ({"remote": {"apiKey": "own"}}, {}, ENV_KEYS, ("https://api.openai.com/v1", "own")),
        # What models.providers has goes together.
        ({}, {"openai": {"baseUrl": OWN, "apiKey": "listed"}}, ENV_KEYS, (OWN, "listed")),
        ({}, {"openai": {"baseUrl": OWN}}, ENV_KEYS, (OWN, None)),
        ({}, {"openai": {"apiKey": "listed"}}, ENV_KEYS, ("https://api.openai.com/v1", "listed")),
        # Another address than the listed one gets no listed key; the same host with another path does.
        (
            {"remote": {"baseUrl": "http://127.0.0.1:1/v1"}},
            {"openai": {"baseUrl": OWN, "apiKey": "listed"}},
            {},
            ("http://127.0.0.1:1/v1", None),
        ),
        (
            {"remote": {"baseUrl": "https://proxy.example/v2/"}},
            {"openai": {"baseUrl": OWN, "apiKey": "listed"}},
            {},
            ("https://proxy.example/v2", "listed"),
        ),
        (
            {"remote": {"baseUrl": "http://proxy.example/v1"}},
            {"openai": {"baseUrl": OWN, "apiKey": "listed"}},
            {},
            ("http://proxy.example/v1", None),
        ),
        (
            {"remote": {"baseUrl": "https://proxy.example:8443/v1"}},
            {"openai": {"baseUrl": OWN, "apiKey": "listed"}},
            {},
            ("https://proxy.example:8443/v1", None),
        ),
        (
            {"remote": {"baseUrl": "https://api.openai.com/v2"}},
            {},
            ENV_KEYS,
            ("https://api.openai.com/v2", "env-openai"),
        ),
        # OpenClaw's reference to a variable.
        (
            {"remote": {"baseUrl": OWN, "apiKey": {"source": "env", "provider": "default", "id": "MINE"}}},
            {},
            {"MINE": "m"},
            (OWN, "m"),
        ),
        ({"remote": {"baseUrl": OWN, "apiKey": {"source": "file", "id": "/x"}}}, {}, {"/x": "m"}, (OWN, None)),
        # Other providers' entries and variables are none of its business.
        ({}, {"mistral": {"apiKey": "listed"}}, {"MISTRAL_API_KEY": "m"}, ("https://api.openai.com/v1", None)),
    ],
)
def test_a_key_goes_only_to_the_origin_it_was_configured_for(memory_search, providers, environ, expected):
    found = place("openai", memory_search, providers, environ)
    assert expected == (found.base_url, found.key)


def test_keys_of_llm_are_used_for_the_providers_own_address(llm_home):
    (llm_home / "keys.json").write_text(json.dumps({"openai": "stored", "voyage": 3}))
    assert "stored" == place("openai", environ=ENV_KEYS, llm_home=llm_home).key
    assert None is place("openai", {"remote": {"baseUrl": OWN}}, llm_home=llm_home).key
    assert None is place("voyage", llm_home=llm_home).key
    (llm_home / "keys.json").write_text("[broken")
    assert None is place("openai", llm_home=llm_home).key


def test_gemini_is_called_google_in_other_places():
    assert "g" == place("gemini", providers={"google": {"apiKey": "g"}}).key
    assert "g" == place("gemini", environ={"GOOGLE_API_KEY": "g"}).key


def test_headers_are_joined_and_those_of_memory_win():
    providers = {"openai": {"headers": {"a": "1", "b": "2", "c": 3}}}
    assert {"a": "1", "b": "9"} == place("openai", {"remote": {"headers": {"b": "9"}}}, providers).headers


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://x/",
        "proxy.example",
        "http://",
        "https://x:port/",
        "https://a b/",
        "http://[x/",
        "x",
    ],
)
def test_an_address_must_be_http(url):
    with pytest.raises(BadConfig, match="must begin with http"):
        place("openai", {"remote": {"baseUrl": url}})


@pytest.mark.parametrize(
    "url", ["https://user:pa55@x.example/", "https://x.example/?key=pa55", "https://x.example/#pa55"]
)
def test_an_address_must_hold_no_secret_and_the_error_does_not_repeat_it(url):
    with pytest.raises(BadConfig, match=r"at x\.example must") as caught:
        place("openai", {"remote": {"baseUrl": url}})
    assert "pa55" not in str(caught.value) + str(caught.value.hint)


def test_a_size_that_gemini_has_not():
    with pytest.raises(BadConfig, match="has 768, 1536, 3072, not 100"):
        chosen(
            {"provider": "gemini", "model": "gemini-embedding-2-preview", "outputDimensionality": 100},
            environ={"GEMINI_API_KEY": "k"},
        )


def test_identity_depends_on_what_vectors_depend_on_and_on_no_key():
    def of(**more):
        return chosen({"provider": "openai", **more}, environ=ENV_KEYS).embedder.identity

    same = of()
    assert same == of(remote={"apiKey": "other"})
    assert len({same, of(model="m"), of(remote={"baseUrl": OWN})}) == 3


def test_ollamas_openai_address_is_its_own_too():
    with serving() as server:
        chosen({"provider": "ollama"}, {"ollama": {"baseUrl": server.base + "/v1/"}}).embedder.embed_query("q")
    assert "/api/embeddings" == server.requests[0].path


def test_input_is_bounded_by_the_model():
    assert 2048 == chosen({"provider": "gemini"}, environ=ENV_KEYS).embedder.max_bytes
    assert 8000 == chosen({"provider": "openai"}, environ=ENV_KEYS).embedder.max_bytes
