"""What an exception out of a provider's client means."""

import pytest

from oc.agent.failure import failure_of, is_overflow_text, without_secrets


class Provider(Exception):
    """As clients of providers raise it."""

    def __init__(self, message="", status=None, code=None, body=None):
        super().__init__(message)
        if status is not None:
            self.status_code = status
        self.code = code
        self.body = body


def named(name):
    return type(name, (Exception,), {})("boom")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (Provider("x", 400, "context_length_exceeded"), "overflow"),
        (Provider("prompt is too long: 210000 tokens > 200000 maximum", 400), "overflow"),
        (Provider("request_too_large", 413), "overflow"),
        (Provider("上下文过长，请压缩上下文", 400), "overflow"),
        (Provider("Rate limit: too many tokens per minute", 429), "rate"),
        (Provider("too many tokens per minute (TPM), rate_limit", 400), "other"),
        (Provider("x", 401), "key"),
        (Provider("x", 403), "key"),
        (Provider("x", 404), "unknown"),
        (Provider("x", 408), "timeout"),
        (Provider("x", 503), "server"),
        (Provider("x", 400), "other"),
        (named("NeedsKeyException"), "key"),
        (named("APITimeoutError"), "timeout"),
        (named("ReadTimeout"), "timeout"),
        (named("RemoteProtocolError"), "cut"),
        (named("APIConnectionError"), "refused"),
        (ConnectionResetError("reset"), "refused"),
        (TimeoutError("t"), "timeout"),
        (RuntimeError("context length exceeded"), "overflow"),
        (RuntimeError("?"), "other"),
    ],
)
def test_kinds(error, kind):
    failure = failure_of(error, "m")
    assert kind == failure.kind
    assert failure.message.startswith("m: ")
    assert "\n" not in failure.message


def test_the_providers_own_sentence_is_told():
    error = Provider("Error code: 400 - {'error': ...}", 400, body={"message": "No such tool.\nReally."})
    assert "m: Provider (400): No such tool. Really" == failure_of(error, "m").message


def test_status_of_a_response():
    error = Exception("x")
    error.response = Provider("x", 429)
    assert "rate" == failure_of(error, "m").kind


@pytest.mark.parametrize(
    "secret", ["sk-proj-abcdef123456", "Bearer abc.def.ghi", "AIzaSyA1234567890abcdefghij", "my-own-key-1"]
)
def test_secrets_are_replaced(secret):
    assert secret not in without_secrets(f"bad key {secret} given", ["my-own-key-1", "", "short"])


def test_a_long_text_is_cut():
    assert len(without_secrets("x" * 5000)) < 700


@pytest.mark.parametrize("text", ["quota exceeded: too many tokens", "context window too small", "all is well", ""])
def test_what_is_no_overflow(text):
    assert not is_overflow_text(text)
