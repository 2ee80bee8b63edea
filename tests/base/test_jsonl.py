"""Lines of JSON: bytes kept, odd values read as JSON.parse reads them, written as JSON.stringify writes them."""

import io
import json

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oc.base.jsonl import dump, dump_line, js_text, lines, parse
from tests.shapes import JSON


def test_lines_are_split_on_lf_only():
    """U+2028, VT, FF and CR are legal inside a line; the last line may lack its LF."""
    data = 'a\u2028b\x0b\x0cc\r\n\n"x"'.encode()
    assert [tuple(line) for line in lines(io.BytesIO(data))] == [
        (1, 0, "a\u2028b\x0b\x0cc\r".encode()),
        (2, 10, b""),
        (3, 11, b'"x"'),
    ]


@given(st.binary())
def test_lines_lose_no_byte(data):
    """Joined by line feeds the lines give the data back, and each offset is where its line starts."""
    found = list(lines(io.BytesIO(data)))
    assert b"\n".join(line.raw for line in found) == (data.removesuffix(b"\n"))
    assert all(data[line.offset : line.offset + len(line.raw)] == line.raw for line in found)


@given(JSON)
def test_dump_then_parse_gives_the_value(value):
    """Half characters, big integers and empty keys included."""
    assert parse(dump(value)) == value


@given(JSON)
def test_dump_is_always_utf8_on_one_line(value):
    text = dump_line(value).decode("utf-8")
    assert text.endswith("\n")
    assert text.count("\n") == 1


@given(st.binary(max_size=60))
def test_parse_gives_a_value_or_a_value_error(data):
    """No input raises anything else."""
    try:
        parse(data)
    except ValueError:
        return


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "[1,]", "{'a':1}", "", "{", '"\n"', "1 2", "\ufeff1"])
def test_what_json_parse_refuses_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        parse(text)


def test_bad_utf8_reads_as_replacement_characters():
    assert parse(b'"a\xffb"') == "a\ufffdb"


def test_a_lone_surrogate_is_read_and_written_as_an_escape():
    """orjson refuses it; a transcript that holds one must still be readable."""
    value = parse(b'{"t":"\\ud83d"}')
    assert value == {"t": "\ud83d"}
    assert dump(value) == b'{"t":"\\ud83d"}'


def test_too_deep_is_a_value_error():
    with pytest.raises(ValueError, match="nested too deeply"):
        parse("[" * 100_000)


@pytest.mark.parametrize("depth", [254, 300, 600, 1000])
def test_what_is_read_can_be_written_however_deep(depth):
    """Nesting beyond orjson's writer and Python's recursion limit is no traceback."""
    for text in ("[" * depth + "]" * depth, '{"a":' * depth + "1.5" + "}" * depth):
        assert dump(parse(text)).decode() == text
        assert js_text(parse(text)) == text


def test_the_last_duplicate_key_wins():
    assert parse('{"a":1,"a":2}') == {"a": 2}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (1.5, "1.5"),
        (-0.0, "0"),
        (1e21, "1e+21"),
        (123456789012345680000.0, "123456789012345680000"),
        (0.00001, "0.00001"),
        (1e-7, "1e-7"),
        (0.0000012345, "0.0000012345"),
        (-1.5e-7, "-1.5e-7"),
        (1e300, "1e+300"),
        (-1e20, "-100000000000000000000"),
        (12345678901234567890123, "12345678901234567890123"),
        ([0.00001, "\ud83d"], '[0.00001,"\\ud83d"]'),
        (float("nan"), "null"),
        ({"b": 1, "a": [True, None, "日本\n"]}, '{"b":1,"a":[true,null,"日本\\n"]}'),
        ("\ud83d", '"\\ud83d"'),
    ],
)
def test_js_text(value, text):
    """Numbers as JavaScript prints them, keys in their order, non-ASCII kept."""
    assert js_text(value) == text


@given(JSON)
def test_js_text_is_json_for_what_was_given(value):
    """Read back as JavaScript would, every number a double, it is the same value."""
    assert json.loads(js_text(value), parse_int=float) == json.loads(json.dumps(value), parse_int=float)


@given(st.dictionaries(st.text(), st.integers(-(2**53), 2**53)))
def test_dump_is_orjson_where_orjson_can(value):
    assert dump(value) == orjson.dumps(value)
