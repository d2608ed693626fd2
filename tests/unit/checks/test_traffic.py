from dataclasses import replace

import pytest

from faultwire.checks._traffic import PATIENCE_MS, altered, failed, left, whole
from faultwire.events import Delivery

STREAM = (("content-type", "text/event-stream"),)
CHUNK = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m",'
    b'"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":%s}]}\n\n'
)
SAID = CHUNK % b"null" + CHUNK % b'"stop"'
DONE = b"data: [DONE]\n\n"


def aborted(ok, body, **changes):
    exchange = ok(1, delivered=Delivery(200, "OK", STREAM, body), ending="client_aborted")
    return replace(exchange, protocol="openai_chat", **changes)


def test_an_sdk_that_hangs_up_after_the_closing_event_got_everything(ok):
    assert whole(aborted(ok, SAID + DONE))
    assert not failed(aborted(ok, SAID + DONE))


@pytest.mark.parametrize("body", [b"", SAID, SAID + b"data: [DO", b"\x00\xff{", b"data: {\n\n"])
def test_one_that_hangs_up_earlier_did_not(ok, body):
    assert not whole(aborted(ok, body))
    assert failed(aborted(ok, body))


def test_without_a_protocol_an_abort_is_an_abort(ok):
    assert not whole(replace(aborted(ok, SAID + DONE), protocol=None))
    assert not whole(replace(aborted(ok, SAID + DONE), protocol="of_a_package_that_is_gone"))
    assert not whole(replace(aborted(ok, SAID + DONE), delivered=None))


def test_a_stream_that_was_cut_is_never_whole(ok):
    assert not whole(replace(aborted(ok, SAID + DONE), ending="cut"))


def test_what_counts_as_failed(ok):
    assert not failed(ok(1))
    assert failed(ok(1, ending="cut"))
    assert failed(ok(1, ending="reset", delivered=None))
    assert failed(ok(1, delivered=Delivery(503, "", (), b"")))
    assert not failed(ok(1, delivered=Delivery(302, "", (), b"")))


def leaving(ok, silence_ms, delivered=SAID, **changes):
    """A client that leaves so long after the last bytes that it got."""
    got = Delivery(200, "OK", STREAM, delivered, ((0, 40_000_000),) if delivered else ())
    exchange = ok(1, delivered=got, ending="client_aborted")
    sent = replace(got, body=SAID + DONE)
    made = {"upstream": sent, "protocol": "openai_chat", "duration_ms": 40 + silence_ms}
    return replace(exchange, **(made | changes))


def test_a_client_that_has_read_enough_did_not_fail(ok):
    exchange = leaving(ok, 12.0)
    assert left(exchange)
    assert not failed(exchange)
    assert not whole(exchange)


@pytest.mark.parametrize(
    "changes",
    [
        {"ending": "cut"},
        {"upstream": None},
        {"delivered": b""},
        {"silence_ms": PATIENCE_MS},
        {"delivered": SAID.replace(b"hi", b"ho")},
    ],
    ids=["cut by the server", "a fault's own answer", "nothing came", "long silence", "changed"],
)
def test_one_that_may_have_given_up_did(ok, changes):
    exchange = leaving(ok, **({"silence_ms": 12.0} | changes))
    assert not left(exchange)
    assert failed(exchange)


def test_one_that_hangs_up_after_the_end_has_not_left_early(ok):
    assert not left(leaving(ok, 12.0, delivered=SAID + DONE))


def test_what_came_later_is_not_altered(ok):
    sent = Delivery(200, "OK", STREAM, SAID, ((0, 1),))
    later = replace(sent, chunks=((0, 5), (9, 80)))
    assert not altered(ok(1, delivered=sent))
    assert not altered(replace(ok(1, delivered=later), upstream=sent))


@pytest.mark.parametrize(
    "changes", [{"status": 201}, {"headers": ()}, {"body": DONE}, {"trailers": (("grpc-status", "1"),)}]
)
def test_what_is_another_answer_is_altered(ok, changes):
    sent = Delivery(200, "OK", STREAM, SAID)
    assert altered(replace(ok(1, delivered=replace(sent, **changes)), upstream=sent))
    assert altered(replace(ok(1, delivered=sent), upstream=None))
    assert altered(replace(ok(1, delivered=None), upstream=sent))
