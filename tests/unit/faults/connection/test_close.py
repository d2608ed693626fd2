from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError

from faultwire.events import Cut, Send
from faultwire.faults.connection.close import Close


def test_before_the_headers_nothing_arrives(run, web, dice):
    mutator = Close().start(web, dice())
    assert run(mutator, web, [b"x"], "bytes") == [Cut(clean=False)]
    assert mutator.effect == "connection closed before the headers"


def test_over_http_2_no_connection_is_reported_as_closed(run, web, dice):
    over_http2 = replace(web, http2=True)
    mutator = Close().start(over_http2, dice())
    assert run(mutator, over_http2, [b"x"], "bytes") == [Cut(clean=False)]
    assert mutator.effect == "HTTP/2 stream reset before the headers"


def test_after_bytes_exactly_so_many_arrive(run, web, dice):
    mutator = Close(at={"after_bytes": 5}).start(web, dice())
    assert run(mutator, web, [b"abc", b"defg"], "bytes") == [Send(b"abc"), Send(b"de"), Cut(clean=False)]
    assert mutator.effect == "connection closed after 5 bytes of the body"


def test_a_short_body_is_left_alone(run, web, dice):
    mutator = Close(at={"after_bytes": 50}).start(web, dice())
    assert run(mutator, web, [b"abc"], "bytes") == [Send(b"abc")]
    assert mutator.effect is None


def test_a_place_is_one_of_three():
    with pytest.raises(ValidationError):
        Close(at="somewhere")
