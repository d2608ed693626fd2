"""What is said to a proxy, and every way in which it can fail. The loop below stands for the socket."""

from __future__ import annotations

import asyncio
import errno
import socket
from base64 import b64encode
from collections.abc import Callable, Iterator

import pytest

from faultwire.mitm.network.proxy_connection import ProxyFailed, connect
from faultwire.mitm.network.upstream_proxy import UpstreamProxy

HTTP = UpstreamProxy("http", "proxy.example", 3128, "HTTPS_PROXY", "us:er", "pass-w\xf6rd")
SOCKS = UpstreamProxy("socks5", "proxy.example", 1080, "ALL_PROXY", "user", "pass-word")
INFOS = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 3128)) for address in ("10.0.0.1", "10.0.0.2")]
GRANTED = b"\x05\x00\x00\x01" + bytes(6)


class Proxy(asyncio.SelectorEventLoop):
    """A loop whose sockets talk to a proxy that says `answers`, one piece at each reading, then ends."""

    def __init__(self, *answers: bytes, down: int = 0) -> None:
        super().__init__()
        self.answers = list(answers)
        self.down = down
        self.sent = b""
        self.called: list[object] = []
        self.sockets: list[socket.socket] = []

    async def sock_connect(self, sock: socket.socket, address: object) -> None:
        self.called.append(address)
        self.sockets.append(sock)
        if len(self.called) <= self.down:
            raise OSError(errno.ECONNREFUSED, "Connect call failed")

    async def sock_sendall(self, sock: socket.socket, data: bytes) -> None:
        self.sent += data

    async def sock_recv(self, sock: socket.socket, size: int) -> bytes:
        if not self.answers:
            return b""
        first = self.answers.pop(0)
        if len(first) > size:
            self.answers.insert(0, first[size:])
        return first[:size]

    def through(self, proxy: UpstreamProxy, host: str = "api.example") -> socket.socket:
        return self.run_until_complete(connect(self, proxy, INFOS, host, 443))


@pytest.fixture
def talking() -> Iterator[Callable[..., Proxy]]:
    loops: list[Proxy] = []

    def make(*answers: bytes, down: int = 0) -> Proxy:
        loops.append(Proxy(*answers, down=down))
        return loops[-1]

    yield make
    for loop in loops:
        for sock in loop.sockets:
            sock.close()
        loop.close()


def test_connect_names_the_server_and_the_user(talking: Callable[..., Proxy]) -> None:
    loop = talking(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 20", b"0 OK\r\nvia: a", b"\r\n\r\n")
    assert loop.through(HTTP) is loop.sockets[0]
    secret = b64encode("us:er:pass-w\xf6rd".encode())
    assert loop.sent == (
        b"CONNECT api.example:443 HTTP/1.1\r\nHost: api.example:443\r\n"
        b"Proxy-Authorization: Basic " + secret + b"\r\n\r\n"
    )
    assert loop.sockets[0].fileno() >= 0


def test_an_ipv6_address_stands_in_brackets_and_no_user_is_sent_unasked(
    talking: Callable[..., Proxy],
) -> None:
    loop = talking(b"HTTP/1.0 200 OK\r\n\r\n")
    loop.through(UpstreamProxy("http", "h", 1, "ALL_PROXY"), "fd00::1")
    assert loop.sent == b"CONNECT [fd00::1]:443 HTTP/1.1\r\nHost: [fd00::1]:443\r\n\r\n"


def test_socks_leaves_the_name_to_the_proxy(talking: Callable[..., Proxy]) -> None:
    loop = talking(b"\x05\x02", b"\x01\x00", GRANTED[:4], GRANTED[4:])
    assert loop.through(SOCKS) is loop.sockets[0]
    assert loop.sent.endswith(b"\x05\x01\x00\x03\x0bapi.example\x01\xbb")
    assert b"\x01\x04user\x09pass-word" in loop.sent


@pytest.mark.parametrize(
    ("proxy", "answers", "why"),
    [
        (HTTP, [b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"], "it answered CONNECT with 407"),
        (
            HTTP,
            [b"HTTP/1.1 502 pass-word\r\n\r\n"],
            "it answered CONNECT with 502",
        ),
        (HTTP, [b"HTTP/1.1 200 OK\r\n\r\nmore"], "sent more than an answer to CONNECT"),
        (HTTP, [b"HTTP/1.1 20"], "gave no HTTP answer to CONNECT"),
        (HTTP, [b"SSH-2.0-OpenSSH\r\n\r\n"], "gave no HTTP answer to CONNECT"),
        (HTTP, [], "gave no HTTP answer to CONNECT"),
        (SOCKS, [b"\x05\xff"], "refused `api.example:443`: No acceptable authentication methods"),
        (SOCKS, [b"\x05\x02", b"\x01\x01"], "Username and password authentication failure"),
        (SOCKS, [b"\x05\x02", b"\x01\x00", b"\x05\x02\x00"], "refused `api.example:443`: "),
        (SOCKS, [b"HT", b"TP"], "refused `api.example:443`: Unexpected SOCKS version"),
        (SOCKS, [b"\x05"], "refused `api.example:443`: "),
    ],
)
def test_a_proxy_that_does_not_grant_it_is_named_without_its_credentials(
    talking: Callable[..., Proxy], proxy: UpstreamProxy, answers: list[bytes], why: str
) -> None:
    loop = talking(*answers)
    with pytest.raises(ProxyFailed) as failed:
        loop.through(proxy)
    said = str(failed.value)
    assert said.startswith(f"the proxy `{proxy.url}`, which `{proxy.variable}` names, ")
    assert why in said
    assert "pass-w" not in said
    assert loop.called == [("10.0.0.1", 3128)], "it answered, so that no other address of it is asked"
    assert loop.sockets[0].fileno() < 0, "the socket is closed"


@pytest.mark.parametrize("proxy", [HTTP, SOCKS])
def test_each_of_its_addresses_is_tried(talking: Callable[..., Proxy], proxy: UpstreamProxy) -> None:
    answers = (b"HTTP/1.1 200 OK\r\n\r\n",) if proxy is HTTP else (b"\x05\x02", b"\x01\x00", GRANTED)
    loop = talking(*answers, down=1)
    loop.through(proxy)
    assert [called[0] for called in loop.called] == ["10.0.0.1", "10.0.0.2"]  # type: ignore[index]
    down = talking(down=2)
    with pytest.raises(ProxyFailed, match="names, cannot be reached: Connection refused"):
        down.through(proxy)


def test_a_host_that_is_no_name_fails_as_connections_do(talking: Callable[..., Proxy]) -> None:
    with pytest.raises(ProxyFailed, match="gave no HTTP answer"):
        talking().through(HTTP, "a\r\nb")
    with pytest.raises(ProxyFailed, match="no host name"):
        talking(b"\x05\x02", b"\x01\x00").through(SOCKS, "a" * 70 + ".\xf6")


def test_one_without_an_address(talking: Callable[..., Proxy]) -> None:
    loop = talking()
    with pytest.raises(ProxyFailed, match="has no address"):
        loop.run_until_complete(connect(loop, HTTP, [], "api.example", 443))
