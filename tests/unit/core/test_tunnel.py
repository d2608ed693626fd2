"""The typed face of a tunnel: TLS of Python's own on either side of it."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from faultwire import _core
from faultwire.mitm.network import ca

NAME = "api.example.com"
GET = b"GET / HTTP/1.1\r\nhost: api.example.com\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"


class End:
    """One end of TLS, by Python's own; `signer` vouches for the other end, or for this one."""

    def __init__(self, context: ssl.SSLContext, *, server: bool) -> None:
        self.came, self.out = ssl.MemoryBIO(), ssl.MemoryBIO()
        name = None if server else NAME
        self.tls = context.wrap_bio(self.came, self.out, server_side=server, server_hostname=name)
        self.said = b""
        self.done = False

    def take(self, data: bytes | None) -> None:
        if data:
            self.came.write(data)
        try:
            if not self.done:
                self.tls.do_handshake()
                self.done = True
            while found := self.tls.read(65536):
                self.said += found
        except ssl.SSLWantReadError:
            pass


class Pki:
    def __init__(self, folder: Path) -> None:
        self.signer = ca.stranger()
        self.pem = self.signer.certificate.public_bytes(Encoding.PEM)
        self.folder = folder

    def leaf(self, name: str) -> tuple[x509.Certificate, bytes]:
        key = ca.new_key()
        made = ca.issue(self.signer, key, name)
        file = self.folder / f"{name}.pem"
        secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        file.write_bytes(secret + made.public_bytes(Encoding.PEM))
        return made, key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())

    def terms(self) -> _core.Terms:
        terms = _core.Terms(self.pem)
        leaf, key = self.leaf(NAME)
        terms.add_leaf(NAME, [leaf.public_bytes(Encoding.DER)], key)
        return terms

    def client(self) -> ssl.SSLContext:
        return ssl.create_default_context(cadata=self.pem.decode())

    def server(self, name: str) -> ssl.SSLContext:
        self.leaf(name)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / f"{name}.pem")
        return context


@pytest.fixture
def pki(tmp_path: Path) -> Pki:
    return Pki(tmp_path)


def turn(end: End, tunnel: _core.Tunnel, *, server: bool) -> list[tuple[object, ...]]:
    """Pass bytes both ways until nobody says anything more; what the tunnel heard."""
    words: list[tuple[object, ...]] = []
    while True:
        end.take(tunnel.take(server=server))
        said = end.out.read()
        if not said:
            return words
        words += tunnel.receive(said, server=server)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_client_s_request_is_read_and_answered(pki: Pki, version: ssl.TLSVersion) -> None:
    tunnel = _core.Tunnel(pki.terms(), NAME)
    context = pki.client()
    context.maximum_version = context.minimum_version = version
    client = End(context, server=False)
    assert turn(client, tunnel, server=False) == [("open",)]
    assert client.done
    assert client.tls.selected_alpn_protocol() is None
    client.tls.write(GET)
    head, end = turn(client, tunnel, server=False)
    assert head == ("head", "GET", "/", "HTTP/1.1", (("host", NAME),), True, GET)
    assert end == ("end",)
    assert tunnel.send(OK, server=False) == 0
    turn(client, tunnel, server=False)
    assert client.said == OK


def test_tickets_go_out_with_the_first_answer(pki: Pki) -> None:
    tunnel = _core.Tunnel(pki.terms(), NAME)
    client = End(pki.client(), server=False)
    turn(client, tunnel, server=False)
    assert tunnel.take(server=False) is None
    tunnel.send(OK, server=False)
    assert len(tunnel.take(server=False) or b"") > len(OK) + 100


def test_a_client_that_does_not_take_the_certificate_is_named_as_openssl_names_it(pki: Pki) -> None:
    tunnel = _core.Tunnel(pki.terms(), NAME)
    client = End(ssl.create_default_context(cadata=Pki(pki.folder).pem.decode()), server=False)
    with pytest.raises(ssl.SSLCertVerificationError):
        turn(client, tunnel, server=False)
    assert tunnel.receive(client.out.read(), server=False) == [("failed", "unknown ca")]


def test_a_server_is_asked_by_its_name_and_answers(pki: Pki) -> None:
    tunnel = _core.Tunnel(pki.terms(), None)
    tunnel.open_server(NAME)
    server = End(pki.server(NAME), server=True)
    assert turn(server, tunnel, server=True) == [("open",)]
    assert tunnel.next(server=True) == []
    assert tunnel.send(GET, server=True) == 1
    turn(server, tunnel, server=True)
    assert server.said == GET
    server.tls.write(OK)
    head, data, end = turn(server, tunnel, server=True)
    assert (head[1:4], data, end) == ((200, "HTTP/1.1", "OK"), ("data", b"hi"), ("end",))


@pytest.mark.parametrize("name", ["other.example.com", "1.2.3.4"])
def test_a_server_of_another_name_is_not_taken(pki: Pki, name: str) -> None:
    tunnel = _core.Tunnel(pki.terms(), None)
    tunnel.open_server(NAME)
    server = End(pki.server(name), server=True)
    with pytest.raises(ssl.SSLError):  # it is told
        turn(server, tunnel, server=True)
    assert server.said == b""


def test_a_server_that_nobody_vouches_for_is_not_taken(pki: Pki) -> None:
    tunnel = _core.Tunnel(_core.Terms(b""), None)
    tunnel.open_server(NAME)
    server = End(pki.server(NAME), server=True)
    with pytest.raises(ssl.SSLError):
        turn(server, tunnel, server=True)


def test_a_body_is_whole_only_where_its_tls_was_ended(pki: Pki) -> None:
    for ends in (True, False):
        tunnel = _core.Tunnel(pki.terms(), None)
        tunnel.open_server(NAME)
        server = End(pki.server(NAME), server=True)
        turn(server, tunnel, server=True)
        tunnel.next(server=True)
        server.tls.write(b"HTTP/1.0 200 OK\r\n\r\nall")
        words = turn(server, tunnel, server=True)
        assert words[1] == ("data", b"all")
        if ends:
            with pytest.raises(ssl.SSLWantReadError):
                server.tls.unwrap()
            assert tunnel.receive(server.out.read(), server=True) == [("closed",)]
            assert tunnel.finish(server=True) == [("end",)]
        else:
            assert tunnel.finish(server=True)[0][:2] == ("flaw", "body")


def test_a_name_without_a_certificate_has_no_tunnel(pki: Pki) -> None:
    terms = pki.terms()
    terms.drop_leaf(NAME)
    with pytest.raises(ValueError, match="no certificate"):
        _core.Tunnel(terms, NAME)
    with pytest.raises(ValueError, match=r".+"):
        _core.Tunnel(terms, None).open_server("not a name")


def test_what_follows_a_switch_is_raw() -> None:
    tunnel = _core.Tunnel(_core.Terms(b""), None)
    tunnel.open_server(None)
    tunnel.receive(GET + b"early", server=False)
    assert tunnel.pending(server=False) == 5
    assert tunnel.switch() == (b"early", b"")
    assert tunnel.receive(b"more", server=False) == [("raw", b"more")]
    assert tunnel.receive(b"back", server=True) == [("raw", b"back")]
    assert tunnel.send(GET, server=True) == 0, "these are no requests"


def test_a_hello_is_read_once_it_is_whole(pki: Pki) -> None:
    context = pki.client()
    context.set_alpn_protocols(["h2", "http/1.1"])
    client = End(context, server=False)
    client.take(b"")
    said = client.out.read()
    assert _core.client_hello(said[:-1]) is None
    assert _core.client_hello(said) == (NAME, [b"h2", b"http/1.1"], True)
    with pytest.raises(ValueError, match=r".+"):
        _core.client_hello(b"GET / HTTP/1.1\r\n\r\n")
