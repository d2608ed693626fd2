"""Who is let in, without a socket."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.requests import Request

from faultwire.ingestion.app import Door
from faultwire.ingestion.refusal import Refused

HOSTS = frozenset(("127.0.0.1:80",))


def request(*headers: tuple[str, str]) -> Request:
    raw = [(name.encode(), value.encode()) for name, value in (("host", "127.0.0.1:80"), *headers)]
    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/", "headers": raw}
    return Request(scope)


def refusal(door: Door, asked: Request) -> tuple[int, str] | None:
    try:
        door.check(asked)
    except Refused as why:
        return why.status, str(why.document()["detail"]["code"])
    return None


def test_an_sdk_comes_in_and_a_page_does_not() -> None:
    door = Door(HOSTS, None, None)
    assert refusal(door, request()) is None
    assert refusal(door, request(("origin", "null"))) == (403, "FROM_A_PAGE")


def test_another_name_for_this_address_does_not_come_in() -> None:
    assert refusal(Door(frozenset(("other:80",)), None, None), request()) == (421, "WRONG_HOST")


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer u", "u", "Bearer é"])
def test_a_wrong_token_does_not_come_in_and_the_right_one_does(given: str) -> None:
    door = Door(HOSTS, "t", None)
    assert refusal(door, request(("authorization", given))) == (401, "UNAUTHORIZED")
    assert refusal(door, request(("authorization", "Bearer t"))) is None
