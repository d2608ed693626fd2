"""Packed stretches of a text, and texts unwrapped with a map back."""

from __future__ import annotations

import base64
import gzip
import os
import zlib

import pytest

from faultwire.tape.redact.packed import compressed_edits, is_packed, packed_edits, unmarked
from faultwire.wire.framing.readings import DEPTH

WORD = "the word is marker-7"


def holds(text: str) -> bool:
    return "marker-7" in text


def latin(data: bytes) -> str:
    return data.decode("latin-1")


@pytest.mark.parametrize(
    ("packed", "form"),
    [
        (base64.b64encode(WORD.encode()), "base64"),
        (base64.urlsafe_b64encode(WORD.encode()).rstrip(b"="), "base64"),
        (base64.encodebytes(f"{WORD * 3}{WORD}".encode()).rstrip(), "base64"),
        (base64.b32encode(WORD.encode()), "base32"),
        (WORD.encode().hex().encode(), "hex"),
        (base64.b64encode(base64.b32encode(WORD.encode())), "base64"),
        (base64.b64encode(gzip.compress(WORD.encode(), mtime=0)), "base64"),
    ],
)
def test_a_stretch_that_holds_something_goes_whole(packed: bytes, form: str) -> None:
    text = f"a: {latin(packed)} z"
    (edit,) = packed_edits(text, holds)
    assert (edit.value.rstrip("="), edit.what) == (latin(packed).rstrip("="), form)
    assert text[edit.start : edit.end] == edit.value
    assert list(packed_edits(text, lambda one: False)) == []


def test_places_are_characters_in_any_script() -> None:
    packed = base64.b64encode(WORD.encode()).decode()
    (edit,) = packed_edits(f"漢字 é {packed}", holds)
    assert (edit.start, edit.value.rstrip("=")) == (5, packed.rstrip("="))


def test_what_is_packed_too_deep_goes() -> None:
    text = "a plain sentence of words"
    for _ in range(DEPTH + 2):
        text = base64.b64encode(text.encode()).decode()
    assert [edit.value for edit in packed_edits(text, holds)] == [text]
    shallow = base64.b64encode(base64.b64encode(b"a plain sentence of words")).decode()
    assert list(packed_edits(shallow, holds)) == []


@pytest.mark.parametrize("pack", [lambda data: gzip.compress(data, mtime=0), zlib.compress])
def test_a_compressed_stream_goes_up_to_its_end(pack: object) -> None:
    assert callable(pack)
    inner = pack(WORD.encode())
    text = latin(b"--b\r\n\r\n" + inner + b"\r\n--b--")
    (edit,) = compressed_edits(text, holds)
    assert (edit.start, edit.end, edit.what) == (7, 7 + len(inner), "compressed")
    assert list(compressed_edits(text, lambda one: False)) == []
    (open_end,) = compressed_edits(text[: 7 + len(inner) - 3], holds)
    assert open_end.end == 7 + len(inner) - 3


def stored(data: bytes) -> bytes:
    """A gzip stream in which the data stand as they are."""
    return gzip.compress(data, 0, mtime=0)


def test_a_stream_within_one_that_goes_is_none_of_its_own() -> None:
    inner = gzip.compress(WORD.encode(), mtime=0)
    outer = stored(b"a" + inner + b"b")
    for asked in (holds, lambda one: True):
        (edit,) = compressed_edits(latin(outer + b" plain"), asked)
        assert (edit.start, edit.end) == (0, len(outer))


def test_one_that_is_cut_short_within_it_takes_nothing_behind_it_along() -> None:
    outer = stored(gzip.compress(WORD.encode() * 9, mtime=0)[:-9])
    (edit,) = compressed_edits(latin(outer + b" plain"), holds)
    assert (edit.start, edit.end) == (0, len(outer))


def test_where_a_stream_is_announced_and_none_begins_nothing_goes() -> None:
    text = "\x1f\x8b\x08 is how one begins"
    assert is_packed(text)
    assert list(compressed_edits(text, lambda one: True)) == []


def test_noise_is_not_packed() -> None:
    assert not is_packed("chatcmpl-9xKzWmPqRs internationalization_of_responsibilities 333333333333333333")
    assert not is_packed(base64.b64encode(b"\x89PNG\r\n\x1a\n" + os.urandom(64)).decode())
    assert is_packed("\x1f\x8b\x08")
    assert is_packed("a\n\nx\x9cabc")


def test_markup_is_unwrapped_with_a_map() -> None:
    (inner,) = unmarked("<b>4&#49;</b>&quot;&amp;x &unknown; a < b")
    assert inner.text == "41'&x &unknown; a < b"
    assert inner.starts[:3] == [3, 4, 13]
    assert len(inner.starts) == len(inner.text) + 1
    assert list(unmarked("a < b and c > d")) == []


def test_quoted_printable_is_unwrapped_with_a_map() -> None:
    (inner,) = unmarked("quoted-printable: a=2Db=\nc=zz")
    assert inner.text == "quoted-printable: a-bc=zz"
    assert inner.starts[-1] == len("quoted-printable: a=2Db=\nc=zz")
