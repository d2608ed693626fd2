"""Readings of bytes: each encoding alone, around each other, and within limits."""

import base64
import gzip
import json

import pytest

from faultwire.wire.framing.readings import BUDGET, of_path, readings

WORDS = "call the shop about order four"


@pytest.mark.parametrize(
    "data",
    [
        WORDS.encode(),
        json.dumps(json.dumps({"a": WORDS})).encode(),
        WORDS.replace(" ", "%20").encode(),
        ("q=" + WORDS.replace(" ", "+")).encode(),
        base64.b64encode(WORDS.encode()),
        base64.urlsafe_b64encode(WORDS.encode()).rstrip(b"="),
        base64.b32encode(WORDS.encode()).lower(),
        WORDS.encode().hex().encode(),
        gzip.compress(WORDS.encode(), mtime=0),
        b"x: " + base64.b64encode(gzip.compress(WORDS.encode(), mtime=0)),
        b"Content-Transfer-Encoding: quoted-printable\n\n" + WORDS.replace(" ", "=20").encode(),
        WORDS.replace("o", "&#111;").encode(),
        WORDS.replace("o", "<b>o</b>").encode(),
    ],
)
def test_each_encoding_is_undone(data):
    assert any(WORDS in text for text in readings(data).texts)
    assert readings(data).unread is None
    assert not any(WORDS in text for text in readings(data[::-1]).texts)


def test_the_first_reading_is_the_text_itself():
    assert readings(b"a%20b").texts[0] == "a%20b"
    assert readings(b"").texts == ()


def test_segments_of_a_path_are_values_of_their_own():
    assert any(" 4111 " in text for text in of_path("/v1/4111/x").texts)
    assert not any(" 4111 " in text for text in readings(b"/v1/4111/x").texts)


def test_limits_are_named():
    bomb = gzip.compress(b"\n".join(b"%d a line of its own" % n for n in range(BUDGET // 16)))
    assert readings(bomb).unread == "it unpacks to too much"
    assert readings(b"x", (("content-encoding", "odd"),)).unread == "its content coding cannot be undone"
    assert readings(b"PK\x03\x04").unread == "it holds a ZIP archive"
    assert readings(b"PK is a name").unread is None


def test_hostile_bytes_are_read():
    for data in (b"[" * 100_000, b"%" * 1000, b"\xff\xfe\x1f\x8b\x08\x00", b"=" * 5000, b"\\u00" * 999):
        assert readings(data).texts
