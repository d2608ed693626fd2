from __future__ import annotations

from base64 import b64encode

import pytest

from faultwire.mitm.engine.placement import MOST_HEAD, Placement, session_of

USER, TOKEN = "s12ab", "0123456789abcdef"


def seen(user: str, password: str = TOKEN) -> bytes:
    basic = b64encode(f"{user}:{password}".encode()).decode()
    return f"CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\nProxy-authorization:  Basic {basic}\r\n\r\n".encode()


@pytest.mark.parametrize(
    ("head", "session"),
    [
        (seen(f"{USER}.billing"), "billing"),
        (seen(f"{USER}.a.b-c_d"), "a.b-c_d"),
        (seen(USER), ""),
        (seen(f"{USER}."), ""),
        (seen(f"{USER}.billing", "wrong"), ""),
        (seen(f"other.{USER}"), ""),
        (b"CONNECT a:443 HTTP/1.1\r\nProxy-Authorization: Basic ?\r\n\r\n", ""),
        (b"CONNECT a:443 HTTP/1.1\r\nProxy-Authorization: Bearer x\r\n\r\n", ""),
        (f"POST /{TOKEN}.billing/openai/v1 HTTP/1.1\r\nHost: us\r\n\r\n".encode(), "billing"),
        (f"POST /{TOKEN}/openai/v1 HTTP/1.1\r\nHost: us\r\n\r\n".encode(), ""),
        (b"POST /wrong.billing/openai/v1 HTTP/1.1\r\nHost: us\r\n\r\n", ""),
        (b"GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", ""),
        (b"\x16\x03\x01\x02", ""),
        (b"GET\r\n\r\n", ""),
        (b"G" * MOST_HEAD, ""),
    ],
)
def test_the_session_is_the_one_that_the_first_head_names_with_the_token(head: bytes, session: str) -> None:
    assert session_of(head, USER, TOKEN) == session


@pytest.mark.parametrize("cut", [1, 20, 60, -1])
def test_nothing_is_said_before_the_head_is_whole(cut: int) -> None:
    assert session_of(seen(f"{USER}.billing")[:cut], USER, TOKEN) is None


def test_sessions_are_spread_evenly_and_stay_where_they_are() -> None:
    placement = Placement(2)
    first = {name: placement.place(name) for name in "abcdefgh"}
    assert sorted(first.values()) == [1, 1, 1, 1, 2, 2, 2, 2] or sorted(first.values()) == [1] * 3 + [2] * 5
    assert {name: placement.place(name) for name in "hgfedcba"} == first
    assert placement.place("") == 1


def test_a_closed_engine_keeps_its_sessions_and_gets_no_new_ones() -> None:
    placement = Placement(2)
    places = {name: placement.place(name) for name in "abcd"}
    placement.close(2)
    assert {name: placement.place(name) for name in "abcd"} == places
    assert [placement.place(name) for name in "efgh"] == [1, 1, 1, 1]


def test_sessions_of_a_lost_engine_get_the_first_reason_and_are_moved_nowhere() -> None:
    placement = Placement(2)
    places = {name: placement.place(name) for name in "abcd"}
    placement.lose(2, "it was drained")
    placement.lose(2, "it has ended")
    told = {name: placement.place(name) for name in "abcd"}
    assert told == {name: "it was drained" if place == 2 else 1 for name, place in places.items()}
    assert set(placement.gone) == {2}
    placement.lose(1, "it has ended")
    assert placement.place("new") == "no engine of this proxy takes new sessions"
