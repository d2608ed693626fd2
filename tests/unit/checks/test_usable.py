from dataclasses import replace

import pytest
from tests.unit.checks.conftest import call, talk

from faultwire.checks._usable import useless
from faultwire.events import Delivery, History

JSON = (("content-type", "application/json"),)
TEXT = (("content-type", "text/plain"),)


def lacks(exchange):
    return useless(History("s", (exchange,)), exchange)


def changed(exchange, delivered):
    """An exchange of which a fault replaced the response."""
    return replace(exchange, delivered=delivered)


@pytest.mark.parametrize(
    ("exchange", "what"),
    [
        (changed(talk(1), Delivery(200, "", JSON, b"")), "without a body"),
        (talk(1, delivered=Delivery(200, "", JSON, b"")), "without a body"),
        (changed(talk(1), Delivery(200, "", TEXT, b"\xff\xfe\x00")), "with a body that could not be read"),
        (talk(1, delivered=Delivery(200, "", JSON, b'{"choices": [')), "with a body that could not be read"),
        (changed(talk(1), talk(1, answer="").delivered), "without text or a tool call"),
        (
            changed(talk(1, answer="", calls=[call("search")]), talk(1, answer="").delivered),
            "without text or a tool call",
        ),
    ],
    ids=["body emptied", "empty body", "bytes", "half JSON", "text taken", "calls taken"],
)
def test_a_response_without_an_answer(exchange, what):
    assert lacks(exchange) == what


@pytest.mark.parametrize(
    "exchange",
    [
        talk(1),
        talk(1, answer="", calls=[call("search")]),
        talk(1, answer=""),
        changed(talk(1), talk(1, answer="other").delivered),
        talk(1, status=503),
        talk(1, answer="Half", cut=True),
        replace(talk(1), protocol=None),
        talk(1, delivered=Delivery(200, "", TEXT, b"\xff\xfe\x00")),
        talk(1, delivered=Delivery(200, "", (*JSON, ("content-encoding", "br")), b"\x0b")),
    ],
    ids=["text", "calls", "perhaps a picture", "other text", "503", "cut", "no model", "own bytes", "brotli"],
)
def test_a_response_that_may_be_an_answer_or_fails_otherwise(exchange):
    assert lacks(exchange) is None
