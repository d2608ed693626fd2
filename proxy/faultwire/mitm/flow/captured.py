"""Connections that were meant for a server and came to us: what is spoken in them, and with whom.

The destination is an address for which a name stands, or one that the client had from elsewhere (a file of
hosts, a literal): then TLS or the request names the host. Other protocols are not for us.
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any, Literal

from faultwire.events import Request
from faultwire.mitm.compat import leaves, transports
from faultwire.mitm.network.ca_certificates import within

if TYPE_CHECKING:
    from mitmproxy import http
    from mitmproxy.connection import Client
    from mitmproxy.proxy.context import Context

    from faultwire.mitm.flow.gateway import Gateway

Speech = Literal["tls", "http", "other"]
TLS_RECORD = 0x16
LONGEST_METHOD = 20
"""Letters; the longest that is registered (RFC 9110 §16.1) has 17."""
_TARGET = b"/*hHwW"
"""How a request's target begins: a path, `*`, or a whole URL."""
_PREFACE = b"PRI * HTTP/2.0\r\n"


def speech(data: bytes) -> Speech | None:
    """What the first bytes of a connection are; None where that needs more of them."""
    if data[0] == TLS_RECORD:
        return "tls"
    method, blank, rest = data.partition(b" ")
    if not all(0x41 <= byte <= 0x5A or byte == 0x2D for byte in method) or not method:
        return "other"
    if len(method) > LONGEST_METHOD:
        return "other"
    if not blank or not rest:
        return None
    if _PREFACE.startswith(data[: len(_PREFACE)]):
        return "http"
    return "http" if rest[:1] in [bytes([one]) for one in _TARGET] else "other"


def turn_away(gateway: Gateway, context: Context) -> None:
    """Reset a connection in which something else is spoken, and count it."""
    place = context.server.address
    for session in gateway.connection(context.client).sessions:
        if place is not None:
            session.namespace.reset((place[0], place[1]))
    transports.hang_up(context.client)


def greet(gateway: Gateway, context: Context, client: Client) -> bool:
    """A client begins TLS: find out with whom, and decide on the connection as on a tunnel.

    False where it was ended.
    """
    server = context.server
    address = server.address
    if address is None:
        return True
    if client.sni and is_address(address[0]):
        address = server.address = (client.sni.lower().rstrip("."), address[1])
    host, port = address[0], address[1]
    found = gateway.connection(client).sessions
    if not within(leaves.signer().hosts, host):
        for one in found:
            one.uncovered(host)
        _hang_up(gateway, client)
        return False
    session = found[0] if len(found) == 1 else None
    if session is None or session.stages.idle or gateway.tunnels.of(client) is not None:
        return True
    head = Request("CONNECT", "https", host, port, "", ())
    if gateway.tunnels.enter(session, client, head, gateway.tape, direct=True) is not None:
        _hang_up(gateway, client)
        return False
    return True


def _hang_up(gateway: Gateway, client: Client) -> None:
    gateway.connection(client).hung_up = True
    transports.hang_up(client)


def name_host(flow: http.HTTPFlow) -> None:
    """A request in plain HTTP to an address: the host is the one that it names, if it names one."""
    request = flow.request
    if not is_address(request.host):
        return
    named = request.host_header or ""
    host = named.rpartition(":")[0] if named.rpartition(":")[2].isdigit() else named
    if host and host[-1:] != "]" and not is_address(host) and ":" not in host:
        request.data.host = host.lower()


def is_address(host: str) -> bool:
    """Is it a literal address?"""
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def belongs(gateway: Gateway, client: Client, session: Any) -> None:
    """A client's connection is of a session, by where it came in."""
    link = gateway.connection(client)
    link.belongs(session)
    link.captured = True
    gateway.access.vouch(client)
