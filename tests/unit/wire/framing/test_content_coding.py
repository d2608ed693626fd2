from __future__ import annotations

import gzip
import tracemalloc
import zlib

import brotli
import pytest
import zstandard

from faultwire.errors import WireError
from faultwire.events import Headers
from faultwire.wire.framing.content_coding import decoded, is_encoded, unpacks_within

TEXT = b'{"said": "hello"}' * 50


def bare_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}


def coded(*names: str) -> Headers:
    return (("Content-Encoding", ", ".join(names)),)


@pytest.mark.parametrize("name", PACKERS)
def test_round_trip(name: str) -> None:
    assert decoded(PACKERS[name](TEXT), coded(name)) == (TEXT, False)


def test_deflate_without_its_header_is_read_too() -> None:
    assert decoded(bare_deflate(TEXT), coded("deflate")) == (TEXT, False)


def test_layers_are_undone_from_the_outside() -> None:
    body = zstandard.compress(gzip.compress(TEXT))
    assert decoded(body, coded("gzip", "zstd")) == (TEXT, False)
    assert decoded(body, (("content-encoding", "gzip"), ("content-encoding", "zstd"))) == (TEXT, False)


def test_several_members_are_one_body() -> None:
    assert decoded(gzip.compress(b"a") + gzip.compress(b"b"), coded("gzip")) == (b"ab", False)
    assert decoded(zstandard.compress(b"a") + zstandard.compress(b"b"), coded("zstd")) == (b"ab", False)


@pytest.mark.parametrize("headers", [(), coded("identity"), coded("")])
def test_without_coding_the_body_is_the_same_object(headers: Headers) -> None:
    body, cut = decoded(TEXT, headers)
    assert body is TEXT
    assert not cut
    assert not is_encoded(headers)


def test_is_encoded() -> None:
    assert is_encoded(coded("gzip"))
    assert is_encoded(coded("identity", "br"))


@pytest.mark.parametrize("name", PACKERS)
def test_a_bomb_is_cut_at_its_ratio(name: str) -> None:
    bomb = PACKERS[name](b"\0" * (20 << 20))
    body, cut = decoded(bomb, coded(name), max_ratio=10)
    assert cut
    assert len(body) == max(1 << 20, len(bomb) * 10)


@pytest.mark.parametrize("name", PACKERS)
def test_output_is_capped(name: str) -> None:
    body, cut = decoded(PACKERS[name](TEXT), coded(name), max_bytes=100)
    assert (body, cut) == (TEXT[:100], True)


def test_nested_bombs_are_cut_too() -> None:
    bomb = gzip.compress(gzip.compress(b"\0" * (64 << 20)))
    body, cut = decoded(bomb, coded("gzip", "gzip"))
    assert cut
    assert len(body) <= 16 << 20


@pytest.mark.parametrize("name", PACKERS)
def test_what_ends_early_is_partial(name: str) -> None:
    packed = PACKERS[name](bytes(range(256)) * 400)
    body, cut = decoded(packed[:-4], coded(name))
    assert (bytes(range(256)) * 400).startswith(body)
    assert cut or name == "zstd"  # its reader does not say where the frame ended


@pytest.mark.parametrize("name", PACKERS)
def test_broken_data_is_reported(name: str) -> None:
    with pytest.raises(WireError, match=f"broken `{name}` data"):
        decoded(b"\xff\xfe not packed at all", coded(name))


def test_unknown_codings_and_too_many_layers_are_reported() -> None:
    with pytest.raises(WireError, match="content coding `compress`"):
        decoded(b"", coded("compress"))
    with pytest.raises(WireError, match="found 3 content codings, expected at most 2"):
        decoded(b"", coded("gzip", "gzip", "gzip"))


def test_a_window_that_is_too_large_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27, enable_ldm=True)
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    packed = stream.compress(b"x" * 64) + stream.flush()
    with pytest.raises(WireError, match="broken `zstd`"):
        decoded(packed, coded("zstd"))


@pytest.mark.parametrize("codings", ["gzip", "deflate", "zstd", "br", "gzip, br"])
def test_a_body_is_measured_without_being_held(codings: str) -> None:
    plain = b"abc" * 100_000
    packed = plain
    for coding in codings.split(", "):
        packed = PACKERS[coding](packed)
    headers = (("content-encoding", codings),)
    assert unpacks_within(packed, headers, len(plain))
    assert not unpacks_within(packed, headers, len(plain) - 1)


def test_a_bomb_is_measured_in_little_memory() -> None:
    bomb = gzip.compress(bytes(64 << 20))
    headers = (("content-encoding", "gzip"),)
    tracemalloc.start()
    assert not unpacks_within(bomb, headers, 32 << 20)
    measured = tracemalloc.get_traced_memory()[1]
    decoded(bomb, headers, max_bytes=32 << 20)  # the control: it holds what it unpacks
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert measured < 4 << 20 < 32 << 20 < held


def test_what_ends_early_is_measured_and_what_is_broken_is_an_error() -> None:
    headers = (("content-encoding", "gzip"),)
    packed = gzip.compress(bytes(1000))
    assert unpacks_within(packed[:-9], headers, 1000)
    with pytest.raises(WireError, match="broken `gzip`"):
        unpacks_within(b"\x1f\x8b\x08" + b"x" * 40, headers, 1000)
