"""Clients of Python that ask no environment for a proxy: `direct.py KIND URL COUNT`."""

from __future__ import annotations

import asyncio
import socket
import ssl
import sys
from urllib.parse import urlsplit


def tls(url: str) -> int:
    """A socket, TLS, and a request by hand."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    with (
        socket.create_connection((parts.hostname, 443), 20) as bare,
        ssl.create_default_context().wrap_socket(bare, server_hostname=parts.hostname) as sock,
    ):
        sock.sendall(
            f"GET {parts.path} HTTP/1.1\r\nHost: {parts.hostname}\r\nConnection: close\r\n\r\n".encode()
        )
        return int(sock.makefile("rb").readline().split()[1])


def urllib3(url: str) -> int:
    """A pool as it comes."""
    import urllib3

    return int(urllib3.PoolManager().request("GET", url, retries=False, timeout=20).status)


def aiohttp(url: str) -> int:
    """A session without `trust_env`."""
    import aiohttp

    async def call() -> int:
        async with aiohttp.ClientSession() as session, session.get(url) as answer:
            await answer.read()
            return int(answer.status)

    return asyncio.run(call())


if __name__ == "__main__":
    for _ in range(int(sys.argv[3])):
        print({"tls": tls, "urllib3": urllib3, "aiohttp": aiohttp}[sys.argv[1]](sys.argv[2]), flush=True)
