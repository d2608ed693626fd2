"""The lineage of one exchange as the page shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.workbench.conftest import Deck, answered, asked, deck_at

from faultwire.errors import TapeIncomplete
from faultwire.workbench import lineage_view as tested
from faultwire.workbench.lineage_view import lineage_view
from faultwire.workbench.subject import Subject

BROUGHT = "the parcel QX-7731-PLM waits in Rotterdam"


@pytest.fixture
def deck(tmp_path: Path) -> Deck:
    """An answer whose words the next request repeats, one that has nothing to do with it, and a third that
    repeats the first's."""
    made = deck_at(tmp_path / "t.tape")
    made.exchange(asked("where is it?"), answered(BROUGHT))
    made.exchange(asked(f"write a letter: {BROUGHT}"), answered("a letter"))
    made.exchange(asked("what is the time?"), answered("noon"))
    return made


def view_of(deck: Deck, at: int) -> dict:
    subject = Subject(deck.close())
    subject.index.start()
    assert subject.index.wait(20)
    try:
        return subject.lineage(at)
    finally:
        subject.index.close()


def test_an_edge_stands_at_both_of_its_ends(deck: Deck) -> None:
    source, target = view_of(deck, 0), view_of(deck, 1)
    assert [(one["from"], one["to"]) for one in source["out"]] == [(1, 2)]
    assert source["out"] == target["into"]
    assert "QX-7731-PLM" in source["out"][0]["text"]
    assert (source["into"], target["out"]) == ([], [])
    assert (source["reached"], target["reached"]) == ([2], [])


def test_what_repeats_nothing_has_no_edges(deck: Deck) -> None:
    assert view_of(deck, 2) == {
        "into": [], "out": [], "into_not_shown": 0, "out_not_shown": 0, "reached": [], "unread": None,
        "not_traced": 0,
    }  # fmt: skip


def test_of_other_sessions_nothing_is_said(deck: Deck) -> None:
    deck.exchange(asked(BROUGHT), session="other")
    assert [one["to"] for one in view_of(deck, 0)["out"]] == [2]


def test_without_such_an_exchange_the_tape_is_called_incomplete(deck: Deck) -> None:
    with pytest.raises(TapeIncomplete, match="no exchange at place 3"):
        view_of(deck, 3)


def test_what_is_left_out_is_counted(deck: Deck, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tested, "LONGEST", 2)
    monkeypatch.setattr(tested, "EDGES", 0)
    subject = Subject(deck.close())
    subject.index.start()
    assert subject.index.wait(20)
    found = lineage_view(subject.index.recorded, 1)
    subject.index.close()
    assert (found["not_traced"], found["out"], found["out_not_shown"]) == (1, [], 1)


def test_a_secret_in_pieces_and_a_control_character_do_not_reach_the_page(tmp_path: Path) -> None:
    deck = deck_at(tmp_path / "t.tape")
    deck.exchange(asked("a"), answered("say QX-7731-PLM \x1b[31m now and then"))
    deck.exchange(asked("QX-7731-PLM \x1b[31m now and then"))
    found = view_of(deck, 0)["out"]
    assert found
    assert not any("\x1b" in one["text"] for one in found)


def test_a_turn_that_is_repeated_stands_at_each_exchange_that_repeats_it(tmp_path: Path) -> None:
    deck = deck_at(tmp_path / "t.tape")
    turns = [{"role": "user", "content": "where is it?"}, {"role": "assistant", "content": BROUGHT}]
    deck.exchange(asked("where is it?"), answered(BROUGHT))
    deck.exchange(asked("", messages=[*turns, {"role": "user", "content": "and when?"}]), answered("at noon"))
    later = [*turns, {"role": "user", "content": "and when?"}, {"role": "assistant", "content": "at noon"}]
    deck.exchange(asked("", messages=[*later, {"role": "user", "content": "thanks"}]))
    found = [(one["kind"], one["from"], one["to"]) for one in view_of(deck, 2)["into"]]
    assert ("history", 1, 2) in found
