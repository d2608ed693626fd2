"""Heads of HTTP/1 that are refused on mitmproxy's path: faultwire.mitm.compat.http1."""

from __future__ import annotations

import pytest
from tests.fuzz.paths.cases import Case
from tests.fuzz.paths.outcomes import outcome

GET = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"
OK = b"HTTP/1.1 204 No Content\r\n\r\n"


@pytest.mark.parametrize("said", [(GET + b"\n\n",), (GET, b"\n\n"), (GET + b"x\r\n\r\n",)])
def test_a_head_that_is_refused_behind_another_is_counted_once(said: tuple[bytes, ...]) -> None:
    steps = [("client", data) for data in said]
    steps.insert(1, ("server", OK))
    found = outcome(Case("", 0, tuple(steps)), native=False)
    assert found.counters["malformed"] == 1
    assert found.counters["exchanges"] == 1
    assert found.client_end == "closed"


@pytest.mark.parametrize(
    ("said", "status", "words"),
    [
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"505", b"HTTP/2 without TLS (h2c)"),
        (b"PRI * HTTP/3.0\r\n\r\n", b"400", b"malformed"),
    ],
)
def test_http2_without_tls_is_named_and_nothing_else_is(said: bytes, status: bytes, words: bytes) -> None:
    found = outcome(Case("", 0, (("client", said),)), native=False)
    got = b"".join(found.client)
    assert got.startswith(b"HTTP/1.1 " + status)
    assert words in got
    assert found.counters["malformed"] == (status == b"400")
    assert found.client_end == "closed"
