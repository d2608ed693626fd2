"""What is done to a request before it goes out."""

from __future__ import annotations

import pytest

from faultwire.events import Request
from faultwire.exchange.request_out import first_message, is_dialogue, unpacked, with_body

HEAD = Request("POST", "https", "h", 443, "/")


def signed(names: str) -> Request:
    value = f"AWS4-HMAC-SHA256 Credential=x, SignedHeaders={names}, Signature=y"
    headers = (("authorization", value), ("accept-encoding", "gzip"))
    return Request("POST", "https", "h", 443, "/", headers)


def test_an_answer_is_asked_for_unpacked_unless_a_signature_forbids_it() -> None:
    assert unpacked(HEAD).headers == (("accept-encoding", "identity"),)
    covered = signed("accept-encoding;host")
    assert unpacked(covered) is covered
    assert unpacked(signed("host")).headers[1] == ("accept-encoding", "identity")


def test_only_a_request_that_says_its_length_has_it_changed() -> None:
    assert with_body(HEAD, b"12345") == Request("POST", "https", "h", 443, "/", (), b"12345")
    said = Request("POST", "https", "h", 443, "/", (("Content-Length", "2"), ("x", "y")), b"12")
    assert with_body(said, b"12345").headers == (("Content-Length", "5"), ("x", "y"))


@pytest.mark.parametrize(
    ("content_type", "dialogue"),
    [
        ("application/grpc", True),
        ("Application/gRPC+proto", True),
        ("application/json", False),
        (None, False),
    ],
)
def test_only_grpc_waits_for_answers_before_its_end(content_type: str | None, dialogue: bool) -> None:
    headers = () if content_type is None else (("content-type", content_type),)
    assert is_dialogue(Request("POST", "https", "h", 443, "/", headers)) is dialogue


def test_the_length_of_a_message_has_four_bytes() -> None:
    assert first_message(b"\0\1\0\0\0") is None
    assert first_message(b"\0\0\0\0") is None
    whole = b"\0\0\0\1\0" + b"x" * 256
    assert first_message(whole + b"more") == whole
