"""faultwire._core: framing of JSON arrays."""

from __future__ import annotations

import pytest

from faultwire import _core

STREAM = b'[{"a": "]}"}\r\n,\r\n[1, {"b": []}], -2.5e3 ,"x,\\"]" ]\n'
ELEMENTS = [b'[{"a": "]}"}', b'\r\n,\r\n[1, {"b": []}]', b", -2.5e3", b' ,"x,\\"]"']
REST = b" ]\n"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 100_000])
def test_any_chunking_gives_the_same_elements(size: int) -> None:
    splitter = _core.ArraySplitter()
    found = [e for at in range(0, len(STREAM), size) for e in splitter.feed(STREAM[at : at + size])]
    assert (found, splitter.broken, splitter.pending) == (ELEMENTS, False, len(REST))
    assert splitter.finish() == REST
    assert splitter.pending == 0


def test_after_its_end_it_is_as_new() -> None:
    splitter = _core.ArraySplitter()
    for _ in range(2):
        assert splitter.feed(b"[{}") == [b"[{}"]
        assert splitter.finish() == b""


@pytest.mark.parametrize("stream", [b"{}", b"<html>", b"[,", b"[{} {", b"[1}", b"x"])
def test_what_is_no_array_passes_as_it_comes(stream: bytes) -> None:
    splitter = _core.ArraySplitter()
    assert b"".join(splitter.feed(stream)) == stream
    assert splitter.broken
    assert splitter.feed(b"[{}]") == [b"[{}]"]
    assert splitter.finish() == b""


def test_an_unfinished_element_is_the_rest() -> None:
    splitter = _core.ArraySplitter()
    assert splitter.feed(b'[{"a": 1}, {"b"') == [b'[{"a": 1}']
    assert (splitter.finish(), splitter.broken) == (b', {"b"', False)
