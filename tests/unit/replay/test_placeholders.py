"""Which recorded answers a replay cannot give back as they were delivered."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from typing import Any

import pytest

from faultwire.events import Message
from faultwire.replay.answer import Answer
from faultwire.replay.placeholders import Altered, altered, remarks

MARK = "redacted:v1:" + "ab" * 16
KEY = "sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56Qr78St90"


def answer(body: bytes, *headers: tuple[str, str], **more: Any) -> Answer:
    about: dict[str, Any] = {"trailers": (), "ends": "complete", "ended_ns": 1, **more}
    half = len(body) // 2
    return Answer(200, "", headers, ((body[:half], 0), (body[half:], 1)), **about)


def said(by: Any, text: str) -> Message:
    return Message(by=by, kind="text", data=text.encode(), sent_ns=1, delivered_ns=1, code=None)


def test_places_in_json_are_named() -> None:
    body = {"a": [{"arguments": json.dumps({"api_key": MARK})}, "x"], "b": MARK}
    assert altered(answer(json.dumps(body).encode())) == Altered(("$.a[0].arguments", "$.b"), ())


@pytest.mark.parametrize(
    ("found", "places"),
    [
        (answer(f"data: {MARK}\n\n".encode()), ("body",)),
        (answer(gzip.compress(MARK.encode()), ("content-encoding", "gzip")), ("body",)),
        (answer(MARK.encode(), ("content-encoding", "gzip")), ("body",)),
        (answer(json.dumps({"x": b64encode(b"key " + MARK.encode()).decode()}).encode()), ("$.x",)),
        (answer(b"", messages=(said("client", MARK), said("server", MARK))), ("message 2",)),
    ],
    ids=["stream", "packed", "opaque", "base64", "websocket"],
)
def test_placeholders_are_found_in_every_carrier(found: Answer, places: tuple[str, ...]) -> None:
    assert altered(found) == Altered(places, ())


def test_header_fields_and_trailers_are_named() -> None:
    found = answer(b"{}", ("Set-Cookie", f"a={MARK}"), ("date", "now"), trailers=(("x-key", MARK),))
    assert altered(found) == Altered((), ("set-cookie", "x-key"))


def test_an_answer_without_placeholders_is_as_it_was() -> None:
    plain = (b64encode(b"p" * 300), b"redacted:v2:", gzip.compress(b"x"), b"")
    assert [altered(answer(body, ("content-encoding", "identity"))) for body in plain] == [None] * 4
    assert altered(answer(b"", messages=(said("client", MARK),))) is None


def test_a_report_remarks_on_answers_with_placeholders_in_their_bodies() -> None:
    calls = [{"call": "s#1", "body": ["$.a"], "headers": []}, {"call": "s#2", "body": [], "headers": ["x"]}]
    (remark,) = remarks({"redacted": {"answers": 2, "heads": 1, "calls": calls}})
    assert remark == (
        "2 recorded answers hold placeholders in place of redacted values, so this replay is not exact: "
        "s#1 and 1 more"
    )
    assert remarks({"redacted": {"answers": 0, "heads": 1, "calls": calls[1:]}}) == ()
    assert remarks(None) == ()


def test_a_player_names_the_answers_and_calls_no_such_run_exact(deck: Any, play: Any) -> None:
    from tests.unit.replay.conftest import chat

    deck.add(chat("a"), json.dumps({"arguments": json.dumps({"api_key": KEY})}).encode())
    deck.add(chat("b"), b"{}")
    player = play()
    for text in "ab":
        player.play(chat(text))
    report = player.report()
    calls = [
        {
            "call": "exec#1 POST https://api.openai.com/v1/chat/completions",
            "body": ["$.arguments"],
            "headers": [],
        }
    ]
    assert (report["served"], report["exact"]) == (2, False)
    assert report["redacted"] == {"answers": 1, "heads": 0, "calls": calls}


def test_a_run_is_exact_if_every_answer_was_given_as_recorded(deck: Any, play: Any) -> None:
    from tests.unit.replay.conftest import chat

    deck.add(chat("a"), b"{}")
    deck.add(chat("b"), b"{}")
    player = play()
    player.play(chat("a"))
    assert player.report()["exact"] is False
    player.play(chat("b"))
    assert player.report()["exact"] is True
