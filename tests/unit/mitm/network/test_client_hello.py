"""Which client says hello, from the bytes of OpenSSL's hellos and of some made by hand."""

from __future__ import annotations

import ssl

import pytest

from faultwire.mitm.network.client_hello import fingerprint

GREASE = 0x2A2A
GROUPS = b"\0\x04\0\x1d\0\x17"
SIGNS = b"\0\x02\x04\x03"


def of_openssl(*alpn: str, name: str = "api.example.com", highest: ssl.TLSVersion | None = None) -> bytes:
    context = ssl.create_default_context()
    if alpn:
        context.set_alpn_protocols(list(alpn))
    if highest is not None:
        context.maximum_version = highest
    out = ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name).do_handshake()
    return out.read()


def sized(data: bytes, size: int = 2) -> bytes:
    return len(data).to_bytes(size) + data


def by_hand(extensions: list[tuple[int, bytes]], suites: tuple[int, ...] = (0x1301,)) -> bytes:
    body = b"".join(kind.to_bytes(2) + sized(one) for kind, one in extensions)
    listed = b"".join(one.to_bytes(2) for one in suites)
    hello = b"\x03\x03" + bytes(32) + b"\0" + sized(listed) + b"\x01\0" + sized(body)
    return b"\x16\x03\x01" + sized(b"\x01" + sized(hello, 3))


def test_one_client_is_the_same_at_every_connection_and_server() -> None:
    first = fingerprint(of_openssl("h2", "http/1.1"))
    assert len(first) == 16
    assert fingerprint(of_openssl("h2", "http/1.1", name="other.example")) == first


@pytest.mark.parametrize(
    "other", [of_openssl("http/1.1"), of_openssl("h2", "http/1.1", highest=ssl.TLSVersion.TLSv1_2)]
)
def test_one_that_offers_something_else_is_another(other: bytes) -> None:
    assert fingerprint(other) not in {"", fingerprint(of_openssl("h2", "http/1.1"))}


def test_what_a_client_changes_from_one_connection_to_the_next_counts_for_nothing() -> None:
    plain = by_hand([(10, GROUPS), (13, SIGNS)])
    resumed = by_hand(
        [(13, SIGNS), (GREASE, b""), (10, GROUPS), (35, b"ticket"), (41, b"binder"), (21, b"\0" * 9)]
    )
    greased = by_hand([(10, b"\0\x06\x2a\x2a" + GROUPS[2:]), (13, SIGNS)], (GREASE, 0x1301))
    assert fingerprint(plain) == fingerprint(resumed) == fingerprint(greased) != ""
    others = (by_hand([(10, b"\0\x02\0\x17"), (13, SIGNS)]), by_hand([(10, GROUPS)]), by_hand([], (0x1302,)))
    assert len({fingerprint(plain), *map(fingerprint, others)}) == 4


def test_a_hello_in_several_records_is_read_whole() -> None:
    whole = of_openssl("http/1.1")
    message = whole[5:]
    split = b"".join(b"\x16\x03\x01" + sized(message[at : at + 100]) for at in range(0, len(message), 100))
    assert fingerprint(split) == fingerprint(whole)


def test_bytes_that_are_no_whole_hello_say_nothing() -> None:
    whole = of_openssl()
    for length in range(len(whole)):
        assert fingerprint(whole[:length]) == ""
    assert fingerprint(b"GET / HTTP/1.1\r\n\r\n") == ""
    assert fingerprint(b"\x16\x03\x01" + sized(b"\x02" + sized(b"", 3))) == ""
    assert fingerprint(b"\x16\x03\x01" + sized(b"\x01" + sized(b"\x03\x03", 3))) == ""
