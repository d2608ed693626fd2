from __future__ import annotations

import hashlib
import shlex
import struct
from pathlib import Path

import pytest

from faultwire.capture import java


def read_jks(data: bytes, password: str) -> list[tuple[str, bytes]]:
    """The format read back by the rules of `JavaKeyStore.engineLoad`."""
    body, digest = data[:-20], data[-20:]
    mixed = password.encode("utf-16-be") + b"Mighty Aphrodite" + body
    assert hashlib.sha1(mixed, usedforsecurity=False).digest() == digest
    magic, version, count = struct.unpack_from(">III", body)
    assert (magic, version) == (0xFEEDFEED, 2)
    at, found = 12, []
    for _ in range(count):
        (tag,) = struct.unpack_from(">I", body, at)
        assert tag == 2
        alias, at = text(body, at + 4)
        kind, at = text(body, at + 8)
        assert kind == "X.509"
        (size,) = struct.unpack_from(">I", body, at)
        found.append((alias, body[at + 4 : at + 4 + size]))
        at += 4 + size
    assert at == len(body)
    return found


def text(body: bytes, at: int) -> tuple[str, int]:
    (size,) = struct.unpack_from(">H", body, at)
    return body[at + 2 : at + 2 + size].decode(), at + 2 + size


def test_the_store_holds_each_certificate_under_its_own_alias() -> None:
    store = java.truststore([b"first", b"second"])
    assert read_jks(store, "changeit") == [("root-0", b"first"), ("root-1", b"second")]
    assert java.truststore([b"first", b"second"]) == store


def test_a_wrong_password_does_not_open_it() -> None:
    with pytest.raises(AssertionError):
        read_jks(java.truststore([b"first"]), "other")


def test_options_with_blanks_are_quoted() -> None:
    options = java.options("127.0.0.1", 9000, Path("/my project/s.jks"))
    assert "-Djavax.net.ssl.trustStore=/my project/s.jks" in shlex.split(options)
    assert "'" not in java.options("127.0.0.1", 9000, Path("/plain/s.jks"))
    assert "'-Djavax.net.ssl.trustStore=/a\"b/s.jks'" in java.options("h", 1, Path('/a"b/s.jks'))
