"""Keys by which servers know a request again: faultwire.checks._idempotency."""

import pytest

from faultwire.checks._idempotency import _LONGEST, key_of
from faultwire.events import Request


def asked(*headers: tuple[str, str], path: str = "/orders", body: bytes | None = None) -> str | None:
    return key_of(Request("POST", "https", "shop.test", 443, path, headers, body))


@pytest.mark.parametrize(
    "name", ["Idempotency-Key", "X-Idempotency-Key", "PayPal-Request-Id", "Repeatability-Request-ID"]
)
def test_in_a_header(name: str) -> None:
    assert asked((name, "k1")) == "k1"
    assert asked((f"{name}-of-another", "k1"), (name, "")) is None


@pytest.mark.parametrize("name", ["idempotency_key", "idempotencyKey", "ClientToken", "request_id"])
def test_in_the_query_and_the_body(name: str) -> None:
    assert asked(path=f"/orders?page=1&{name}=k1") == "k1"
    assert asked(body=f'{{"item": "tea", "{name}": "k1"}}'.encode()) == "k1"
    assert asked(body=f"item=tea&{name}=k1".encode()) == "k1"
    assert asked(body=f'{{"item": {{"{name}": "k1"}}}}'.encode()) is None, (
        "of the whole request, not of a part"
    )


@pytest.mark.parametrize(
    "body",
    [
        None,
        b"",
        b"{",
        b"[1]",
        b"{" * 100_000,
        b'{"request_id": 4}',
        b"\xff=\xff",
        b'{"x":1' + b" " * _LONGEST,
    ],
)
def test_other_bodies_have_none(body: bytes | None) -> None:
    assert asked(body=body) is None
