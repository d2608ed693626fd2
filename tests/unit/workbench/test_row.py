from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from tests.unit.report.hostile import EVERY, STEERING
from tests.unit.workbench.conftest import Deck, answered, asked

from faultwire.tape.read.reader import TapeReader
from faultwire.workbench.row import content, row


def recorded(path: Path) -> list:
    with TapeReader.open(path) as reader:
        return list(reader.exchanges())


def test_what_the_events_say(tape: Path) -> None:
    first, *_, cut = [row(one, at) for at, one in enumerate(recorded(tape))]
    assert (first["number"], first["status"], first["ending"], first["fired"]) == (1, 200, "complete", [])
    assert (cut["at"], cut["ending"], cut["fired"], cut["read"]) == (3, "cut", ["cut"], False)


def test_what_the_bodies_say(tape: Path) -> None:
    one = recorded(tape)[0]
    found = content(one).found
    assert (found["model"], found["gist"], found["tokens_in"], found["tokens_out"]) == (
        "gpt-4o-mini",
        "391",
        7,
        3,
    )
    assert Decimal(found["cost_usd"]) > 0
    assert not found["cost_unknown"]


def test_retries_share_a_call_and_other_calls_do_not(tape: Path) -> None:
    calls = [content(one).found["call"] for one in recorded(tape)]
    assert calls[1] == calls[2]
    assert len(set(calls)) == 3


def test_an_answer_without_a_price_is_unknown_and_an_error_is_not(deck: Deck) -> None:
    deck.exchange(asked(), b'{"choices":[{"index":0,"message":{"role":"assistant","content":"x"}}]}')
    deck.exchange(asked(), b'{"error":{"message":"busy"}}', status=503)
    found = [content(one).found for one in recorded(deck.close())]
    assert [one["cost_unknown"] for one in found] == [True, False]


def test_a_call_that_is_no_conversation_says_no_more_than_its_name(deck: Deck) -> None:
    deck.exchange(path="/x")
    one = replace(recorded(deck.close())[0], protocol=None)
    assert set(content(one).found) == {"read", "call"}


def test_hostile_text_is_inert_in_a_row(deck: Deck) -> None:
    for text in EVERY:
        deck.exchange(asked(text), answered(text))
    for at, one in enumerate(recorded(deck.close())):
        texts = str({**row(one, at), **content(one).found}.values())
        assert not set(texts) & STEERING
