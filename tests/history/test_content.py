import base64
import struct

import pytest

from oc.history.content import clean_content, drop_details, drop_seen_images, strip_signatures
from oc.history.image import LIMITS, Limits, checked_image, limits_of
from oc.history.policy import Model, policy

ANTHROPIC = policy(Model("anthropic", "anthropic-messages", "claude"))
GOOGLE = policy(Model("google", "google-generative-ai", "gemini"))
MISTRAL = policy(Model("mistral", "mistral-conversations", "m"))
OPENAI = policy(Model("openai", "openai-responses", "gpt"))


def image(raw, kind="image/png"):
    data = raw if isinstance(raw, str) else base64.b64encode(raw).decode()
    return {"type": "image", "data": data, "mimeType": kind}


def png(width, height):
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height) + b"\x08\x06\0\0\0rest."


def jpeg(width, height, before=b"\xff\xe0\x00\x04ab"):
    return b"\xff\xd8" + before + b"\xff\xff\xc2\x00\x11\x08" + struct.pack(">HH", height, width) + b"\0" * 10


def gif(width, height):
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0"


def cleaned(messages, rules, *, thorough=False):
    return clean_content(messages, rules, LIMITS, thorough=thorough)


@pytest.mark.parametrize("make", [png, jpeg, gif])
def test_an_image_within_the_limits_passes_and_a_wider_or_higher_one_is_named(make):
    kind = f"image/{make.__name__}"
    assert checked_image(image(make(8000, 1), kind), LIMITS) == image(make(8000, 1), kind)
    for sides in ((8001, 7), (7, 8001)):
        text = f"[session:history] omitted image payload: {sides[0]}x{sides[1]} px, the limit is 8000 px"
        assert checked_image(image(make(*sides), kind), LIMITS) == {"type": "text", "text": text}


def test_the_limits_are_settings():
    assert (limits_of(None), limits_of(1200)) == (LIMITS, Limits(1200, LIMITS.max_bytes))
    assert checked_image(image(png(1200, 9)), limits_of(1200)) == image(png(1200, 9))
    assert checked_image(image(png(1201, 9)), limits_of(1200))["text"].endswith("1201x9 px, the limit is 1200 px")
    assert checked_image(image(png(9, 9)), Limits(max_bytes=20))["text"].endswith("34 bytes, the limit is 20")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (" \n", "omitted empty image payload"),
        ("abc", "omitted image payload: invalid base64"),
        ("ab=c", "omitted image payload: invalid base64"),
        ("数据库库", "omitted image payload: invalid base64"),
        ("iVBORw0KGgo=", "omitted image payload: unreadable image"),
        (jpeg(1, 1)[:8], "omitted image payload: unreadable image"),
        (b"\xff\xd8\xff\xe0\x00\x00" + b"x" * 20, "omitted image payload: unreadable image"),
        (b"GIF89a", "omitted image payload: unreadable image"),
    ],
)
def test_a_broken_image_is_named_and_not_sent(data, why):
    assert checked_image(image(data), LIMITS) == {"type": "text", "text": f"[session:history] {why}"}


def test_white_space_goes_and_the_kind_is_that_of_the_bytes():
    spaced = base64.encodebytes(png(2, 2) + b"x" * 90).decode()
    assert checked_image(image(spaced, "image/jpeg"), LIMITS) == image(png(2, 2) + b"x" * 90)


def test_a_kind_that_tells_no_sides_here_passes_by_its_size():
    webp = image(b"RIFF....WEBPVP8 ", "image/webp")
    assert checked_image(webp, LIMITS) is webp


def test_full_drops_blank_texts_and_messages_of_nothing_else():
    blank = {"role": "assistant", "content": [{"type": "text", "text": " \n"}]}
    both = {"role": "assistant", "content": [{"type": "text", "text": ""}, {"type": "text", "text": "a"}]}
    user = {"role": "user", "content": [{"type": "text", "text": " "}]}
    out, decisions = cleaned([user, blank, both], ANTHROPIC)
    assert out == [user, {"role": "assistant", "content": [{"type": "text", "text": "a"}]}]
    assert [(d.action, d.rule) for d in decisions] == [("drop", "nothing-left"), ("change", "blank-text")]
    assert cleaned([user, blank, both], OPENAI) == ([user, blank, both], [])


def test_failed_messages_and_strings_are_spared_at_first_only():
    failed = {"role": "assistant", "content": [{"type": "text", "text": ""}], "stopReason": "error"}
    string = {"role": "assistant", "content": "  "}
    assert cleaned([failed, string], ANTHROPIC) == ([failed, string], [])
    assert cleaned([failed, string], ANTHROPIC, thorough=True)[0] == []


def test_signatures_go_as_the_policy_says():
    signed = {"type": "text", "text": "a", "thought_signature": "msg_1", "thoughtSignature": "!"}
    message = {"role": "assistant", "content": [signed]}
    assert cleaned([message], ANTHROPIC) == ([message], [])
    assert cleaned([message], MISTRAL)[0][0]["content"] == [{"type": "text", "text": "a", "thoughtSignature": "!"}]
    assert cleaned([message], GOOGLE)[0][0]["content"] == [{"type": "text", "text": "a"}]


@pytest.mark.parametrize(
    ("signature", "kept"),
    [("QUJD", True), ("QUI=", True), ("QUI", True), ("QUJ=", False), ("a+-b", False), ("=", False), ("Q=UI", False)],
)
def test_base64_is_told_from_what_only_looks_like_it(signature, kept):
    block = {"type": "text", "thought_signature": signature}
    out = strip_signatures([block], base64_only=True, camel_case=False)
    assert (out[0] is block) is kept


def test_a_tool_result_keeps_a_string_and_gets_a_list_for_nothing():
    string = {"role": "toolResult", "content": "done"}
    nothing = {"role": "toolResult", "toolCallId": "a"}
    out, decisions = cleaned([string, nothing], ANTHROPIC)
    assert out == [string, {**nothing, "content": []}]
    assert [d.rule for d in decisions] == ["no-content"]


def test_details_are_not_for_models():
    given = [{"role": "toolResult", "content": [], "details": None}, {"role": "user", "details": 1}]
    assert drop_details(given)[0] == [{"role": "toolResult", "content": []}, given[1]]


def test_images_that_were_answered_are_named():
    shown = {"role": "toolResult", "content": [image("x")]}
    out, decisions = drop_seen_images([shown, {"role": "assistant", "content": "a"}, shown])
    assert out[0]["content"] == [{"type": "text", "text": "[image data removed - already processed by model]"}]
    assert out[2] is shown
    assert [d.rule for d in decisions] == ["seen-image"]
