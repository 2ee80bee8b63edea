"""One JSON request to an embedding server, with what may go wrong told apart; no redirects, no secrets in messages."""

import time
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from oc.base.jsonl import dump, parse
from oc.base.text import cut16, pattern
from oc.memory.embed.interface import Failure
from oc.memory.failure import is_retryable
from oc.message.redact import redact

MAX_ANSWER_BYTES = 256 << 20
_MAX_DETAIL_CHARS = 300
_MIN_SECRET_CHARS = 4
# Ollama says so with status 500.
_OF_TEXT = "(?i)context length|too (?:long|large|many tokens)|input limit|unsupported value"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Server:
    """An address that takes JSON by POST; `name` is what messages begin with, `headers` may hold a key."""

    def __init__(self, name: str, base_url: str, headers: Mapping[str, str]) -> None:
        self.name = name
        self.base_url = base_url.rstrip("/")
        self._headers = dict(headers)
        self._secrets = [word for value in headers.values() for word in value.split() if len(word) >= _MIN_SECRET_CHARS]

    @property
    def place(self) -> str:
        """Host and port, for messages."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    def post(self, path: str, body: Any, *, timeout_s: float) -> Any:
        """Returns the parsed answer; raises Failure.

        The time limit is for the whole answer, however slowly it trickles in.
        """
        from http.client import HTTPException
        from urllib.error import HTTPError, URLError
        from urllib.request import Request

        deadline_s = time.monotonic() + timeout_s
        headers = {"Content-Type": "application/json", "User-Agent": "oc", **self._headers}
        request = Request(f"{self.base_url}{path}", dump(body), headers, method="POST")  # noqa: S310
        try:
            with self._opener.open(request, timeout=timeout_s) as answer:
                raw = self._read(answer, deadline_s)
        except HTTPError as error:
            with error:
                raise self._refusal(error, deadline_s) from None
        except TimeoutError:
            raise self._late(timeout_s) from None
        except URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise self._late(timeout_s) from None
            reason = getattr(error.reason, "strerror", None) or str(error.reason)
            raise self._failure(f"cannot reach {self.place}: {reason.lower()}") from None
        except (OSError, HTTPException) as error:
            raise self._failure(f"the answer broke off ({type(error).__name__})", retryable=True) from None
        try:
            return parse(raw)
        except ValueError:
            raise self._failure(f"{self.place} answered with something that is not JSON") from None

    @cached_property
    def _opener(self) -> Any:
        """Made once, since each reads the machine's certificates."""
        from urllib.request import HTTPRedirectHandler, ProxyHandler, build_opener

        class Stay(HTTPRedirectHandler):
            """Follows nothing: urllib would send the key along to wherever a redirect points."""

            def redirect_request(self, *_: Any) -> None:
                return None

        # A proxy of the environment cannot reach a server on this machine.
        direct = [ProxyHandler({})] if urlsplit(self.base_url).hostname in _LOOPBACK else []
        return build_opener(Stay, *direct)

    def _read(self, answer: Any, deadline_s: float) -> bytes:
        pieces: list[bytes] = []
        size = 0
        while piece := answer.read1(1 << 16):
            pieces.append(piece)
            size += len(piece)
            if time.monotonic() > deadline_s:
                raise TimeoutError
            if size > MAX_ANSWER_BYTES:
                raise self._failure(f"{self.place} answered with more than {MAX_ANSWER_BYTES >> 20} MiB")
        if answer.length:  # read1() ends at a closed connection without a word
            raise self._failure("the answer broke off", retryable=True)
        return b"".join(pieces)

    def _refusal(self, error: Any, deadline_s: float) -> Failure:
        """Returns what a status other than 200 means."""
        status = int(error.code)
        try:
            detail = _detail(self._read(error, deadline_s))
        except (OSError, Failure):
            detail = ""
        text = f"{status} {detail}".strip()
        if 300 <= status < 400:
            to = urlsplit(str(error.headers.get("Location") or "")).netloc.rpartition("@")[2]
            return self._failure(
                f"{status}: redirects{f' to {to}' if to else ''}", hint="set baseUrl to its new address"
            )
        if status in (401, 403):
            return self._failure(text, hint="see the key in memorySearch.remote.apiKey, `llm keys` or the environment")
        if status in (400, 413, 422) or pattern(_OF_TEXT).search(detail):
            return self._failure(text, of_text=True)
        spent = "insufficient_quota" in detail
        retryable = status in (408, 429) or status >= 500 or is_retryable(detail)
        return self._failure(text, retryable=retryable and not spent, wait_ms=_wait_ms(error.headers))

    def _late(self, timeout_s: float) -> Failure:
        return self._failure(f"no answer of {self.place} within {timeout_s:g} s")

    def _failure(self, text: str, **facts: Any) -> Failure:
        return Failure(f"{self.name} embeddings: {without(text, self._secrets)}", **facts)


def without(text: str, secrets: Iterable[str]) -> str:
    """Returns the text on one line, not too long, with none of the secrets and nothing that looks like one."""
    text = " ".join(text.split())
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "***")
    return cut16(redact(text), _MAX_DETAIL_CHARS).rstrip(".")


def _detail(raw: bytes) -> str:
    """Returns a server's own sentence where its answer has one, else the answer."""
    try:
        body = parse(raw)
    except ValueError:
        return raw.decode("utf-8", "replace")
    for key in ("error", "detail", "message"):
        if isinstance(body, dict) and body.get(key):
            body = body[key]
    if isinstance(body, dict | list):
        return dump(body).decode()
    return str(body)


def _wait_ms(headers: Mapping[str, str]) -> float:
    for name, scale in (("retry-after-ms", 1), ("retry-after", 1000)):
        try:
            return max(0.0, float(headers.get(name) or "")) * scale
        except ValueError:
            continue
    return 0.0
