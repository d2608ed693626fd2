from __future__ import annotations

import json

import pytest

from faultwire.errors import WireError
from faultwire.wire import json_bytes


@pytest.mark.parametrize(
    "text", [b"", b"{", b"NaN", b'{"a":NaN,"b":"\\ud800"}', b"\xff", b'"\\ud800', b"[" * 5000]
)
def test_what_is_no_json_raises(text: bytes) -> None:
    with pytest.raises(WireError, match="no JSON"):
        json_bytes.load(text)


def test_surrogates() -> None:
    assert json_bytes.load(b'"\\ud83d\\ude00 \\ud800"') == "\U0001f600 \ufffd"
    assert json_bytes.dump("a\udfffb") == '"a\ufffdb"'.encode()


@pytest.mark.parametrize(
    ("text", "kind"), [(b"[]", "array"), (b"1", "number"), (b"null", "null"), (b"true", "boolean")]
)
def test_load_object_states_what_it_found(text: bytes, kind: str) -> None:
    with pytest.raises(WireError, match=f"found a JSON {kind}, expected an object"):
        json_bytes.load_object(text)


def test_put_replaces_or_adds() -> None:
    assert json_bytes.put(b'{"a": 1}', ("a",), b"2") == b'{"a": 2}'
    assert json_bytes.put(b'{"a": 1 }', ("b",), b"2") == b'{"a": 1,"b":2 }'
    assert json_bytes.put(b"{ }", ("b",), b"2") == b'{"b":2 }'
    with pytest.raises(WireError, match="expected an object's member"):
        json_bytes.put(b"[]", ("b",), b"2")
    with pytest.raises(WireError, match="expected an object's member"):
        json_bytes.put(b"[]", (0,), b"2")


def test_drop() -> None:
    assert json_bytes.drop(b'{"a": 1, "b": 2}', ("a",)) == b'{"b": 2}'
    assert json_bytes.drop(b"[1, 2]", (1,)) == b"[1]"
    assert json_bytes.drop(b"[1]", (5,)) == b"[1]"


def test_insert_first() -> None:
    assert json_bytes.insert_first(b"[ ]", b"1") == b"[1 ]"
    assert json_bytes.insert_first(b"[ 2]", b"1") == b"[ 1,2]"


def test_reading_members() -> None:
    assert json_bytes.objects([1, {"a": 1}, None]) == [(1, {"a": 1})]
    assert json_bytes.objects("x") == []
    assert json_bytes.member({"a": {"b": 1}}, "a", "b") == 1
    assert json_bytes.member({"a": 1}, "a", "b") is None
    assert [json_bytes.count(value) for value in (3, True, -1, "3", None)] == [3, 0, 0, 0, 0]
    assert json_bytes.is_json(json.dumps("x"))
    assert not json_bytes.is_json("{")
