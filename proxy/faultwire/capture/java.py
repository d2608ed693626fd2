"""What Java needs: options, since it reads no proxy variable, and a trust store of its own.

The store is in the JKS format: it needs no JDK tool and no password-based encryption, holds public
certificates only, and is read by every Java since 1.2 (PKCS #12 is read only with an attribute that
few writers can set).
"""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

PASSWORD = "changeit"
"""Java's own default; it guards public certificates only."""

_MAGIC, _VERSION, _TRUSTED = 0xFEEDFEED, 2, 2
_WHITENER = b"Mighty Aphrodite"
"""The format's fixed salt (`sun.security.provider.JavaKeyStore`)."""


def truststore(certificates: Iterable[bytes], password: str = PASSWORD) -> bytes:
    """A JKS file that trusts DER `certificates`; the same ones make the same bytes."""
    entries = [_entry(index, der) for index, der in enumerate(certificates)]
    body = struct.pack(">III", _MAGIC, _VERSION, len(entries)) + b"".join(entries)
    digest = hashlib.sha1(password.encode("utf-16-be") + _WHITENER + body, usedforsecurity=False)
    return body + digest.digest()


def _entry(index: int, der: bytes) -> bytes:
    created_ms = 0
    head = struct.pack(">I", _TRUSTED) + _text(f"root-{index}") + struct.pack(">Q", created_ms)
    return head + _text("X.509") + struct.pack(">I", len(der)) + der


def _text(value: str) -> bytes:
    data = value.encode("utf-8")
    return struct.pack(">H", len(data)) + data


def options(host: str, port: int, store: Path, password: str = PASSWORD) -> str:
    """The JVM options that send HTTP and HTTPS to `host:port` and trust `store`.

    `nonProxyHosts` is emptied because its default leaves out localhost. Java sends no credentials
    with a proxy URL, so the port alone must say whose traffic it is.
    """
    settings = {
        "https.proxyHost": host,
        "https.proxyPort": str(port),
        "http.proxyHost": host,
        "http.proxyPort": str(port),
        "http.nonProxyHosts": "",
        "javax.net.ssl.trustStore": str(store),
        "javax.net.ssl.trustStoreType": "JKS",
        "javax.net.ssl.trustStorePassword": password,
    }
    return " ".join(_quoted(f"-D{key}={value}") for key, value in settings.items())


def _quoted(option: str) -> str:
    """The JVM splits its options at blanks and knows quotes, but no escapes inside them."""
    if not any(c.isspace() or c in "\"'" for c in option):
        return option
    quote = "'" if '"' in option else '"'
    return f"{quote}{option}{quote}"
