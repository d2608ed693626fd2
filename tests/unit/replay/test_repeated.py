"""What a tape knows of a value: which answer brought it, and what repeats it."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from tests.unit.replay.conftest import call, chat

from faultwire.replay.answer import Answer
from faultwire.replay.reader import index
from faultwire.replay.repeated import AHEAD, Repeated
from faultwire.tape.read.reader import TapeReader

OLD, NEW = "ORD-12345678", "ORD-90210771"


def order(note: str) -> Any:
    return call({"note": note}, "/orders", "shop.example")


def look_up(value: str) -> Any:
    return call({"order": value}, "/find", "shop.example")


def record(deck: Any) -> None:
    deck.add(order("tea"), json.dumps({"id": OLD}).encode())
    deck.add(look_up(OLD), json.dumps({"order": OLD, "status": "open"}).encode())


def test_an_id_that_another_answer_brought_in_its_place_is_rebound(deck: Any, play: Any) -> None:
    record(deck)
    player = play(rebind=True, live=True)
    assert player.play(order("coffee"), 1) is None  # its server answers, with an order of its own
    found = player.play(look_up(NEW), 2)
    assert isinstance(found, Answer)
    assert NEW.encode() in b"".join(data for data, _ in found.chunks)
    assert player.report()["rebound"] == 1


def test_another_id_than_the_one_that_was_given_is_not_rebound(deck: Any, play: Any) -> None:
    record(deck)
    player = play(rebind=True, live=True)
    assert isinstance(player.play(order("tea"), 1), Answer)
    assert player.play(look_up(NEW), 2) is None


def test_an_id_that_no_answer_brought_is_not_rebound(deck: Any, play: Any) -> None:
    deck.add(order("tea"), b'{"id": "another"}')
    deck.add(look_up(OLD), b"{}")
    player = play(rebind=True, live=True)
    assert player.play(order("coffee"), 1) is None
    assert player.play(look_up(NEW), 2) is None


def says(text: str, arguments: str | None = None) -> bytes:
    called = [{"id": "c", "type": "function", "function": {"name": "ship", "arguments": arguments}}]
    message = {"role": "assistant", "content": text, **({"tool_calls": called} if arguments else {})}
    return json.dumps({"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}).encode()


@pytest.mark.parametrize(
    ("later", "mentioned", "used"),
    [
        ([], False, False),
        ([(chat("b"), says(f"it is {OLD}"))], True, False),
        ([(chat("b"), says("", json.dumps({"order": OLD})))], True, True),
        ([(look_up(OLD), b"{}")], True, True),
        ([(order("x"), json.dumps({"id": OLD}).encode())], True, False),
        ([(chat(OLD), says("fine"))], False, False),
        ([(chat("b"), says(f"it is {OLD}9"))], False, False),
    ],
    ids=["nothing", "a mention", "arguments", "a request", "another answer", "history", "a longer value"],
)
def test_what_repeats_a_value(later: Any, mentioned: bool, used: bool, deck: Any) -> None:
    deck.add(chat("a"), says("hello"))
    for request, answer in later:
        deck.add(request, answer)
    with TapeReader.open(deck.close()) as reader:
        found = index(reader)
        known = Repeated(found)
        assert known.after(found.entries[0], OLD, by_name=False) is mentioned
        assert known.after(found.entries[0], OLD, by_name=True) is used


def test_a_packed_answer_is_read_and_one_far_ahead_is_not(deck: Any) -> None:
    packed = gzip.compress(json.dumps({"id": OLD}).encode())
    deck.add(chat("a"), says(""))
    for number in range(AHEAD - 2):
        deck.add(chat(f"{number}"), says(""))
    headers = (("content-type", "application/json"), ("content-encoding", "gzip"))
    deck.add(order("x"), packed, headers=headers)
    deck.add(order("y"), json.dumps({"id": NEW}).encode())
    with TapeReader.open(deck.close()) as reader:
        found = index(reader)
        known = Repeated(found)
        assert known.after(found.entries[0], OLD, by_name=False)
        assert not known.after(found.entries[0], NEW, by_name=False)
        assert known.after(found.entries[1], NEW, by_name=False)
