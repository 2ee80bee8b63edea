import pytest

from oc.memory.embed.batches import packed
from oc.memory.failure import concerns_embedding, is_readonly, is_retryable
from tests.support import vectors

PREDICATES = {
    "isRetryableEmbeddingError": is_retryable,
    "isReadonlyDbError": is_readonly,
    "shouldFallbackOnError": concerns_embedding,
}


@vectors("memory-retry")
def test_retry(case):
    given = case.input
    if given["op"] == "buildEmbeddingBatches":
        sizes = given["chunkUtf8Sizes"]
        batches = packed(sizes, given["maxBytesPerBatch"])
        assert case.expected == [[sizes[index] for index in batch] for batch in batches]
    else:
        assert case.expected == PREDICATES[given["op"]](given["message"])


@pytest.mark.parametrize("text", ["openai embeddings failed: 503 busy", "HTTP 500", "Cloudflare", "Too Many Requests"])
def test_failures_of_the_server_are_worth_another_try(text):
    assert is_retryable(text)


@pytest.mark.parametrize("text", ["expected 1536 dimensions", "401 no key", "chunk of 512000 bytes"])
def test_other_numbers_are_no_status(text):
    assert not is_retryable(text)
