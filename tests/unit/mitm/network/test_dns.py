"""Every name has an address, and every address that was given has its name."""

from __future__ import annotations

import ipaddress
import struct

import pytest

from faultwire.mitm.network import dns

A, AAAA, PTR, HTTPS, TXT = 1, 28, 12, 65, 16


def query(name: str, kind: int = A, *, flags: int = 0x0100, questions: int = 1, group: int = 1) -> bytes:
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split(".") if part)
    return (
        struct.pack(">HHHHHH", 0xBEEF, flags, questions, 0, 0, 0)
        + labels
        + b"\0"
        + struct.pack(">HH", kind, group)
    )


def read(answer: bytes | None) -> tuple[int, bytes | None]:
    """The code, and the data of the only record."""
    assert answer is not None
    ident, flags, questions, records, *_ = struct.unpack(">HHHHHH", answer[:12])
    assert ident == 0xBEEF
    assert flags & 0x8000
    if not records:
        return flags & 0xF, None
    assert (questions, records) == (1, 1)
    at = answer.index(b"\xc0\x0c")
    _, _, _, ttl, size = struct.unpack(">HHHIH", answer[at : at + 12])
    assert ttl > 0
    assert len(answer) == at + 12 + size
    return flags & 0xF, answer[at + 12 :]


def test_a_name_has_one_address_of_each_family_however_it_is_written() -> None:
    names = dns.Names()
    code, data = read(dns.respond(query("api.openai.com"), names))
    assert (code, data) == (0, ipaddress.ip_address("198.18.0.1").packed)
    assert read(dns.respond(query("API.OpenAI.com"), names)) == (0, data)
    assert read(dns.respond(query("other.example"), names))[1] == ipaddress.ip_address("198.18.0.2").packed
    _, six = read(dns.respond(query("api.openai.com", AAAA), names))
    assert six is not None
    assert names.name("198.18.0.1") == names.name(str(ipaddress.ip_address(six))) == "api.openai.com"


def test_an_address_that_was_not_given_has_no_name() -> None:
    names = dns.Names()
    names.addresses("a.example")
    assert names.name("198.18.0.2") is names.name("192.0.2.1") is names.name("::1") is None
    assert names.name("198.18.0.0") is None


def test_without_ipv6_there_is_no_address_of_it() -> None:
    assert read(dns.respond(query("a.example", AAAA), dns.Names(ipv6=False))) == (0, None)


@pytest.mark.parametrize("kind", [HTTPS, TXT, 33, 255])
def test_other_records_are_not_there(kind: int) -> None:
    assert read(dns.respond(query("a.example", kind), dns.Names())) == (0, None)


def test_an_address_is_named_when_it_is_asked_for() -> None:
    names = dns.Names()
    names.addresses("api.openai.com")
    found = b"\3api\6openai\3com\0"
    assert read(dns.respond(query("1.0.18.198.in-addr.arpa", PTR), names)) == (0, found)
    six = ipaddress.ip_address(names.addresses("api.openai.com")[1] or "").reverse_pointer  # type: ignore[index]
    assert read(dns.respond(query(six, PTR), names)) == (0, found)
    assert read(dns.respond(query("9.0.18.198.in-addr.arpa", PTR), names)) == (3, None)
    assert read(dns.respond(query("x.in-addr.arpa", PTR), names)) == (3, None)


def test_names_beyond_the_range_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dns, "MOST_NAMES", 1)
    names = dns.Names()
    assert read(dns.respond(query("a.example"), names))[0] == 0
    assert read(dns.respond(query("b.example"), names))[0] == 2
    assert read(dns.respond(query("a.example"), names))[0] == 0


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (query("a.example", flags=0x2800), 4),  # an update
        (query("a.example", questions=2), 1),
        (query("a.example")[:-3], 1),
        (query("a.example")[:14], 1),
        (struct.pack(">HHHHHH", 0xBEEF, 0x100, 1, 0, 0, 0) + b"\xc0\x0c\0\1\0\1", 1),  # a pointer
        (query("a b.example"), 1),
        (query(".".join(["a" * 60] * 5)), 1),
    ],
)
def test_what_is_no_question_is_answered_so(message: bytes, code: int) -> None:
    assert read(dns.respond(message, dns.Names())) == (code, None)


def test_an_answer_is_not_answered() -> None:
    assert dns.respond(query("a.example", flags=0x8180), dns.Names()) is None
    assert dns.respond(b"\xbe\xef\x01", dns.Names()) is None


def test_another_class_has_nothing() -> None:
    names = dns.Names()
    assert read(dns.respond(query("version.bind", TXT, group=3), names)) == (0, None)
    assert names.name("198.18.0.1") is None
