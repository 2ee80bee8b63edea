"""Three ways to count tokens (design D13): `chars4` as the reference does, `estimate` fair to wide scripts, `tiktoken`.

`tiktoken` is exact for OpenAI's models and needs no network: the rank file of o200k_base ships in oc/data.
"""

import os
from collections.abc import Callable, Iterable

from oc.base.text import len16, weight16
from oc.base.typed import Any, NamedTuple, NoReturn
from oc.errors import NotFound, Usage

RANKS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "o200k_base.xz")
# How o200k_base splits text before merging, as tiktoken 0.14 defines it (tiktoken_ext.openai_public, MIT).
_SPLIT = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


class Counter(NamedTuple):
    """Counts text in units, of which `units_per_token` make a token; sums are rounded up once, at the end."""

    name: str
    units: Callable[[str], int]
    units_per_token: int

    def tokens(self, texts: Iterable[str], image_chars: int = 0) -> int:
        """Returns the tokens of the texts together; `image_chars` are quarter tokens whatever the counter."""
        units = sum(map(self.units, texts)) + image_chars * self.units_per_token // 4
        return -(-units // self.units_per_token)


CHARS4 = Counter("chars4", len16, 4)
ESTIMATE = Counter("estimate", weight16, 4)


def remembering(counted: Counter) -> Counter:
    """Returns the counter as one that counts each text once, for whoever counts a history several times."""
    known: dict[str, int] = {}

    def units(text: str) -> int:
        found = known.get(text)
        if found is None:
            found = known[text] = counted.units(text)
        return found

    return counted._replace(units=units)


def counter(name: str) -> Counter:
    """Returns the counter of that name: `chars4`, `estimate`, `tiktoken` or `tiktoken:ENCODING`.

    Raises NotFound for an encoding that is neither shipped nor cached, Usage for an unknown name.
    """
    if name == "chars4":
        return CHARS4
    if name == "estimate":
        return ESTIMATE
    kind, _, encoding = name.partition(":")
    if kind != "tiktoken":
        raise Usage(f"no counter {name!r}", hint="counters: estimate, chars4, tiktoken, tiktoken:ENCODING")
    encoding = encoding or "o200k_base"
    encode = _encoding(encoding).encode
    # Text from a transcript may hold "<|endoftext|>", which encode() refuses by default, or lone surrogates.
    return Counter(f"tiktoken:{encoding}", lambda text: len(encode(text, disallowed_special=())), 1)


def ranks_from(packed: bytes) -> dict[bytes, int]:
    """Returns token -> rank from the shipped form: xz over length-prefixed tokens in rank order."""
    import lzma

    data = lzma.decompress(packed)
    ranks: dict[bytes, int] = {}
    at = 0
    while at < len(data):
        size = data[at]
        ranks[data[at + 1 : at + 1 + size]] = len(ranks)
        at += 1 + size
    return ranks


def _encoding(name: str) -> Any:
    import tiktoken

    if name == "o200k_base":
        special = {"<|endoftext|>": 199999, "<|endofprompt|>": 200018}
        with open(RANKS, "rb") as file:
            ranks = ranks_from(file.read())
        return tiktoken.Encoding(name, pat_str=_SPLIT, mergeable_ranks=ranks, special_tokens=special)
    import tiktoken.load

    # tiktoken reads its cache first and downloads what is missing, without a time limit: a count never does that.
    tiktoken.load.read_file = _no_download  # type: ignore[assignment]
    try:
        return tiktoken.get_encoding(name)
    except ValueError:
        raise Usage(f"no encoding {name!r}", hint="encodings: " + ", ".join(tiktoken.list_encoding_names())) from None


def _no_download(address: str) -> NoReturn:
    name = address.rsplit("/", 1)[-1].partition(".")[0]
    raise NotFound(f"the rank file of {name} is not on this machine", hint="tiktoken:o200k_base is always there")
