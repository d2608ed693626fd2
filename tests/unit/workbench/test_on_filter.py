from pathlib import Path

import pytest
from tests.unit.workbench.conftest import Deck, asked

from faultwire.errors import ProfileError
from faultwire.tape.read.reader import TapeReader
from faultwire.workbench.on_filter import LONGEST, matches, matching, parse


def found(path: Path, text: str) -> list[int]:
    with TapeReader.open(path) as reader:
        exchanges = list(enumerate(reader.exchanges()))
        on = parse(text)
        assert on is not None
        return [at + 1 for at in matching(on, exchanges)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kind: llm", [1, 2, 3, 4]),
        ("kind: tool", []),
        ("status: 503", [2]),
        ("status: [503, 200]", [1, 2, 3, 4]),
        ("stream: true", [4]),
        ("model: gpt-4o*", [1, 2, 3, 4]),
        ("model: claude*", []),
        ("text: again", [2, 3]),
        ("host: api.openai.com, status: 200", [1, 3, 4]),
        ("{session: s}", [1, 2, 3, 4]),
        ("session: other", []),
        ("body: {$.model: gpt-4o-mini}", [1, 2, 3, 4]),
        ("turn: 2", []),
    ],
)
def test_each_word_means_what_it_means_in_a_profile(tape: Path, text: str, expected: list[int]) -> None:
    assert found(tape, text) == expected


def test_other_traffic_can_be_looked_for(deck: Deck) -> None:
    deck.exchange(b"{}", path="/elsewhere")
    path = deck.close()
    with TapeReader.open(path) as reader:
        (one,) = reader.exchanges()
        on = parse("status: 200")
        assert on is not None
        assert matches(on, one)


@pytest.mark.parametrize(
    "text", ["colour: red", "status: many", "kind: [", "kind: llm, kind: tool", "- a", "x" * 3000]
)
def test_what_is_no_filter_is_named(text: str) -> None:
    with pytest.raises(ProfileError):
        parse(text)


def test_an_empty_one_is_none_and_a_long_one_is_refused() -> None:
    assert parse("  ") is None
    with pytest.raises(ProfileError, match=str(LONGEST)):
        parse("text: " + "x" * LONGEST)


def test_a_body_that_is_no_conversation_does_not_match_a_word_about_one(deck: Deck) -> None:
    deck.exchange(b"\xff not json")
    deck.exchange(asked("hello"))
    assert found(deck.close(), "text: hello") == [2]


def test_a_call_without_an_answer_matches_no_status(deck: Deck) -> None:
    deck.begin()
    path = deck.close()
    assert found(path, "kind: llm") == [1]
    assert found(path, "status: [200, 503]") == []
