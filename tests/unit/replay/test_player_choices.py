"""Which recorded exchange a player takes, and when it reports a run as exact.

Covers faultwire.replay.player and the scripts that it makes (faultwire.replay.script).
"""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest
from tests.unit.replay.conftest import call, chat, conversation
from tests.unit.replay.test_player_parts import LATER, LIVE, OTHER, RECORDED, body, message, player

from faultwire.events import Request
from faultwire.replay.answer import Answer
from faultwire.replay.explain_miss import Divergence
from faultwire.replay.script import Script
from faultwire.replay.settings import GivenAnswer, SessionAnswers

FIFTH = "e1b2c3d4-0000-4000-8000-000000000000"


def get(**query: str) -> Request:
    pairs = "&".join(f"{name}={value}" for name, value in query.items())
    return Request("GET", "https", "h.example", 443, f"/a?{pairs}", ())


def test_an_exchange_that_answered_before_answers_no_other_call() -> None:
    found = player(get(x=RECORDED))
    assert body(found.play(get(x=RECORDED))) == b"r1"
    assert isinstance(found.play(get(x=LIVE)), Divergence)
    assert body(player(get(x=RECORDED)).play(get(x=LIVE))) == b"r1", "the control"


def test_behind_one_that_answered_before_others_are_looked_at() -> None:
    found = player(get(x=RECORDED, z=OTHER), get(x=LATER, z=FIFTH))
    assert body(found.play(get(x=RECORDED, z=OTHER))) == b"r1"
    assert body(found.play(get(x=LIVE, z=OTHER))) == b"r2"


def test_a_call_that_is_made_again_is_not_answered_by_another_that_differs_in_an_id() -> None:
    found = player(get(x=OTHER), get(x=RECORDED), get(x=LATER))
    assert body(found.play(get(x=FIFTH))) == b"r1"
    assert body(found.play(get(x=RECORDED))) == b"r2"
    assert isinstance(found.play(get(x=RECORDED)), Divergence)
    assert body(found.play(get(x=LIVE))) == b"r3", "the control"


def answer(text: str, arguments: dict[str, Any] | None = None) -> bytes:
    called = {"id": "c", "type": "function", "function": {"name": "ship", "arguments": json.dumps(arguments)}}
    said = {"role": "assistant", "content": text, **({"tool_calls": [called]} if arguments else {})}
    return json.dumps({"choices": [{"index": 0, "finish_reason": "stop", "message": said}]}).encode()


@pytest.mark.parametrize(
    ("recorded", "same"),
    [
        (answer("", {"order": "10017"}), True),
        (answer("it is 10017"), False),
        (answer("", {"order": "10018"}), False),
    ],
    ids=["arguments", "a mention", "another"],
)
def test_a_number_in_a_result_is_an_id_where_arguments_repeat_it(
    recorded: bytes, same: bool, deck: Any, play: Any
) -> None:
    deck.add(conversation("ship it", "booked order 10017"), recorded)
    found = play(rebind=True).play(conversation("ship it", "booked order 20443"))
    assert isinstance(found, Answer) is same
    assert same is (b"20443" in body(found) if isinstance(found, Answer) else False)


def test_an_id_in_a_request_that_only_its_own_answer_repeats_was_brought_by_none(
    deck: Any, play: Any
) -> None:
    deck.add(call({"order": "ORD-12345678"}, "/find", "shop.example"), b'{"order": "ORD-12345678"}')
    assert play(rebind=True, live=True).play(call({"order": "ORD-90210771"}, "/find", "shop.example")) is None


# ---------------------------------------------------------------- exact or not


@pytest.mark.parametrize(
    ("asked", "reuse", "exact"),
    [
        ("ab", False, True),
        ("a", False, False),
        ("abx", False, False),
        ("aba", True, False),
        ("aa", True, False),
        ("", False, False),
    ],
    ids=["all", "one left", "one missed", "one again", "one again and one left", "nothing"],
)
def test_a_run_is_exact_where_each_exchange_answered_once(
    asked: str, reuse: bool, exact: bool, deck: Any, play: Any
) -> None:
    for letter in "ab":
        deck.add(call({"say": letter}), b'{"choices":[]}')
    found = play(reuse=reuse)
    for letter in asked:
        found.play(call({"say": letter}))
    assert found.report()["exact"] is exact


# ---------------------------------------------------------------- dialogues


def test_a_client_s_messages_are_those_that_it_sent() -> None:
    messages = (
        message("client", b"never", None, 2),
        message("client", b"lost", 1, None),
        message("client", b"", 1, 2),
        message("client", b"last", 1, 2),
        message("client", b"", 1, 2, "close"),
    )
    script = player().script(messages)
    assert [script.received(data, text=True) for data in (b"lost", b"", b"last")] == [None] * 3
    assert script.received(b"more", text=True) == "a message was not recorded", "a close is no message"


def test_a_script_is_what_the_agent_got_where_nothing_else_is_asked() -> None:
    both = (message("server", b"sent", 1, None), message("server", b"made", None, 2))
    script = Script(both, bytes, lambda sent, expected: "")
    assert [one.data for one in script.due()] == [b"made"]


def test_a_difference_shows_what_was_recorded_and_what_was_sent() -> None:
    found = player()
    found.script((message("client", b'{"a":"tea"}'),)).received(b'{"a":"coffee"}', text=True)
    shown = found.report()["misses"][0]["differences"]
    assert [str(value).strip('"') for value in shown[0].values()] == ["$.a", "tea", "coffee"]


def test_a_session_may_lack_some_exchanges_and_get_other_answers_for_some(deck: Any, play: Any) -> None:
    for name in ("a", "b", "c"):
        deck.add(chat(name), name.encode())
    given = GivenAnswer(status=429, body=b64encode(b"other"), chunks=((2, 1), (5, 2)), ending="cut")
    player = play(answers=SessionAnswers(without=(1,), given={2: given}))
    assert isinstance(player.play(chat("a")), Divergence)
    found = player.play(chat("b"))
    assert (found.status, found.ends, [data for data, _ in found.chunks]) == (429, "cut", [b"ot", b"her"])
    assert [data for data, _ in player.play(chat("c")).chunks] == [b"c"]
    report = player.report()
    assert (report["recorded"], report["missed"], report["left"], report["exact"]) == (2, 1, 0, False)
