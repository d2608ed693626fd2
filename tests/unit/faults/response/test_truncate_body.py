from __future__ import annotations

import pytest
from pydantic import ValidationError

from faultwire.events import Cut, Response, Send
from faultwire.faults.response.truncate_body import TruncateBody


@pytest.mark.parametrize(
    ("settings", "kept"), [({"fraction": 0.5}, 5), ({"fraction": 0}, 0), ({"bytes": 3}, 3), ({"bytes": 9}, 9)]
)
def test_the_beginning_arrives(run, web, dice, settings, kept):
    mutator = TruncateBody(**settings).start(web, dice())
    assert run(mutator, web, [b"0123456789"], "body") == [Send(b"0123456789"[:kept])]
    assert mutator.effect == f"{kept} of 10 bytes delivered"


def test_a_promise_that_is_not_kept_ends_the_connection(run, web, dice):
    mutator = TruncateBody(bytes=4, content_length="kept").start(web, dice())
    assert run(mutator, web, [b"0123456789"], "body") == [Send(b"0123"), Cut(clean=False)]


def test_a_short_body_is_left_alone(run, web, dice):
    mutator = TruncateBody(bytes=40, content_length="kept").start(web, dice())
    assert run(mutator, web, [b"0123456789"], "body") == [Send(b"0123456789")]
    assert mutator.effect is None


def test_streams_are_not_its_business(chat):
    sse = Response(200, "OK", (("content-type", "text/event-stream"),))
    fault = TruncateBody(bytes=1)
    assert fault.inapplicable(chat(stream=True)) == "the request asks for a stream"
    assert fault.inapplicable(chat(response=sse)) == "the response is a stream"
    assert fault.inapplicable(chat()) is None


@pytest.mark.parametrize("settings", [{}, {"fraction": 0.5, "bytes": 5}, {"fraction": 1}, {"bytes": -1}])
def test_one_measure(settings):
    with pytest.raises(ValidationError):
        TruncateBody(**settings)
