"""Whether a provider would take an image: its base64, its kind, its sides and its size. Pure.

There is no image library here: an image over the limits cannot be made smaller, so it is left out and named.
"""

from typing import Any, Literal, NamedTuple

from oc.base.text import js_trim, pattern
from oc.message.shapes import Block

LABEL = "session:history"
# What the strictest of the known providers refuses.
MAX_SIDE_PX = 8000
MAX_BYTES = 5 * 1024 * 1024
_BASE64 = r"[A-Za-z0-9+/]+={0,2}"
_KINDS = (("/9j/", "image/jpeg"), ("iVBOR", "image/png"), ("R0lGOD", "image/gif"))


class Limits(NamedTuple):
    max_side_px: int = MAX_SIDE_PX
    max_bytes: int = MAX_BYTES


LIMITS = Limits()


def limits_of(max_side_px: int | None) -> Limits:
    """Returns the limits with that longest side; None is what providers refuse.

    The reference has 1200 pixels and scales down what is larger, which cannot be done here: it would lose screenshots.
    """
    return LIMITS if max_side_px is None else Limits(int(max_side_px))


def checked_image(block: Block, limits: Limits) -> Block:
    """Returns the image with clean base64 and its true kind, or a text block that says why it was left out.

    Only PNG, JPEG and GIF tell their sides here; another kind passes by its size alone.
    """
    data = js_trim(block["data"])
    if not data:
        return _omitted("omitted empty image payload")
    clean = "".join(data.split())
    if len(clean) % 4 or not pattern(_BASE64).fullmatch(clean):
        return _omitted("omitted image payload: invalid base64")
    kind = next((mime for start, mime in _KINDS if clean.startswith(start)), None)
    size = len(clean) // 4 * 3 - clean.count("=")
    if size > limits.max_bytes:
        return _omitted(f"omitted image payload: {size} bytes, the limit is {limits.max_bytes}")
    if kind is not None:
        sides = _sides(clean, kind)
        if sides is None:
            return _omitted("omitted image payload: unreadable image")
        if max(sides) > limits.max_side_px:
            return _omitted(f"omitted image payload: {sides[0]}x{sides[1]} px, the limit is {limits.max_side_px} px")
    same = clean == block["data"] and kind in (None, block["mimeType"])
    return block if same else {**block, "data": clean, "mimeType": kind or block["mimeType"]}


def is_image(block: Any) -> bool:
    """Says whether a block is an image as transcripts hold them: base64 and a kind."""
    return (
        isinstance(block, dict)
        and block.get("type") == "image"
        and isinstance(block.get("data"), str)
        and isinstance(block.get("mimeType"), str)
    )


def _omitted(why: str) -> Block:
    return {"type": "text", "text": f"[{LABEL}] {why}"}


def _sides(data: str, kind: str) -> tuple[int, int] | None:
    """Returns width and height in pixels, None when the file breaks off before it tells them."""
    from binascii import a2b_base64

    if kind == "image/jpeg":
        return _jpeg_sides(a2b_base64(data))
    head = a2b_base64(data[:48])
    if kind == "image/gif":
        return _pair(head[6:10], "little") if len(head) >= 10 else None
    if len(head) < 24 or head[12:16] != b"IHDR":
        return None
    return _pair(head[16:24], "big")


def _pair(raw: bytes, order: Literal["big", "little"]) -> tuple[int, int]:
    half = len(raw) // 2
    return int.from_bytes(raw[:half], order), int.from_bytes(raw[half:], order)


def _jpeg_sides(data: bytes) -> tuple[int, int] | None:
    """Returns the sides from the frame header, which stands behind segments of any length."""
    at = 2
    while at + 9 <= len(data):
        if data[at] != 0xFF:
            return None
        code = data[at + 1]
        if code == 0xFF:  # a fill byte
            at += 1
        elif 0xC0 <= code <= 0xCF and code not in (0xC4, 0xC8, 0xCC):
            height, width = _pair(data[at + 5 : at + 9], "big")
            return width, height
        elif code == 0x01 or 0xD0 <= code <= 0xD8:  # markers without a segment
            at += 2
        else:
            at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None
