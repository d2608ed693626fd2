"""Keys that do not depend on whose tape an agent was answered from.

Covers faultwire.wire.recognition.placeholders.
"""

from __future__ import annotations

import json

from faultwire import wire
from faultwire.events import Request
from faultwire.wire.recognition.placeholders import unkeyed

ONE, TWO = b"redacted:v1:" + b"1a" * 16, b"redacted:v1:" + b"2b" * 16


def test_placeholders_are_named_by_their_order() -> None:
    assert unkeyed(ONE + b" " + TWO + b" " + ONE) == unkeyed(TWO + b" " + ONE + b" " + TWO)
    assert unkeyed(ONE + b" " + TWO) != unkeyed(ONE + b" " + ONE)


def test_all_other_bytes_stay_the_same_object() -> None:
    plain = b'{"text": "redacted:v2:' + b"1a" * 16 + b'"}'
    assert unkeyed(plain) is plain
    assert unkeyed(b"redacted:v1:short") == b"redacted:v1:short"


def key(*secrets: bytes) -> str:
    said = json.dumps({"model": "m", "messages": [{"role": "user", "content": s.decode()} for s in secrets]})
    headers = (("content-type", "application/json"),)
    path = f"/v1/chat/completions?note={secrets[0].decode()}"
    return wire.understand(Request("POST", "https", "api.openai.com", 443, path, headers, said.encode())).key


def test_a_request_that_says_them_has_the_same_key_on_every_machine() -> None:
    assert key(ONE, TWO) == key(TWO, ONE)
    assert key(ONE, TWO) != key(ONE, ONE)
    assert key(b"one", b"two") != key(b"two", b"one")


def test_so_has_a_tool_call() -> None:
    one, two = (json.dumps({"token": secret.decode()}) for secret in (ONE, TWO))
    assert wire.tool_key("t", one) == wire.tool_key("t", two)
    assert wire.tool_key("t", '{"token": "a"}') != wire.tool_key("t", '{"token": "b"}')
