import hashlib

from oc.memory.chunk import REFERENCE, Chunk, chunk, max_input_tokens, remap, split_utf8
from tests.support import vectors


def sha256(text):
    """Node hashes a lone surrogate as U+FFFD."""
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return hashlib.sha256(whole.encode()).hexdigest()


def run(given):
    match given.get("op"):
        case "remapChunkLines":
            chunks = [Chunk(c["startLine"], c["endLine"], "") for c in given["chunks"]]
            return [{"startLine": c.start_line, "endLine": c.end_line} for c in remap(chunks, given["lineMap"])]
        case "splitTextToUtf8ByteLimit":
            return split_utf8(given["text"], given["maxUtf8Bytes"])
        case "resolveEmbeddingMaxInputTokens":
            return max_input_tokens(given["id"], given["model"])
    rules = given["chunking"]
    return [
        {"startLine": c.start_line, "endLine": c.end_line, "text": c.text, "hash": sha256(c.text)}
        for c in chunk(given["content"], tokens=rules["tokens"], overlap=rules["overlap"], measure=REFERENCE)
    ]


@vectors("memory-chunk")
def test_chunk(case):
    assert case.expected == run(case.input)
