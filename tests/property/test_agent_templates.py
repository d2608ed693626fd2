"""No prompt breaks out of its place, whatever it is made of."""

from __future__ import annotations

import json
from urllib.parse import parse_qsl, urlsplit

from hypothesis import given, strategies as st

from faultwire.agents._request import call, pieces
from faultwire.agents._template import Template
from faultwire.agents.command import session_word
from faultwire.mutations._request import RequestChange

ANY = st.text(st.characters(codec=None), max_size=60) | st.sampled_from(
    ['"', '\\"', "{prompt}", '"},{"x":"', "\r\nx: y", "\x00", "\ud800", "\u2028", "{}", "&=%+"]
)


@given(ANY, st.lists(ANY, max_size=3))
def test_json(prompt: str, turns: list[str]) -> None:
    template = Template('{"a": "<{prompt}>", "b": {prompt}, "c": {turns}, "d": ["{prompt}{prompt}"]}')
    filled = template.filled({"prompt": prompt, "turns": tuple(turns)})
    assert json.loads(filled) == {"a": f"<{prompt}>", "b": prompt, "c": turns, "d": [prompt * 2]}
    assert filled.isascii()


@given(st.text(max_size=60))
def test_form(prompt: str) -> None:
    filled = Template("q={prompt}&n=1", form=True).filled({"prompt": prompt})
    assert parse_qsl(filled, keep_blank_values=True, separator="&") == [("q", prompt), ("n", "1")]


@given(st.text(max_size=60), st.binary(max_size=60))
def test_query_and_body_never_end_the_head(value: str, body: bytes) -> None:
    told = call("POST", urlsplit("http://h/p?a=1"), [("q", value)], body=body)
    (sent,) = pieces(told)
    head, _, rest = sent.partition(b"\r\n\r\n")
    assert rest == body
    line, *fields = head.split(b"\r\n")
    assert line.count(b" ") == 2
    assert dict(parse_qsl(urlsplit(line.split(b" ")[1].decode()).query, keep_blank_values=True))["q"] == value
    assert len(fields) == 5
    assert fields[-1] == b"content-length: %d" % len(body)


@given(
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=3), st.integers(1, 50), st.integers(1, 50)
)
def test_a_grown_body_is_still_the_same_object(document: dict[str, int], pad: int, nested: int) -> None:
    told = call("POST", urlsplit("http://h/"), body=json.dumps(document).encode())
    (sent,) = pieces(told, RequestChange(pad_bytes=pad, nested=nested))
    grown = json.loads(sent.partition(b"\r\n\r\n")[2])
    assert grown == document | {"padding": "x" * pad, "nested": grown["nested"]}


@given(st.lists(st.text(max_size=90), unique=True, max_size=30))
def test_session_words(names: list[str]) -> None:
    words = {session_word(name) for name in names}
    assert len(words) == len(names)
    assert all(len(word) < 80 and "/" not in word and word.isascii() for word in words)
