import pytest

from oc.config.load import Config, Layer
from oc.errors import BadConfig
from oc.memory.settings import settings


def config(memory_search, agent=None, origin="oc.json"):
    tree = {"agents": {"defaults": {"memorySearch": memory_search}}}
    if agent is not None:
        tree["agents"]["list"] = [{"id": "a", "memorySearch": agent}]
    return Config((Layer(origin, origin, tree),), "a")


def test_defaults_of_an_empty_configuration():
    found = settings(Config(()))
    assert (6, 0.35, 0.7, 0.3, 24) == (
        found.max_results,
        found.min_score,
        found.vector_weight,
        found.text_weight,
        found.candidates,
    )


def test_extra_paths_of_an_agent_come_after_the_shared_ones():
    assert ("x", "y") == settings(config({"extraPaths": ["x"]}, {"extraPaths": ["y", "x "]})).extra_paths


def test_an_agent_overrides_field_by_field():
    found = settings(config({"query": {"maxResults": 9, "minScore": 0.5}}, {"query": {"maxResults": 2}}))
    assert (2, 0.5) == (found.max_results, found.min_score)


@pytest.mark.parametrize(("limit", "candidates"), [(0, 1), (6, 24), (0.5, 2), (500, 200)])
def test_candidates_are_bounded(limit, candidates):
    assert candidates == settings(Config(()))._replace(max_results=limit).candidates


def test_sessions_are_a_source_once_the_feature_is_on():
    found = settings(config({"experimental": {"sessionMemory": True}, "sources": ["sessions", "wiki", "memory"]}))
    assert ("sessions", "memory") == found.sources


def test_a_named_model_is_kept_and_a_blank_one_is_the_providers():
    assert "m" == settings(config({"provider": "openai", "model": " m "})).model
    assert "voyage-4-large" == settings(config({"provider": "voyage", "model": " "})).model


GEMINI = {"provider": "gemini", "model": "models/gemini-embedding-2-preview"}


@pytest.mark.parametrize(
    "wrong", [{}, {"provider": "gemini"}, {**GEMINI, "provider": "openai"}, {**GEMINI, "fallback": "local"}]
)
def test_media_need_the_one_model_that_embeds_them(wrong):
    with pytest.raises(BadConfig, match="multimodal"):
        settings(config({**wrong, "multimodal": {"enabled": True}}))


def test_media_are_listed_once_their_model_is_there():
    found = settings(config({**GEMINI, "multimodal": {"enabled": True, "modalities": ["audio", "smell"]}}))
    assert ("audio",) == found.modalities
    assert () == settings(config({**GEMINI, "multimodal": {"enabled": True, "modalities": ["smell"]}})).modalities


def test_a_number_of_the_wrong_kind_in_openclaw_json_counts_as_not_set():
    found = settings(config({"query": {"hybrid": {"candidateMultiplier": 99.7}}}, origin="openclaw.json"))
    assert 4 == found.candidate_multiplier
