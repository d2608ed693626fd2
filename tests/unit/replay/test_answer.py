"""The answer of a recorded exchange: which side's, how it ends, and in which pieces it comes.

Covers faultwire.replay.answer.
"""

from __future__ import annotations

import gzip
from dataclasses import replace
from typing import Any

import pytest

from faultwire.events import FaultFired, Goaway, Headers, Message, Recorded, Request
from faultwire.history import Delivery
from faultwire.replay.answer import Answer, answer_of
from faultwire.replay.mask import Masks
from faultwire.replay.rebind import Rebinder
from faultwire.replay.request_key import asked

TEXT: Headers = (("content-type", "text/plain"),)
ASKED = Request("GET", "https", "h.example", 443, "/", ())
CALL, OTHER = "call_recorded1", "call_another1"


def response(body: bytes, *chunks: tuple[int, int], headers: Headers = TEXT) -> Delivery:
    return Delivery(200, "OK", headers, body, chunks, (("t", "1"),))


def recorded(**changes: Any) -> Recorded:
    made = Recorded(
        "s", 1, "tool", None, None, None, ASKED, response(b"up", (2, 5)), response(b"down", (4, 7)),
        "complete", None, 0, 0, 1.5,
    )  # fmt: skip
    return replace(made, **changes)


def pieces(body: bytes, *chunks: tuple[int, int], rebinder: Rebinder | None = None, coding: str = "") -> Any:
    headers = (*TEXT, ("Content-Encoding", coding)) if coding else TEXT
    return answer_of(recorded(delivered=response(body, *chunks, headers=headers)), rebinder).chunks


def test_an_answer_is_what_the_client_got_or_what_the_server_sent() -> None:
    messages = (Message("client", "text", b"m", 1, 2),)
    found = answer_of(recorded(messages=messages))
    assert found == Answer(200, "OK", TEXT, ((b"down", 7),), (("t", "1"),), "complete", 1_500_000, messages)
    assert answer_of(recorded(), upstream=True).chunks == ((b"up", 5),)
    assert answer_of(recorded(upstream=None), upstream=True).chunks == ((b"down", 7),)
    assert found.size == 4


@pytest.mark.parametrize(
    ("ending", "upstream", "ends", "lost"),
    [
        ("complete", True, "complete", "aborted"),
        ("closed", True, "complete", "aborted"),
        ("refused", True, "complete", "aborted"),
        ("cut", True, "cut", "cut"),
        ("reset", True, "reset", "reset"),
        ("client_aborted", True, "aborted", "aborted"),
        ("client_aborted", False, "aborted", "aborted"),
        ("upstream_aborted", True, "aborted", "aborted"),
        ("upstream_aborted", False, "complete", "aborted"),
    ],
)
def test_an_answer_ends_as_it_did_and_without_a_head_at_all_events_is_lost(
    ending: Any, upstream: bool, ends: str, lost: str
) -> None:
    made = recorded(ending=ending) if upstream else recorded(ending=ending, upstream=None)
    assert answer_of(made).ends == ends
    nothing = answer_of(replace(made, delivered=None))
    assert nothing == Answer(0, "", (), (), (), lost, 1_500_000)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        (((2, 5), (4, 9)), ((b"ab", 5), (b"cd", 9))),
        (((2, 0), (4, 9)), ((b"ab", 0), (b"cd", 9))),
        (((2, 5), (2, 6), (4, 9)), ((b"ab", 5), (b"cd", 9))),
        (((1, 5), (3, 9)), ((b"a", 5), (b"bcd", 9))),
        (((1, 5), (9, 9)), ((b"a", 5), (b"bcd", 9))),
        (((3, 5),), ((b"abcd", 5),)),
        ((), ((b"abcd", 0),)),
    ],
)
def test_pieces_end_where_they_did_and_the_last_takes_what_is_left(chunks: Any, expected: Any) -> None:
    assert pieces(b"abcd", *chunks) == expected
    assert pieces(b"") == ()


def test_an_answer_has_the_live_values_and_counts_as_seen() -> None:
    made = Rebinder()
    made.bind([(CALL, OTHER)])
    body = f"id {CALL} {CALL}".encode()
    live = f"id {OTHER} {OTHER}".encode()
    assert pieces(body, (17, 1), (32, 2), rebinder=made) == ((live[:16], 1), (live[16:], 2))
    server = asked(ASKED, Masks())
    made.bind([("call_recorded2", "call_another2")])
    pieces(b"call_recorded2", rebinder=made)
    assert made.allows(server, [((), "call_recorded2", "call_another2")]) is not None, "they belong together"
    for place in (("call_recorded2", "call_another3"), ("call_recorded3", "call_another2")):
        assert made.allows(server, [((), *place)]) is None
    plain = Rebinder()
    pieces(b"call_recorded4", rebinder=plain)
    assert plain.allows(server, [((), "call_recorded4", "call_another4")]) is None, "seen on the tape"
    assert plain.allows(server, [((), "call_another4", "call_recorded4")]) is None, "and in this run"


@pytest.mark.parametrize("coding", ["gzip", " GZIP ", "identity, gzip", "gzip,identity"])
def test_a_packed_answer_is_unpacked_for_it_and_packed_again(coding: str) -> None:
    made = Rebinder()
    made.bind([(CALL, OTHER)])
    packed = gzip.compress(b"id " + CALL.encode() + b" " + b"x" * 500, mtime=0)
    found = pieces(packed, (10, 1), (len(packed), 2), rebinder=made, coding=coding)
    assert len(found) == 2
    body = b"".join(data for data, _ in found)
    assert gzip.decompress(body) == b"id " + OTHER.encode() + b" " + b"x" * 500
    assert len(found[0][0]) == 10 * len(body) // len(packed)


def test_a_packed_answer_without_such_a_value_keeps_its_bytes() -> None:
    made = Rebinder()
    made.bind([(CALL, OTHER)])
    packed = gzip.compress(b"nothing", 1, mtime=7)
    for body in (packed, b"no gzip at all"):
        assert b"".join(data for data, _ in pieces(body, (3, 1), rebinder=made, coding="gzip")) == body
    assert pieces(f"id {CALL}".encode(), rebinder=made, coding="identity") == ((f"id {OTHER}".encode(), 0),)
    two = gzip.compress(gzip.compress(CALL.encode()))
    found = pieces(two, rebinder=made, coding="gzip, gzip")
    assert gzip.decompress(gzip.decompress(found[0][0])) == OTHER.encode()
    assert pieces(b"", rebinder=made, coding="gzip") == ()


def line(fault: str, outcome: Any = "fired", **settings: Any) -> FaultFired:
    return FaultFired(fault, fault, "connection", outcome, "", "k", 1, 1, settings=settings)


@pytest.mark.parametrize(
    ("said", "goaway", "code"),
    [
        (line("rst_stream", code="CANCEL"), None, 8),
        (line("rst_stream", code="NO_ERROR"), None, 0),
        (line("goaway", code="ENHANCE_YOUR_CALM", answered=False), Goaway(11, False), 7),
        (line("goaway", code="NO_ERROR", answered=True), Goaway(0, True), None),
        (line("goaway"), Goaway(0, False), 7),
        (line("rst_stream", "no_effect", code="CANCEL"), None, None),
        (line("goaway", "inapplicable"), None, None),
        (line("reset", code="CANCEL"), None, None),
        (line("rst_stream", code=["CANCEL"]), None, None),
        (line("rst_stream", code="ANOTHER"), None, None),
    ],
    ids=lambda one: f"{one.fault} {one.outcome} {one.settings}" if isinstance(one, FaultFired) else "",
)
def test_frames_that_a_fault_sent_are_in_the_ledger(
    said: FaultFired, goaway: Goaway | None, code: int | None
) -> None:
    """A tape may be anybody's: a code that there is not is none."""
    for delivered in (response(b"down", (4, 7)), None):
        found = answer_of(recorded(faults=(said,), ending="reset", delivered=delivered))
        assert (found.goaway, found.code) == (goaway, code)
    found = answer_of(recorded(faults=(said,), ending="reset"), upstream=True)
    assert (found.goaway, found.code) == (None, None), "the server had said no such thing"
