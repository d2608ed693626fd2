"""The envelope."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest

from faultwire.certificate import dsse

WHOLE = dsse.Envelope(b'{"a":1}', (dsse.Signature("shop+00", b"\xff" * 64),))


def test_the_signed_bytes_are_those_of_the_specification() -> None:
    # github.com/secure-systems-lab/dsse, protocol.md: PAE("http://example.com/HelloWorld", "hello world")
    made = dsse.Envelope(b"hello world", (), "http://example.com/HelloWorld")
    assert made.signed_bytes == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"


def test_what_was_written_is_read_back() -> None:
    assert dsse.parse(WHOLE.dump()) == WHOLE


def test_a_proof_is_carried_beside_the_signatures_and_is_under_none() -> None:
    logged = replace(WHOLE, proof="index 0\n")
    assert dsse.parse(logged.dump()) == logged
    assert logged.signed_bytes == WHOLE.signed_bytes
    assert "tlogProof" not in json.loads(WHOLE.dump())


def changed(**members: object) -> bytes:
    return json.dumps(json.loads(WHOLE.dump()) | members).encode()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "an object with payload, payloadType, signatures, and at most `tlogProof`"),
        (changed(extra=1), "at most `tlogProof`"),
        (changed(tlogProof=None), "a text for `tlogProof`"),
        (changed(tlogProof=["a"]), "a text for `tlogProof`"),
        (changed(payloadType="text/plain"), "payload type `text/plain`"),
        (changed(payloadType=None), "payload type `None`"),
        (changed(signatures=[]), "1 to 16 signatures"),
        (changed(signatures=[{}] * 17), "1 to 16 signatures"),
        (changed(signatures={}), "1 to 16 signatures"),
        (changed(signatures=[{"keyid": 1, "sig": ""}]), "exactly `keyid` and `sig`"),
        (changed(signatures=[{"keyid": "a", "sig": "", "cert": ""}]), "exactly `keyid` and `sig`"),
        (changed(signatures=["a"]), "exactly `keyid` and `sig`"),
        (changed(payload=1), "`payload` is not canonical"),
        (changed(payload="YQ"), "`payload` is not canonical"),
        (changed(payload="YR=="), "`payload` is not canonical"),
        (changed(payload="Y Q=="), "`payload` is not canonical"),
        (changed(payload="-_8="), "`payload` is not canonical"),
        (changed(signatures=[{"keyid": "a", "sig": "YR=="}]), "`sig` is not canonical"),
    ],
    ids=range(20),
)
def test_another_form_is_refused(data: bytes, problem: str) -> None:
    with pytest.raises(dsse.EnvelopeError, match=problem) as caught:
        dsse.parse(data)
    assert caught.value.exit_code == 3


def test_sixteen_signatures_are_read() -> None:
    one = {"keyid": "a", "sig": base64.b64encode(b"s").decode()}
    assert len(dsse.parse(changed(signatures=[one] * 16)).signatures) == 16
