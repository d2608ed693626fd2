"""What confirms and what revokes a recognition, over many bodies: faultwire.wire.recognition.confirm."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings, strategies as st
from tests.unit.mock.every import EVERY, answered

from faultwire import wire
from faultwire.events import Response

PLAIN = [name for name in EVERY if name not in ("realtime", "responses socket")]
SAID = {name: answered(EVERY[name]) for name in PLAIN}
JSON = (("content-type", "application/json"),)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def confirms(name: str, response: Response) -> bool | None:
    question = EVERY[name]
    return wire.protocol(question.protocol).confirms(response, question.request)


@settings(deadline=None)
@given(name=st.sampled_from(PLAIN), share=st.floats(0, 1))
def test_no_beginning_of_an_answer_revokes(name: str, share: float) -> None:
    said = SAID[name]
    body = said.body or b""
    part = body[: round(len(body) * share)]
    assert confirms(name, Response(said.status, "", said.headers, part)) is not False
    assert confirms(name, said) is True


@settings(deadline=None)
@given(name=st.sampled_from(PLAIN), body=st.binary(max_size=64), status=st.integers(300, 599))
def test_no_body_of_an_error_revokes(name: str, body: bytes, status: int) -> None:
    assert confirms(name, Response(status, "", JSON, body)) is None


@pytest.mark.parametrize("name", ["chat", "anthropic", "responses", "gemini", "ollama, whole", "cohere"])
@settings(deadline=None)
@given(found=st.dictionaries(st.from_regex(r"z[a-z]{1,6}", fullmatch=True), VALUES, min_size=1, max_size=4))
def test_nothing_without_a_sign_confirms(name: str, found: dict[str, object]) -> None:
    assert confirms(name, Response(200, "", JSON, json.dumps(found).encode())) is False


@settings(deadline=None)
@given(
    name=st.sampled_from(PLAIN), body=st.binary(max_size=200), kind=st.sampled_from(["", "text/event-stream"])
)
def test_no_bytes_are_too_odd(name: str, body: bytes, kind: str) -> None:
    headers = (("content-type", kind),) if kind else ()
    assert confirms(name, Response(200, "", headers, body)) in (None, True, False)
