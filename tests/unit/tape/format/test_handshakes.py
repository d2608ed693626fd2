"""Handshakes at the end of a session."""

from __future__ import annotations

import pytest

from faultwire.events import FailedHandshake
from faultwire.tape.format.handshakes import failed_handshakes, handshake_members

ONE = {"host": "a", "reason": "refused", "count": 2, "program": "node"}


def test_they_come_back_with_the_name_of_the_program_alone() -> None:
    given = (FailedHandshake("a", "refused", 2, "/home/me/bin/node"), FailedHandshake("b", "closed", 1))
    event = handshake_members(given)
    assert event["handshakes"][0] == ONE
    assert failed_handshakes(event) == (
        FailedHandshake("a", "refused", 2, "node"), FailedHandshake("b", "closed", 1),
    )  # fmt: skip


def test_where_there_are_none_nothing_is_reported() -> None:
    assert handshake_members(()) == {}
    assert failed_handshakes({}) == ()


@pytest.mark.parametrize(
    "bad",
    [3, [3], [{}], [{**ONE, "more": 1}], [{**ONE, "host": 3}], [{**ONE, "count": "2"}], [{**ONE, "count": 0}],
     [{**ONE, "reason": "other"}], [{**ONE, "program": 3}]],
)  # fmt: skip
def test_what_no_tape_has_is_an_error(bad: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        failed_handshakes({"handshakes": bad})
