import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.message.redact import mask, redact
from tests.support import vectors

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nAAAA\n-----END RSA PRIVATE KEY-----"


@vectors("memory-redact")
def test_redact(case):
    assert case.expected == redact(case.input)


def test_a_private_key_keeps_its_first_and_last_line():
    assert "a\n-----BEGIN RSA PRIVATE KEY-----\n…redacted…\n-----END RSA PRIVATE KEY-----\nb" == redact(f"a\n{PEM}\nb")


def test_a_private_key_on_one_line_is_stars():
    assert "a *** b" == redact(f"a {PEM} b".replace("\n", " "))


def test_two_keys_and_an_unfinished_one():
    flat = PEM.replace("\n", " ")
    assert f"***,***,{flat[:40]}" == redact(f"{flat},{flat},{flat[:40]}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password: hunter2", "password: ***"),
        ("token = 'abcdefghijklmnopqrstuvwxyz'", "token = 'abcdef…wxyz'"),
        ('"refreshToken" : "0123456789abcdefghij"', '"refreshToken" : "012345…ghij"'),
        ("--api-key abc", "--api-key ***"),
        ("--passwd\u00a0'x y'", "--passwd\u00a0'x y'"),
        ("xapp-1-A0123456789", "xapp-1…6789"),
        ("gsk_0123456789", "***"),
        ("pplx-0123456789abcdef", "pplx-0…cdef"),
        ("sk-short", "sk-short"),
        ("monkey business: as usual", "monkey business: as usual"),
        ("turkey: stuffed", "turkey: ***"),
        ("tokens: 12", "tokens: 12"),
        ("https://user:pa55word@host/", "https://user:pa55word@host/"),
        ("TO\u212aEN=abc", "TO\u212aEN=abc"),
        ("KEY=🎉🎉🎉🎉🎉🎉🎉🎉🎉", "KEY=🎉🎉🎉…🎉🎉"),
    ],
)
def test_rules_as_they_are(text, expected):
    """The last assignment rule is blunt: any word that ends in `key` and has a colon behind it names a secret."""
    assert expected == redact(text)


def test_a_megabyte_that_looks_like_a_name_is_quick():
    """Each expression is linear: a quadratic one would not come back from this."""
    for text in ("A_KEY" * 200_000, "-----BEGIN PRIVATE KEY-----" * 40_000, "1:" * 500_000, "token " * 200_000):
        assert text == redact(text)


@given(st.text("ab=:\"' \n-_K", max_size=40))
def test_what_is_hidden_stays_hidden(text):
    once = redact(f"{text} PASSWORD=abcdefgh {text}")
    assert "abcdefgh" not in once


@given(st.text(st.characters(codec="utf-8"), min_size=18, max_size=40))
def test_no_more_than_ten_characters_of_a_secret_are_shown(secret):
    shown = mask(secret)
    assert shown == "***" or re.fullmatch(r".{6}….{4}|(?s:.){1,11}", shown)
