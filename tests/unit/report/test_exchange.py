import json
from dataclasses import replace

from faultwire.events import Delivery, Request
from faultwire.report.exchange import BODY, EVENTS, exchange_part

STREAM = (("Content-Type", "text/event-stream; charset=utf-8"),)


def test_an_untouched_exchange(make_recorded):
    part = exchange_part(make_recorded(1, "s"), origin_ms=1000)
    assert (part["offset_ms"], part["duration_ms"], part["changed"]) == (40, 30.0, False)
    assert part["upstream"] is None
    assert part["upstream_called"]
    assert part["delivered"]["body"] == {"bytes": 15, "text": '{\n  "choices": []\n}'}
    assert part["stream"] is None


def test_what_came_late_is_not_said_to_be_changed(make_recorded, make_stream):
    said = make_stream(["a", "b"])
    late = replace(said, chunks=tuple((end, at + 90_000_000) for end, at in said.chunks))
    part = exchange_part(make_recorded(1, "s", upstream=said, delivered=late), 0)
    assert said.chunks != late.chunks
    assert (part["changed"], part["upstream"]) == (False, None)


def test_a_cut_stream_shows_delivered_and_withheld_events(make_recorded, make_stream):
    said, got = make_stream(["a", "b", "c", "d"]), make_stream(["a", "b"])
    stream = exchange_part(make_recorded(1, "s", upstream=said, delivered=got, ending="cut"), 0)["stream"]
    assert (stream["said"], stream["delivered"]) == (4, 2)
    assert stream["events"] == [
        {"at_ms": 0.0, "text": '{"text":"a"}'},
        {"at_ms": 5.0, "text": '{"text":"b"}'},
    ]
    assert stream["withheld"] == ['{"text":"c"}', '{"text":"d"}']


def test_what_every_event_repeats_is_left_out(make_recorded):
    body = b"".join(b'data: {"id": "chatcmpl-1", "model": "m", "delta": "%s"}\n\n' % w for w in (b"a", b"b"))
    got = Delivery(200, "OK", STREAM, body + b"data: [DONE]\n\n")
    stream = exchange_part(make_recorded(1, "s", upstream=got, delivered=got), 0)["stream"]
    assert [e["text"] for e in stream["events"]] == ['{"delta":"a"}', '{"delta":"b"}', "[DONE]"]


def test_events_nested_too_deep_are_shown_as_they_stand(make_recorded):
    body = b"data: " + b"[" * 9000 + b"\n\n" + b'data: {"a": 1}\n\n' * 2
    got = Delivery(200, "OK", STREAM, body)
    stream = exchange_part(make_recorded(1, "s", upstream=got, delivered=got), 0)["stream"]
    assert stream["events"][0]["text"].startswith("[[[[")
    assert [e["text"] for e in stream["events"][1:]] == ["{}", "{}"]


def test_a_changed_stream_withholds_nothing(make_recorded, make_stream):
    said, got = make_stream(["a", "b", "c"]), make_stream(["a", "X"])
    stream = exchange_part(make_recorded(1, "s", upstream=said, delivered=got), 0)["stream"]
    assert (stream["said"], stream["delivered"], stream["withheld"]) == (3, 2, [])


def test_half_an_event_is_counted_in_bytes(make_recorded):
    got = Delivery(200, "OK", STREAM, b"data: 1\n\ndata: 2")
    stream = exchange_part(make_recorded(1, "s", upstream=got, delivered=got), 0)["stream"]
    assert (stream["delivered"], stream["partial_bytes"]) == (1, 7)


def test_events_of_bare_carriage_returns_count(make_recorded):
    got = Delivery(200, "OK", STREAM, b"data: 1\r\rdata: 2\r\r")
    stream = exchange_part(make_recorded(1, "s", upstream=got, delivered=got), 0)["stream"]
    assert (stream["delivered"], stream["partial_bytes"]) == (2, 0)


def test_long_streams_and_bodies_are_bounded(make_recorded):
    long = Delivery(200, "OK", STREAM, b"".join(b"data: %d\n\n" % n for n in range(10_000)))
    part = exchange_part(make_recorded(1, "s", upstream=long, delivered=Delivery(200, "OK", STREAM, b"")), 0)
    assert (len(part["stream"]["withheld"]), part["stream"]["withheld_not_shown"]) == (
        EVENTS,
        10_000 - EVENTS,
    )
    huge = Delivery(200, "OK", (), b'{"a": "' + b"x" * 50_000_000)
    text = exchange_part(make_recorded(1, "s", delivered=huge), 0)["delivered"]["body"]["text"]
    assert len(text) < BODY + 50


def test_no_response_at_all(make_recorded):
    part = exchange_part(
        make_recorded(1, "s", upstream=None, delivered=None, ending="reset", error="reset"), 0
    )
    assert (part["delivered"], part["upstream_called"], part["stream"]) == (None, False, None)


def test_hostile_bytes_do_not_break_it(make_recorded):
    headers = (("x-\xff", "\x00\x1b[31m"),) * 500
    body = b"{" * 30_000
    request = Request("G\x1bT", "https", "h\u202e", 443, "/" + "a" * 100_000, headers, body)
    part = exchange_part(make_recorded(1, "s", request=request), 0)
    assert len(part["request"]["headers"]) == 100
    assert len(part["request"]["url"]) < 2100
    json.dumps(part)


def test_faults_come_with_their_reason(make_recorded, make_fired):
    part = exchange_part(make_recorded(1, "s", faults=(make_fired(unit=0.25),)), 0)
    assert part["faults"] == [
        {
            "id": "cut_stream", "fault": "cut_stream", "site": "stream", "outcome": "fired",
            "reason": "call 1 matches", "effect": "cut after event 2", "subject": None, "roll": 0.25,
            "settings": {"after_events": 2},
        }
    ]  # fmt: skip
