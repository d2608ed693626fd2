from __future__ import annotations

import pytest
from pydantic import ValidationError

from faultwire.events import Cut, Send
from faultwire.faults.connection.close import Close


def test_before_the_headers_nothing_arrives(run, web, dice):
    mutator = Close().start(web, dice())
    assert run(mutator, web, [b"x"], "bytes") == [Cut(clean=False)]
    assert mutator.effect == "connection closed before the headers"


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
