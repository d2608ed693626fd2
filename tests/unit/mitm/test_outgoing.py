"""Answers that are changed on their way to a client: faultwire.mitm.compat.outgoing."""

from __future__ import annotations

from typing import Any

import pytest
from mitmproxy import http
from mitmproxy.proxy.layers.http._events import (
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
    ResponseProtocolError,
)

from faultwire.mitm.compat.outgoing import ChangedAnswers


class Louder:
    """Wants every body that is JSON, and makes it capitals."""

    def head(self, response: http.Response) -> bool:
        response.headers["x-seen"] = "1"
        return response.headers.get("content-type") == "json"

    def body(self, response: http.Response, body: bytes) -> bytes:
        return body.upper() + b"!"


def said(kind: str, *events: Any, by: Any = Louder) -> list[Any]:
    response = http.Response.make(200, b"", {"content-type": kind, "transfer-encoding": "chunked"})
    answers = ChangedAnswers(lambda: by() if by else None)
    head = ResponseHeaders(1, response)
    found = [one for event in (head, *events) for one in answers.events(event)]
    assert "x-seen" not in response.headers, "what the tape holds is not changed"
    return found


DATA = (ResponseData(1, b"ab"), ResponseData(1, b"c"))
END, LOST = ResponseEndOfMessage(1), ResponseProtocolError(1, "lost")


def test_a_body_that_is_wanted_goes_out_whole_and_with_its_length() -> None:
    head, data, end = said("json", *DATA, END)
    assert (data.data, end) == (b"ABC!", END)
    assert head.response.headers["content-length"] == "4"
    assert "transfer-encoding" not in head.response.headers


def test_one_that_is_cut_off_goes_as_it_is() -> None:
    head, data, end = said("json", *DATA, LOST)
    assert (data.data, end) == (b"abc", LOST)
    assert head.response.headers["transfer-encoding"] == "chunked"


@pytest.mark.parametrize(("by", "seen"), [(Louder, True), (None, False)])
def test_any_other_passes_piece_by_piece(by: Any, seen: bool) -> None:
    head, *rest = said("text", *DATA, END, by=by)
    assert rest == [*DATA, END]
    assert ("x-seen" in head.response.headers) is seen


def test_the_next_answer_is_asked_about_anew() -> None:
    answers = ChangedAnswers(iter([Louder(), None]).__next__)
    response = http.Response.make(200, b"", {"content-type": "json"})
    for events, count in (((*DATA, END), 3), ((*DATA, END), 4)):
        found = [one for event in (ResponseHeaders(1, response), *events) for one in answers.events(event)]
        assert len(found) == count
