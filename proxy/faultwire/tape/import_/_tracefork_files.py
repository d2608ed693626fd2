"""What a tracefork tape holds, and the envelope that holds it in one piece; all of it hostile input.

Envelope: `TFTAPE\\0`, version (u16), length of the header (u32), JSON header, then a length (u32) and zstd
data for each of its `blob_hashes`, all big-endian; version 1 is JSON with Base64 bodies and has no magic,
version 6 adds the URLs and version 7 status and content type.
"""

from __future__ import annotations

import hashlib
import struct
from base64 import b64decode
from contextlib import contextmanager
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import zstandard

from faultwire.errors import TapeError
from faultwire.tape.import_._api import Found
from faultwire.tape.import_._source import MAX_DOCUMENT, parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MAGIC = b"TFTAPE\0"
VERSIONS = range(1, 8)
MAX_BODY = 64 << 20
WITNESSES = {
    "request_urls": "request URLs",
    "response_status": "statuses",
    "response_content_type": "content types",
}
"""Lists with an entry for each call, and what they hold."""

Pair = tuple[str, str]


class Call(NamedTuple):
    """The hashes of a call's two bodies, and what the tape says of them beside."""

    pair: Pair
    url: str | None = None
    status: int | None = None
    content_type: str | None = None


class Contents:
    """What a tape holds, whichever form it has. Blobs are unpacked when they are asked for."""

    def __init__(self, fetch: Callable[[str], bytes | None], found: list[Found]) -> None:
        self.agent = ""
        self.about: dict[str, Any] = {}
        self.digest: str | None = None
        self.redacted = False
        self.oldest = False
        """Was it written by tracefork 0.1.0, which recorded the Anthropic SDK only?"""
        self.framed = False
        """Does its digest hash kind and value of a draw one by one, as tracefork 1.0.0 does?"""
        self.claims: list[tuple[str, int, int]] = []
        """(what, how many the tape claims, how many it holds)."""
        self.draws: Callable[[], Iterator[Pair]] = lambda: iter(())
        self.calls: Callable[[], Iterator[Call]] = lambda: iter(())
        self.tool_calls: Callable[[], Iterator[Pair]] = lambda: iter(())
        self._fetch = fetch
        self._found = found
        self._judged: set[str] = set()

    def blob(self, name: str) -> bytes | None:
        """The bytes of a blob; None where the tape does not hold it. Whether they are what their name says
        is found out."""
        packed = self._fetch(name)
        if packed is None:
            return None
        body = _unpacked(packed)
        if body is None:
            self._find(
                "tracefork_blob_malformed", name, f"blob `{name[:80]}` is no zstd data of {MAX_BODY} bytes"
            )
        elif hashlib.sha256(body).hexdigest() != name:
            self._find("tracefork_blob_mismatch", name, f"blob `{name[:80]}` does not have its hash")
        return body

    def _find(self, code: str, name: str, message: str) -> None:
        if name not in self._judged and len(self._judged) < 10_000:
            self._judged.add(name)
            self._found.append(Found(code, message))


def _unpacked(data: bytes) -> bytes | None:
    """The bytes, in steps: a reader makes room for all that it is asked for, whatever there is."""
    body = bytearray()
    try:
        with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(data) as reader:
            while piece := reader.read(1 << 18):
                body += piece
                if len(body) > MAX_BODY:
                    return None
    except zstandard.ZstdError:
        return None
    return bytes(body)


def witnessed(pairs: Iterable[Pair], lists: dict[str, list[Any]]) -> Iterator[Call]:
    """Each call with its entry of every list, as far as a list goes."""
    columns = (chain(lists.get(name) or (), repeat(None)) for name in WITNESSES)
    for pair, url, status, kind in zip(pairs, *columns, strict=False):
        yield Call(
            pair,
            url if isinstance(url, str) else None,
            status if isinstance(status, int) and not isinstance(status, bool) else None,
            kind if isinstance(kind, str) else None,
        )


@contextmanager
def envelope(data: bytes, found: list[Found]) -> Iterator[Contents]:
    """A tape in one piece. Raises TapeError."""
    try:
        if data.startswith(MAGIC):
            yield _in_envelope(data, found)
        else:
            yield _in_json(data, found)
    except (ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
        raise unreadable(error) from error


def _in_envelope(data: bytes, found: list[Found]) -> Contents:
    version, length = struct.unpack_from(">HI", data, len(MAGIC))
    at = len(MAGIC) + 6
    if version not in VERSIONS:
        raise TapeError(
            f"the envelope has version {version}, expected 1 to {VERSIONS[-1]}", code="tape.import_version"
        )
    if length > min(len(data) - at, MAX_DOCUMENT):
        raise TapeError(
            f"the header claims {length} bytes, and {len(data) - at} are there", code="tape.import_unreadable"
        )
    header = parsed(data[at : at + length])
    places = _places(data, at + length, header.get("blob_hashes", []), found)

    def fetch(name: str) -> bytes | None:
        place = places.get(name)
        return None if place is None else data[place[0] : place[1]]

    return _headed(header, Contents(fetch, found), version, found)


def _places(data: bytes, at: int, names: list[Any], found: list[Found]) -> dict[str, tuple[int, int]]:
    """Where each blob is. A length that leads past the end ends the list."""
    places: dict[str, tuple[int, int]] = {}
    for name in names:
        length = int.from_bytes(data[at : at + 4], "big")
        if at + 4 > len(data) or length > len(data) - at - 4:
            text = f"the header claims {len(names)} blobs, and the file ends in number {len(places) + 1}"
            found.append(Found("tracefork_count_mismatch", text))
            return places
        places[str(name)] = (at + 4, at + 4 + length)
        at += 4 + length
    if at < len(data):
        found.append(Found("tracefork_trailing_bytes", f"{len(data) - at} bytes follow the last blob"))
    return places


def _headed(header: dict[str, Any], contents: Contents, version: int, found: list[Found]) -> Contents:
    draws = [_pair(one) for one in header.get("draws", [])]
    calls = [_pair(one) for one in header["exchanges"]]
    tool_calls = [_pair(one) for one in header.get("tool_exchanges", [])]
    held = {name: header.get(name) or [] for name in WITNESSES}
    lists = ("draws", "exchanges", "tool_exchanges", "blob_hashes", *WITNESSES)
    rest = {name: value for name, value in header.items() if name not in lists}
    contents.about = {"form": "envelope", "version": version, **rest}
    contents.agent = str(header.get("agent_name") or "")
    contents.digest = header["digest"] if isinstance(header.get("digest"), str) else None
    contents.redacted = bool(header.get("content_redacted"))
    contents.draws = lambda: iter(draws)
    contents.oldest, contents.framed = version == 1, version >= 7
    contents.calls = lambda: witnessed(calls, held)
    contents.tool_calls = lambda: iter(tool_calls)
    contents.claims += [(text, len(held[name]), len(calls)) for name, text in WITNESSES.items() if held[name]]
    used = {name for pair in (*calls, *tool_calls) for name in pair}
    for name in list(dict.fromkeys(map(str, header.get("blob_hashes", []))))[:10_000]:
        if name not in used:
            found.append(Found("tracefork_blob_unreferenced", f"blob `{name[:80]}` belongs to no call"))
    batches = header.get("async_batches") or []
    members = [one for batch in batches for one in batch]
    if any(not isinstance(one, int) or not 0 <= one < len(calls) for one in members):
        found.append(
            Found("tracefork_batch_mismatch", "a batch of parallel calls names one that is not there")
        )
    return contents


def _in_json(data: bytes, found: list[Found]) -> Contents:
    """Version 1: bodies themselves stand where later versions have hashes."""
    if len(data) > MAX_DOCUMENT:
        raise ValueError(f"found {len(data)} bytes of JSON, expected at most {MAX_DOCUMENT}")
    header = parsed(data)
    bodies: dict[str, bytes] = {}

    def name(text: Any) -> str:
        body = b64decode(text, validate=True)
        digest = hashlib.sha256(body).hexdigest()
        bodies[digest] = zstandard.ZstdCompressor(level=1).compress(body)
        return digest

    calls = [[name(one) for one in _pair(pair)] for pair in header["exchanges"]]
    return _headed({**header, "exchanges": calls}, Contents(bodies.get, found), 1, found)


def _pair(value: Any) -> Pair:
    first, second = value
    if not isinstance(first, str) or not isinstance(second, str):
        raise TypeError(f"found {type(first).__name__} and {type(second).__name__}, expected two texts")
    return first, second


def unreadable(error: Exception) -> TapeError:
    return TapeError(f"it is no readable tracefork tape: {error!r}"[:300], code="tape.import_unreadable")
