from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest
from tests.unit.blame.test_compare import exchange

from faultwire.blame.pieces import Pieces, take_apart
from faultwire.events import Delivery, Recorded, header

JSON = (("content-type", "application/json"), ("content-length", "9"))
SSE = (("content-type", "text/event-stream"),)


def answered(
    body: bytes, headers: tuple[tuple[str, str], ...] = JSON, status: int = 200, ending: str = "complete"
) -> Recorded:
    got = Delivery(status, "", headers, body, ((len(body), 5),))
    return replace(
        exchange(3, "q", "x"), protocol=None, kind="http", delivered=got, upstream=got, ending=ending
    )  # type: ignore[arg-type]


def apart(failed: Recorded, calm: Recorded) -> Pieces:
    found = take_apart(failed, calm)
    assert isinstance(found, Pieces), found
    return found


def test_fields_of_a_tools_result() -> None:
    found = apart(answered(b'{"unit":"F","n":1}'), answered(b'{"unit":"C","n":2}'))
    assert [(one.kind, one.name, one.failed, one.calm) for one in found.pieces] == [
        ("field", "$.unit", '"F"', '"C"'), ("field", "$.n", "1", "2"),
    ]  # fmt: skip
    given = found.answer({0})
    assert (given.status, given.body, header(given.headers, "content-length")) == (
        200,
        b'{"unit":"F","n":2}',
        "18",
    )
    assert found.answer({0, 1}).body == b'{"unit":"F","n":1}'
    assert found.answer(set()).body == b'{"unit":"C","n":2}'


def test_events_of_a_stream_and_its_end() -> None:
    calm = b"data: a\n\ndata: b\n\ndata: c\n\n"
    found = apart(answered(b"data: a\n\n", SSE, ending="cut"), answered(calm, SSE))
    assert [one.kind for one in found.pieces] == ["event", "event", "ending"]
    assert found.answer({1}).body == b"data: a\n\ndata: b\n\n"
    assert found.answer({1}).ending == "complete"
    only_cut = found.answer({2})
    assert (only_cut.body, only_cut.ending) == (calm, "cut")
    assert [end for end, _ in found.answer({2}).chunks] == [9, 18, 27]


def test_header_fields_but_not_those_that_are_new_in_every_answer() -> None:
    head = (*JSON, ("retry-after", "9"), ("date", "now"), ("x-request-id", "1"))
    found = apart(answered(b"{}", head), answered(b"{}", JSON))
    assert [one.name for one in found.pieces] == ["retry-after"]
    two = apart(answered(b'{"a":1}', head), answered(b'{"a":2}', JSON))
    assert header(two.answer({1}).headers, "retry-after") == "9"
    assert header(two.answer({0}).headers, "retry-after") is None


def test_lines_of_a_text_and_packed_bodies() -> None:
    plain = (("content-type", "text/plain"),)
    found = apart(answered(b"one\nBAD\n", plain), answered(b"one\ntwo\n", plain))
    assert [(one.kind, one.name) for one in found.pieces] == [("line", "line 2")]
    packed = (*JSON, ("content-encoding", "gzip"))
    mixed = apart(
        answered(gzip.compress(b'{"a":1,"b":1}'), packed), answered(gzip.compress(b'{"a":2,"b":2}'), packed)
    ).answer({0})
    assert json.loads(mixed.body) == {"a": 1, "b": 2}
    assert header(mixed.headers, "content-encoding") is None


@pytest.mark.parametrize(
    ("failed", "calm", "why"),
    [
        (answered(b"{}", status=503), answered(b"{}"), "the status is another one"),
        (answered(b'{"a":'), answered(b'{"a":1}'), "one of both is no JSON"),
        (answered(b'{"a":1}'), answered(b'{"a": 1}'), "in nothing but when they came"),
        (answered(b"\xff"), answered(b"\xfe"), "neither JSON nor text"),
        (answered(b"data: a\n\n", SSE), answered(b'{"a":1}'), "one of both is a stream"),
        (
            answered(b"{}", ending="upstream_aborted"),
            answered(b"{}"),
            "the failed answer was not sent to its end by the server",
        ),
        (
            answered(b"{}", ending="closed"),
            answered(b"{}"),
            "the failed answer was ended early by a fault, as if it were whole",
        ),
        (
            answered(b"{}"),
            answered(b"{}", ending="open"),
            "the calm answer had not ended when the recording did",
        ),
        (replace(answered(b""), delivered=None), answered(b"{}"), "no answer"),
    ],
)  # fmt: skip
def test_why_an_answer_is_one_piece(failed: Recorded, calm: Recorded, why: str) -> None:
    found = take_apart(failed, calm)
    assert isinstance(found, str)
    assert why in found


def test_an_answer_that_differs_everywhere_is_not_taken_apart() -> None:
    many = [json.dumps({str(at): value for at in range(2_500)}).encode() for value in (1, 2)]
    found = take_apart(answered(many[0]), answered(many[1]))
    assert found == "the answers differ in 2500 places, more than 2000"
