"""What a signature covers: faultwire.wire.recognition.signed."""

from __future__ import annotations

from faultwire.events import Request
from faultwire.wire.recognition import signed

FIELDS = "AWS4-HMAC-SHA256 Credential=a/b, SignedHeaders=content-type;Host;x-amz-date, Signature=00"


def request(authorization: str) -> Request:
    return Request("POST", "https", "bedrock.example", 443, "/", (("Authorization", authorization),))


def test_a_body_is_covered_by_aws_signatures_only() -> None:
    assert signed.is_signed(request(FIELDS))
    assert not signed.is_signed(request("Bearer x"))


def test_a_field_is_covered_where_it_is_listed() -> None:
    assert signed.signs_header(request(FIELDS), "HOST")
    assert not signed.signs_header(request(FIELDS), "x-amz")
    assert not signed.signs_header(request(FIELDS.replace("AWS4", "AWS3")), "host")
