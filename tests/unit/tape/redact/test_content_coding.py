"""Packed bodies are unpacked within limits, and packed again as they were."""

from __future__ import annotations

import gzip
import random
import zlib

import brotli
import pytest
import zstandard

from faultwire.tape.redact import content_coding
from faultwire.tape.redact.content_coding import MAX_PLAIN, UNMEASURED, Opaque, pack, unpack

CODINGS = [("gzip",), ("x-gzip",), ("deflate",), ("br",), ("zstd",), ("gzip", "br"), ("deflate", "zstd")]
PLAIN = b"some words that repeat, " * 50


@pytest.mark.parametrize("applied", CODINGS, ids="-".join)
def test_what_is_packed_unpacks_to_the_same(applied: tuple[str, ...]) -> None:
    packed = pack(PLAIN, applied)
    assert packed != PLAIN
    assert len(packed) < len(PLAIN)
    assert unpack(packed, applied) == PLAIN
    assert pack(PLAIN, applied) == packed, "the same bytes each time"


def test_each_coding_is_what_its_name_says() -> None:
    assert gzip.decompress(pack(PLAIN, ("gzip",))) == gzip.decompress(pack(PLAIN, ("x-gzip",))) == PLAIN
    assert zlib.decompress(pack(PLAIN, ("deflate",))) == PLAIN
    assert brotli.decompress(pack(PLAIN, ("br",))) == PLAIN
    assert zstandard.ZstdDecompressor().decompress(pack(PLAIN, ("zstd",))) == PLAIN
    assert gzip.decompress(brotli.decompress(pack(PLAIN, ("gzip", "br")))) == PLAIN
    assert pack(PLAIN, ("gzip",))[4:8] == bytes(4), "no time of day"
    assert pack(PLAIN, ()) == unpack(PLAIN, ()) == PLAIN


def test_how_densely_each_packs() -> None:
    """As densely as servers do, and no slower."""
    chance = random.Random(5)
    known = ["".join(chance.choices("abcdefghij", k=chance.randint(2, 8))) for _ in range(400)]
    words = " ".join(chance.choices(known, k=9000)).encode()
    by_level = [gzip.compress(words, level, mtime=0) for level in (5, 6, 7)]
    by_quality = [brotli.compress(words, quality=quality) for quality in (3, 4, 5, 11)]
    assert len(set(by_level)) == 3, "the control"
    assert len(set(by_quality)) == 4, "the control"
    assert pack(words, ("gzip",)) == by_level[1]
    assert pack(words, ("br",)) == by_quality[1]


def test_of_a_body_that_was_cut_short_there_is_its_beginning() -> None:
    assert PLAIN.startswith(unpack(gzip.compress(PLAIN)[:-9], ("gzip",)))
    assert unpack(gzip.compress(PLAIN)[:-4], ("gzip",)) == PLAIN


@pytest.mark.parametrize(
    ("data", "applied", "said"),
    [
        (b"no gzip", ("gzip",), "found broken `gzip` data: "),
        (PLAIN, ("rot13",), "found content coding `rot13`, expected one of "),
        (PLAIN, ("gzip", "gzip", "gzip"), "found 3 content codings, expected at most 2"),
    ],
    ids=["broken", "unknown", "layers"],
)
def test_what_cannot_be_unpacked_says_why(data: bytes, applied: tuple[str, ...], said: str) -> None:
    with pytest.raises(Opaque) as error:
        unpack(data, applied)
    assert str(error.value).startswith(said)


def sized(count: int) -> bytes:
    """So many bytes that pack well, and not so well that it is a bomb."""
    line = bytes(range(256)) * 4
    return (line * (count // len(line) + 1))[:count]


@pytest.mark.parametrize("size", [UNMEASURED - 1, UNMEASURED, UNMEASURED + 1, 17 << 20])
def test_a_large_body_is_read_whole(size: int) -> None:
    plain = sized(size)
    assert unpack(gzip.compress(plain, 1), ("gzip",)) == plain


def test_a_body_is_read_to_the_largest_size_and_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (UNMEASURED, MAX_PLAIN) == (4 << 20, 32 << 20)
    monkeypatch.setattr(content_coding, "MAX_PLAIN", UNMEASURED + 1000)
    exact = sized(UNMEASURED + 1000)
    assert unpack(gzip.compress(exact, 1), ("gzip",)) == exact
    with pytest.raises(Opaque) as error:
        unpack(gzip.compress(exact + b"x", 1), ("gzip",))
    assert str(error.value) == f"it unpacks to more than {UNMEASURED} bytes"


def test_a_bomb_is_opaque_however_small() -> None:
    with pytest.raises(Opaque, match=r"it unpacks to more than 10[0-9]+ bytes"):
        unpack(gzip.compress(bytes(2 << 20)), ("gzip",))
    with pytest.raises(Opaque, match=f"it unpacks to more than {1 << 20} bytes"):
        unpack(gzip.compress(bytes((1 << 20) + 1)), ("gzip",))
    assert unpack(gzip.compress(bytes((1 << 20) - 1)), ("gzip",)) == bytes((1 << 20) - 1)


def test_a_large_body_that_was_cut_short() -> None:
    packed = gzip.compress(sized(UNMEASURED // 2), 1)
    with pytest.raises(Opaque, match="it unpacks to more than"):
        unpack(packed[:-9], ("gzip",))
