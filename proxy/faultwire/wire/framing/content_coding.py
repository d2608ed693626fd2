"""Content codings undone for reading, within limits; what is forwarded stays as it came.

A kilobyte can unpack to a gigabyte, so output, ratio and layers are capped while unpacking.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

from faultwire.errors import WireError
from faultwire.events import header

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from faultwire.events import Headers

    Unpack = Callable[[bytes], Iterator[bytes]]

MAX_BYTES = 16 << 20
MAX_RATIO = 512
"""Output bytes per input byte; the first MiB of output is always allowed."""
MAX_LAYERS = 2
AT_ONCE = 2 << 20
AT_ONCE_PACKED = 512 << 10
"""What an event loop looks at in one go: brotli takes longest, about 30 ms for a MiB of packed text."""
_MOST_BLOCKS = 1 << 14
_ALWAYS = 1 << 20
_STEP = 256 << 10
_WINDOW = 16 << 10
_MOST_MEMBERS = 1024
"""Of one gzip body: somebody's tiny members would take far more time than their bytes."""
_ZSTD_WINDOW = 8 << 20
"""RFC 9659 §3: no larger window than 8 MB in HTTP."""
_BROTLI_STEP = 16
"""Input bytes at once where the library cannot bound its output: no more than four metablocks."""


def is_encoded(headers: Headers) -> bool:
    """Does the body need decoding before it can be read?"""
    return header(headers, "content-encoding") is not None and bool(_codings(headers))


def decoded(
    body: bytes,
    headers: Headers,
    *,
    max_bytes: int = MAX_BYTES,
    max_ratio: int = MAX_RATIO,
    max_layers: int = MAX_LAYERS,
    max_packed: int | None = None,
) -> tuple[bytes, bool]:
    """The body without its content codings, and whether it is only a part.

    Partial is what a limit cut, or what ends before its coding does; `max_packed` limits what is put into
    each layer. Raises WireError for an unknown coding, more layers than allowed, and broken data.
    """
    codings = _codings(headers)
    if len(codings) > max_layers:
        raise WireError(f"found {len(codings)} content codings, expected at most {max_layers}")
    partial = False
    for coding in reversed(codings):
        unpack = _UNPACK.get(coding)
        if unpack is None:
            raise WireError(f"found content coding `{coding}`, expected one of {', '.join(sorted(_UNPACK))}")
        if max_packed is not None and len(body) > max_packed:
            body, partial = body[:max_packed], True
        allowed = min(max_bytes, max(_ALWAYS, len(body) * max_ratio))
        body, cut = _collect(unpack, body, allowed, coding)
        partial = partial or cut
    return body, partial


def unpacks_within(body: bytes, headers: Headers, most: int) -> bool:
    """Does the body unpack to no more than `most` bytes? Nothing is held but what lies between two codings.

    Raises WireError as `decoded` does.
    """
    *outer, inner = reversed(_codings(headers))
    for coding in outer:
        body, partial = _collect(_UNPACK[coding], body, most, coding)
        if partial:
            return False
    size = 0
    try:
        for piece in _UNPACK[inner](body):
            size += len(piece)
            if size > most:
                return False
    except _Unfinished:
        return True
    except (zlib.error, ValueError) as error:
        raise WireError(f"found broken `{inner}` data: {error}") from None
    return True


def at_once(body: bytes, headers: Headers) -> tuple[bytes, bool]:
    """The same within limits that hold up an event loop for no more than some milliseconds."""
    return decoded(body, headers, max_bytes=AT_ONCE, max_packed=AT_ONCE_PACKED)


def _codings(headers: Headers) -> list[str]:
    values = (value for key, value in headers if key.lower() == "content-encoding")
    names = (name.strip().lower() for value in values for name in value.split(","))
    return [name for name in names if name not in ("", "identity")]


def _collect(unpack: Unpack, body: bytes, allowed: int, coding: str) -> tuple[bytes, bool]:
    out = bytearray()
    try:
        for piece in unpack(body):
            out += piece
            if len(out) > allowed:
                return bytes(out[:allowed]), True
    except _Unfinished:
        return bytes(out), True
    except (zlib.error, ValueError) as error:
        raise WireError(f"found broken `{coding}` data: {error}") from None
    return bytes(out), False


class _Unfinished(Exception):
    """The data ended before its coding did."""


def _gzip(body: bytes) -> Iterator[bytes]:
    """One member after the other, with zeros between them where somebody padded."""
    at, members = 0, 0
    while at < len(body):
        if members == _MOST_MEMBERS:
            raise _Unfinished
        at = yield from _inflate(zlib.decompressobj(zlib.MAX_WBITS | 16), body, at)
        members += 1
        while at < len(body) and body[at] == 0:
            window = body[at : at + _WINDOW]
            at += len(window) - len(window.lstrip(b"\0"))


def _deflate(body: bytes) -> Iterator[bytes]:
    """With the zlib header that RFC 9110 §8.4.1.2 wants, or bare as some servers send it."""
    with_header = len(body) >= 2 and body[0] & 0x0F == 8 and int.from_bytes(body[:2], "big") % 31 == 0
    yield from _inflate(zlib.decompressobj(zlib.MAX_WBITS if with_header else -zlib.MAX_WBITS), body, 0)


def _inflate(unpacker: zlib._Decompress, body: bytes, at: int) -> Generator[bytes, None, int]:
    """What stands from `at` on; returns where it ends. Input goes in by windows, because what is left of
    each piece of input is copied."""
    ended = False
    while not ended:
        if at >= len(body):
            raise _Unfinished
        window = body[at : at + _WINDOW]
        at += len(window)
        piece = unpacker.decompress(window, _STEP)
        yield piece
        # Behind the end, what follows stands in `unconsumed_tail`, too, and stays there.
        while not unpacker.eof and (piece or unpacker.unconsumed_tail):
            piece = unpacker.decompress(unpacker.unconsumed_tail, _STEP)
            yield piece
        ended = unpacker.eof
    return at - len(unpacker.unused_data)


def _zstd(body: bytes) -> Iterator[bytes]:
    import zstandard

    unpacker = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
    try:
        with unpacker.stream_reader(body, read_across_frames=True) as reader:
            while piece := reader.read(_STEP):
                yield piece
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None
    if not _is_whole_zstd(body):  # the reader ends where its input does, and says nothing
        raise _Unfinished


def _is_whole_zstd(body: bytes) -> bool:
    """Does the last frame end with the body? Its blocks show that (RFC 8878 §3.1.1)."""
    at, blocks = 0, 0
    while at < len(body):
        magic, at = int.from_bytes(body[at : at + 4], "little"), at + 4
        if magic >> 4 == 0x184D2A5:  # a skippable frame
            at += 4 + int.from_bytes(body[at : at + 4], "little")
            continue
        descriptor = body[at] if at < len(body) else 0
        single = descriptor >> 5 & 1
        at += 1 + (not single) + (0, 1, 2, 4)[descriptor & 3] + (single, 2, 4, 8)[descriptor >> 6]
        last = False
        while not last and at < len(body) and blocks < _MOST_BLOCKS:
            block, at, blocks = int.from_bytes(body[at : at + 3], "little"), at + 3, blocks + 1
            last = bool(block & 1)
            at += 1 if block >> 1 & 3 == 1 else block >> 3
        at += 4 * (descriptor >> 2 & 1)
        if not last:
            return False
    return at == len(body)


def _brotli(body: bytes) -> Iterator[bytes]:
    try:
        import brotli  # type: ignore[import-untyped,unused-ignore]  # comes with mitmproxy, not with us
    except ImportError:
        raise WireError("found content coding `br`, expected one that is installed here") from None
    unpacker = brotli.Decompressor()
    try:
        if hasattr(unpacker, "can_accept_more_data"):
            yield from _bounded_brotli(unpacker, body)
        else:
            for at in range(0, len(body), _BROTLI_STEP):
                yield unpacker.process(body[at : at + _BROTLI_STEP])
    except brotli.error as error:
        raise ValueError(str(error)) from None
    if not unpacker.is_finished():
        raise _Unfinished


def _bounded_brotli(unpacker: Any, body: bytes) -> Iterator[bytes]:
    """With an output limit, which the library has since 1.2."""
    yield unpacker.process(body, output_buffer_limit=_STEP)
    while not unpacker.can_accept_more_data():
        yield unpacker.process(b"", output_buffer_limit=_STEP)


_UNPACK: dict[str, Unpack] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
