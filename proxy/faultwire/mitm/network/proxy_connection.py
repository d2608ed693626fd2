"""Connections to servers through the user's own proxy: HTTP CONNECT (RFC 9110 §9.3.6) and SOCKS5 (RFC 1928).

A connection that cannot be made through the proxy fails; it is never made without it.
"""

from __future__ import annotations

import asyncio
import os
import socket
from base64 import b64encode
from contextvars import ContextVar
from typing import TYPE_CHECKING

import h11

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from faultwire.mitm.network.upstream_proxy import UpstreamProxy

CHAINED: ContextVar[UpstreamProxy | None] = ContextVar("CHAINED", default=None)
"""The proxy that the connection which the current task opens goes through."""
TIMEOUT_S = 30.0
"""Seconds for one address of a proxy to be connected to and to answer."""
_READ = 65536


class ProxyFailed(OSError):
    """A proxy led nowhere. An OSError, since it is raised where a connection would fail."""

    def __init__(self, proxy: UpstreamProxy, why: str) -> None:
        super().__init__(f"the proxy `{proxy.url}`, which `{proxy.variable}` names, {why}")


async def connect(
    loop: asyncio.AbstractEventLoop, proxy: UpstreamProxy, addresses: Iterable[Any], host: str, port: int
) -> socket.socket:
    """A socket that leads to `host` through the proxy, by the first of its addresses (as `getaddrinfo` gives
    them) that can be connected to. Raises ProxyFailed."""
    last = ProxyFailed(proxy, "has no address")
    for family, _, _, _, address in addresses:
        made = _by_http if proxy.scheme == "http" else _by_socks
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await made(loop, proxy, family, address, host, port)
        except TimeoutError:
            last = ProxyFailed(proxy, f"did not answer within {TIMEOUT_S:.0f} seconds")
        except ProxyFailed:
            raise
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else type(error).__name__
            last = ProxyFailed(proxy, f"cannot be reached: {why}")
    raise last


async def _by_http(
    loop: asyncio.AbstractEventLoop, proxy: UpstreamProxy, family: int, address: Any, host: str, port: int
) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        await loop.sock_connect(sock, address)
        client = h11.Connection(h11.CLIENT)
        await loop.sock_sendall(sock, _request(client, proxy, host, port))
        while (event := client.next_event()) is h11.NEED_DATA or isinstance(event, h11.InformationalResponse):
            if event is h11.NEED_DATA:
                client.receive_data(await loop.sock_recv(sock, _READ))
        if not isinstance(event, h11.Response):
            raise ProxyFailed(proxy, "closed the connection in place of an answer to CONNECT")
        if not 200 <= event.status_code < 300:
            raise ProxyFailed(proxy, f"refused `{host}:{port}`: it answered CONNECT with {event.status_code}")
        if client.trailing_data[0]:
            raise ProxyFailed(proxy, "sent more than an answer to CONNECT")
    except (h11.ProtocolError, UnicodeError):
        sock.close()
        raise ProxyFailed(proxy, "gave no HTTP answer to CONNECT") from None
    except BaseException:
        sock.close()
        raise
    return sock


def _request(client: h11.Connection, proxy: UpstreamProxy, host: str, port: int) -> bytes:
    target = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    headers = [("Host", target)]
    if proxy.username or proxy.password:
        secret = b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
        headers.append(("Proxy-Authorization", f"Basic {secret}"))
    return client.send(h11.Request(method="CONNECT", target=target, headers=headers)) or b""


async def _by_socks(
    loop: asyncio.AbstractEventLoop, proxy: UpstreamProxy, _family: int, address: Any, host: str, port: int
) -> socket.socket:
    # Few have such a proxy, and the library is 15 ms of every start.
    from python_socks import ProxyError, ProxyType
    from python_socks.async_.asyncio import Proxy

    made = Proxy(
        ProxyType.SOCKS5,
        address[0],
        address[1],
        proxy.username or None,
        proxy.password if proxy.username else None,
        rdns=True,
        loop=loop,
    )
    try:
        return await made.connect(host, port, timeout=TIMEOUT_S)
    except ProxyError as error:
        # The library's own words, or those of RFC 1928 §6; neither quotes what the proxy sent.
        reason = str(error)[:100] or "it gave no answer"
        raise ProxyFailed(proxy, f"refused `{host}:{port}`: {reason}") from None
    except UnicodeError:
        raise ProxyFailed(proxy, f"cannot be asked for `{host}`, which is no host name") from None
