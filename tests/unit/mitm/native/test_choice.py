"""Which path a tunnel takes: faultwire.mitm.native.choice."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mitmproxy import ctx
from mitmproxy.certs import Cert, CertStoreEntry
from mitmproxy.connection import Client, ConnectionState, Server
from mitmproxy.options import Options
from mitmproxy.proxy.context import Context

from faultwire import _core
from faultwire.mitm.compat import FastHandler
from faultwire.mitm.compat.leaves import LeafCertificates
from faultwire.mitm.flow.gateway import Gateway
from faultwire.mitm.flow.reverse_proxy import ReverseProxy
from faultwire.mitm.native import choice, lean, self_test
from faultwire.mitm.native.layer import NativeLayer
from faultwire.mitm.native.ways import WAYS
from faultwire.mitm.network import ca


def hello(*alpn: str, name: str | None = "api.example.com", ciphers: str | None = None) -> bytes:
    """What a client says first."""
    context = ssl.create_default_context()
    context.check_hostname = name is not None
    if alpn:
        context.set_alpn_protocols(list(alpn))
    if ciphers:
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(ciphers)
    out = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name).do_handshake()
    return out.read()


class Leaves(LeafCertificates):
    """A certificate for any name, and how many were made."""

    def __init__(self) -> None:
        self.made = 0
        self._key, self.entries = ca.new_key(), {}  # type: ignore[var-annotated]

    def get_cert(self, conn_context: Context) -> Any:
        name = conn_context.client.sni or "127.0.0.1"
        if name not in self.entries:
            self.made += 1
            leaf = ca.issue(ca.stranger(), self._key, name)
            self.entries[name] = CertStoreEntry(Cert(leaf), self._key, None, [])  # type: ignore[arg-type]
        return self.entries[name]


class Place:
    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.client = Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2), state=ConnectionState.OPEN)
        self.context = Context(self.client, Options())
        self.context.server = Server(address=("api.example.com", 443))
        handler: Any = object.__new__(FastHandler)
        server = SimpleNamespace(connections={self.client.id: handler})
        addons = {"proxyserver": server, "tlsconfig": Leaves()}
        monkeypatch.setattr(ctx, "master", SimpleNamespace(addons=addons), raising=False)
        bundle = folder / "bundle.pem"
        bundle.write_bytes(b"")
        self.addons, self.connections = addons, server.connections
        self.gateway = Gateway()
        self.path = choice.NativePath(self.gateway, bundle)

    def choose(self, data: bytes) -> Any:
        return self.path.choose(self.context, data)


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Place:
    return Place(monkeypatch, tmp_path)


@pytest.mark.parametrize("alpn", [(), ("http/1.1",), ("h2", "http/1.1")])
def test_a_client_that_speaks_http_1_is_served_natively(place: Place, alpn: tuple[str, ...]) -> None:
    found = place.choose(hello(*alpn))
    assert isinstance(found, NativeLayer)
    assert (place.gateway.stats.native, place.gateway.stats.native_declined.total()) == (1, 0)
    assert place.client.sni == "api.example.com"
    assert place.client.alpn == (b"http/1.1" if alpn else None)


def test_a_client_that_offers_http_2_is_mitmproxy_s_where_it_is_to_get_that(place: Place) -> None:
    place.path = choice.NativePath(place.gateway, place.path._bundle, http2=True)
    assert place.choose(hello("h2", "http/1.1")) is None
    assert dict(place.gateway.stats.native_declined) == {"http2": 1}
    assert isinstance(place.choose(hello("http/1.1")), NativeLayer)


def test_one_without_tls_is(place: Place) -> None:
    assert isinstance(place.choose(b"GET / HTTP/1.1\r\n"), NativeLayer)


def test_http_2_without_tls_is_mitmproxy_s_which_names_it(place: Place) -> None:
    assert place.path.choose(place.context, b"PRI * HTTP/2.0\r\n\r\n") is None
    assert dict(place.gateway.stats.native_declined) == {"h2c": 1}


def test_a_hello_that_is_not_whole_is_waited_for_and_counted_nowhere(place: Place) -> None:
    said = hello()
    assert [place.choose(said[:size]) for size in (1, 5, len(said) - 1)] == ["waits"] * 3
    assert (place.gateway.stats.native, place.gateway.stats.native_declined.total()) == (0, 0)
    assert isinstance(place.choose(said), NativeLayer)


def test_one_that_never_gets_whole_is_not_waited_for_without_end(place: Place) -> None:
    long = b"\x16\x03\x01\x00\x05" + b"\x01\x00\xff\xff\x00"
    assert place.choose(long) == "waits"
    assert place.choose(long + bytes(choice.HELLO_LIMIT)) is None


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (hello("h2"), "tls"),
        (hello("http/1.0"), "tls"),
        (hello(ciphers="ECDHE-RSA-AES256-SHA384:@SECLEVEL=0"), "tls"),
        (b"\x16\x03\x01\x00\x05\x02\x00\x00\x01\x00", "hello"),
    ],
)
def test_tls_that_the_core_does_not_serve_is_mitmproxy_s(place: Place, said: bytes, why: str) -> None:
    assert place.choose(said) is None
    assert dict(place.gateway.stats.native_declined) == {why: 1}
    assert place.gateway.stats.native == 0


def test_what_only_mitmproxy_does_is_named(place: Place) -> None:
    gateway: Any = place.gateway
    unfit = place.path._unfit
    assert unfit(place.context) is None
    for name, value, why in (("replays", object(), "replay"), ("stock_hooks", True, "hooks")):
        before = getattr(gateway, name)
        setattr(gateway, name, value)
        assert unfit(place.context) == why
        setattr(gateway, name, before)
    place.client.tls = True
    assert unfit(place.context) == "nested"
    place.client.tls = False
    gateway.tunnels._open[place.client.id] = SimpleNamespace(flaw="expired")
    assert unfit(place.context) == "flaw"
    gateway.tunnels._open.clear()
    place.addons["tlsconfig"] = SimpleNamespace()
    assert unfit(place.context) == "certificates"
    place.connections[place.client.id] = SimpleNamespace()
    assert unfit(place.context) == "handler"
    assert place.choose(b"GET / HTTP/1.1\r\n") is None
    assert dict(place.gateway.stats.native_declined) == {"handler": 1}


def test_a_host_on_which_clients_gave_up_is_looked_at_by_mitmproxy_s_path(place: Place) -> None:
    place.gateway.handshakes._suspects["api.example.com"] += 1
    assert place.choose(hello()) is None
    assert dict(place.gateway.stats.native_declined) == {"distrust": 1}


def test_certificates_are_handed_to_the_core_once_and_no_more_than_are_kept(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "KEPT", 2)
    for name in ("a.example", "b.example", "a.example", "c.example", "a.example"):
        assert isinstance(place.choose(hello(name=name)), NativeLayer)
    assert list(place.path._shown) == ["c.example", "a.example"]
    with pytest.raises(ValueError, match="no certificate"):
        _core.Tunnel(place.path.terms, "b.example")


@pytest.mark.parametrize("on", [True, False])
def test_an_engine_has_a_native_path_where_its_settings_want_one(place: Place, on: bool) -> None:
    settings: Any = SimpleNamespace(native=on, http2=False)
    assert (choice.native_path(settings, place.gateway, "bundle.pem") is not None) is on


@pytest.mark.parametrize("way", WAYS)
def test_where_a_self_test_fails_the_next_slower_way_is_taken_and_said(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, way: str
) -> None:
    async def no() -> bool:
        return False

    if way == "streams":
        monkeypatch.setattr(lean, "works", no)
    elif way == "mitmproxy":
        monkeypatch.setattr(self_test, "passes", lambda: False)
    asyncio.run(place.path.prepare(fast=way != "handler"))
    found = place.choose(hello())
    stats = place.gateway.stats
    assert (place.path.way, stats.counted()["native_path"]) == (way, way)
    assert [record.getMessage() for record in caplog.records] == [WAYS[way]] * (way != "transports")
    served = way in ("transports", "streams")
    assert (stats.native, stats.native_streams) == (int(served), int(way == "streams"))
    assert dict(stats.native_declined) == ({} if served else {"self_test": 1})
    assert found._lean is (way == "transports") if served else found is None
    place.context.server = Server(address=None)
    assert (place.path.choose_plain(place.context, URL) is not None) is served


URL = b"GET http://api.example.com/ HTTP/1.1\r\n"


def test_a_client_that_asks_the_proxy_for_a_url_is_served_natively(place: Place) -> None:
    place.context.server = Server(address=None)
    assert isinstance(place.path.choose_plain(place.context, URL), NativeLayer)
    assert (place.gateway.stats.native, place.gateway.stats.native_plain) == (0, 1)


@pytest.mark.parametrize("routes", [{}, {"r": "https://api.example.com"}])
def test_one_that_asks_by_path_is_in_base_url_mode_where_routes_are_declared(
    place: Place, routes: dict[str, str]
) -> None:
    place.context.server = Server(address=None)
    place.gateway.reverse = ReverseProxy(routes)
    found = place.path.choose_plain(place.context, b"POST /token/r/x HTTP/1.1\r\n")
    assert isinstance(found, NativeLayer) is bool(routes)
    stats = place.gateway.stats
    assert (stats.native_plain, stats.native_base_url) == (0, int(bool(routes)))
    assert stats.native_declined.total() == 0


OTHERS = (
    *(b"CONNECT a:1 HTTP/1.1", b"GET / HTTP/1.1", b"GET https://a/ HTTP/1.1", b"get http://a/"),
    *(b"\x00", b"A" * 17 + b" http://a/", b"PRI * HTTP/2.0"),
)


@pytest.mark.parametrize("said", OTHERS, ids=range(len(OTHERS)))
def test_anything_else_is_mitmproxy_s_and_counted_nowhere(place: Place, said: bytes) -> None:
    place.context.server = Server(address=None)
    found = [place.path.choose_plain(place.context, said[:size]) for size in range(1, len(said) + 1)]
    assert found[-1] is None
    assert set(found) <= {None, "waits"}
    assert found.index(None) < len(found)
    assert place.gateway.stats.native_declined.total() == place.gateway.stats.native_plain == 0


def test_one_whose_url_has_not_come_yet_is_waited_for(place: Place) -> None:
    place.context.server = Server(address=None)
    last = len(b"GET http://")
    assert {place.path.choose_plain(place.context, URL[:size]) for size in range(1, last)} == {"waits"}
    assert isinstance(place.path.choose_plain(place.context, URL[:last]), NativeLayer)


def test_where_only_mitmproxy_does_what_may_be_asked_it_is_counted(place: Place) -> None:
    place.context.server = Server(address=None)
    place.path = choice.NativePath(place.gateway, place.path._bundle, clients=object())  # type: ignore[arg-type]
    assert place.path.choose_plain(place.context, URL) is None
    place.client.tls = True
    assert place.path.choose_plain(place.context, URL) is None
    assert dict(place.gateway.stats.native_declined) == {"client_certificate": 1, "nested": 1}
