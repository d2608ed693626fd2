"""Looking inside packed bodies, and packing them again where something was replaced."""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING

import zstandard

from faultwire.errors import WireError
from faultwire.wire.framing.content_coding import decoded, unpacks_within

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_PLAIN = 32 * 1024 * 1024
"""A body that unpacks to more is not looked into, and so not stored."""

UNMEASURED = 4 * 1024 * 1024
"""What unpacks to more is unpacked once to measure it, and only then to hold it: a bomb is never held."""

_SURE = 1024 * 1024
"""Decoding never stops for its limits before this size: less is all there is."""


class Opaque(Exception):
    """The body cannot be unpacked, so nobody can say what is in it."""


def unpack(data: bytes, applied: tuple[str, ...]) -> bytes:
    """The plain body; of one that was cut short, what there is. Raises Opaque."""
    headers = (("content-encoding", ", ".join(applied)),)
    try:
        plain, partial = decoded(data, headers, max_bytes=UNMEASURED)
        if len(plain) == UNMEASURED and unpacks_within(data, headers, MAX_PLAIN):
            plain, partial = decoded(data, headers, max_bytes=MAX_PLAIN)
    except WireError as error:
        raise Opaque(error.message) from error
    if partial and len(plain) >= _SURE:
        raise Opaque(f"it unpacks to more than {len(plain)} bytes")
    return plain


def pack(data: bytes, applied: tuple[str, ...]) -> bytes:
    """The body under the same codings again."""
    for name in applied:
        data = _PACK[name](data)
    return data


def _gzip(data: bytes) -> bytes:
    return gzip.compress(data, compresslevel=6, mtime=0)


def _brotli(data: bytes) -> bytes:
    import brotli  # type: ignore[import-untyped,unused-ignore]  # it was there to unpack this body

    out: bytes = brotli.compress(data, quality=4)
    return out


def _zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


_PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": zlib.compress,
    "br": _brotli,
    "zstd": _zstd,
}
