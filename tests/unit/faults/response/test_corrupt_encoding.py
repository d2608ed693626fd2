from __future__ import annotations

import gzip
import zlib

import pytest

from faultwire.events import Response, header
from faultwire.faults.response.corrupt_encoding import CorruptEncoding

BODY = b'{"answer": "' + b"x" * 500 + b'"}'


@pytest.mark.parametrize("how", ["damaged", "unpacked", "cut"])
def test_nobody_can_unpack_it(run, web, dice, how):
    mutator = CorruptEncoding(how=how).start(web, dice())
    head = mutator.head(Response(200, "OK", (("content-type", "application/json"),)))
    assert header(head.headers, "content-encoding") == "gzip"
    (sent,) = run(mutator, web, [BODY], "body")
    with pytest.raises((OSError, EOFError, zlib.error)):
        gzip.decompress(sent.data)
    assert mutator.effect == f"said to be gzip: {how}"


def test_what_was_never_packed_is_as_it_was(run, web, dice):
    (sent,) = run(CorruptEncoding(how="unpacked").start(web, dice()), web, [BODY], "body")
    assert sent.data == BODY


def test_the_same_bytes_every_time(run, web, dice):
    made = [run(CorruptEncoding().start(web, dice()), web, [BODY], "body") for _ in range(2)]
    assert made[0] == made[1]
