"""What an exchange costs the native path without sockets, TLS and a tape: as heads are read now, and as they
were when mitmproxy's constructors made them. Rounds in turn in one process.

    python -m tests.bench.native_heads --rounds 20
"""

from __future__ import annotations

import argparse
import logging
import statistics
import time
from collections.abc import Callable
from typing import Any

from mitmproxy import http
from tests.fuzz.paths.cases import Case
from tests.fuzz.paths.drivers import Player

from faultwire.mitm.messages import convert
from faultwire.mitm.native import reading, upstream

COUNT = 60
"""Exchanges of one connection, which is one round."""
BODY = b'{"model": "m", "messages": [{"role": "user", "content": "hi"}]}'
ASKED = (
    b"POST /v1/chat/completions HTTP/1.1\r\nhost: api.example.com\r\ncontent-type: application/json\r\n"
    b"content-length: %d\r\n\r\n" % len(BODY)
) + BODY
ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"


def made_request(method: str, target: str, version: str, fields: Any) -> http.Request:
    """A request by mitmproxy's constructor of its members."""
    request = http.Request.__new__(http.Request)
    request.data = http.RequestData(
        host="", port=0, method=method.encode(), scheme=b"", authority=b"", path=target.encode("latin-1"),
        http_version=version.encode(), headers=convert.ReadFields(fields), content=None, trailers=None,
        timestamp_start=0.0, timestamp_end=None,
    )  # fmt: skip
    return request


def made_response(status: int, version: str, reason: str, fields: Any) -> http.Response:
    """The same for a response."""
    response = http.Response.__new__(http.Response)
    response.data = http.ResponseData(
        http_version=version.encode(), status_code=status, reason=reason.encode("latin-1"),
        headers=convert.ReadFields(fields), content=None, trailers=None, timestamp_start=0.0,
        timestamp_end=None,
    )  # fmt: skip
    return response


READ = (reading.read_request, reading.read_response)
MADE = (made_request, made_response)


def cpu_us(ways: tuple[Callable[..., Any], Callable[..., Any]]) -> float:
    """Microseconds of CPU of an exchange; the connection begins before they are counted."""
    steps = (("open", b""), *(("client", ASKED), ("server", ANSWER)) * COUNT)
    player = Player(Case("", 0, steps), native=True)
    player.left = 100 * COUNT
    reading.read_request, upstream.read_response = ways  # type: ignore[attr-defined]
    begun = time.process_time()
    player.play()
    return (time.process_time() - begun) / COUNT * 1e6


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.native_heads", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    logging.disable(logging.CRITICAL)
    for ways in (MADE, READ):
        cpu_us(ways)
    found = [(cpu_us(MADE), cpu_us(READ)) for _ in range(rounds)]
    before, after = (statistics.median(column) for column in zip(*found, strict=True))
    ratios = sorted(now / then for then, now in found)
    print(
        f"an exchange: {before:.0f} µs before, {after:.0f} µs now; median of {rounds} ratios "
        f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    )


if __name__ == "__main__":
    main()
