from __future__ import annotations

from faultwire.events import Response, header
from faultwire.faults.response.empty_body import EmptyBody


def test_the_head_comes_and_nothing_else(run, web, dice):
    mutator = EmptyBody().start(web, dice())
    head = mutator.head(Response(201, "Created", (("content-length", "9"), ("x-a", "b"))))
    assert (head.status, header(head.headers, "content-length"), header(head.headers, "x-a")) == (
        201,
        "0",
        "b",
    )
    assert run(mutator, web, [b"some", b"thing"], "bytes") == []
    assert mutator.effect == "answered 201 without a body"


def test_a_head_without_a_length_gets_none(web, dice):
    response = Response(200, "OK", (("transfer-encoding", "chunked"),))
    assert EmptyBody().start(web, dice()).head(response) is response
