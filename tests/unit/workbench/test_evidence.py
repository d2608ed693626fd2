"""Exchanges of another tape."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.workbench.conftest import Deck, answered, asked

from faultwire.errors import TapeIncomplete
from faultwire.workbench import evidence as tested
from faultwire.workbench.evidence import exchanges_of, view_of


def test_the_exchanges_of_a_session_and_of_all(tape: Path) -> None:
    found = exchanges_of(tape, "s")
    assert [row["number"] for row in found["rows"]] == [1, 2, 3, 4]
    assert found["rows"][0]["gist"] == "391"
    assert found["rows"][3]["fired"] == ["cut"]
    assert exchanges_of(tape, None) == found
    assert found["more"] is False


def test_of_a_session_that_is_not_there_nothing_is_said(tape: Path) -> None:
    with pytest.raises(TapeIncomplete, match="no session `other`"):
        exchanges_of(tape, "other")
    with pytest.raises(TapeIncomplete):
        view_of(tape, "s", 99)


def test_that_there_are_more_than_are_listed_is_known(tape: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tested, "SHOWN", 2)
    found = exchanges_of(tape, None)
    assert (len(found["rows"]), found["more"]) == (2, True)


def test_one_is_shown_as_in_the_list_and_escaped(deck: Deck) -> None:
    deck.exchange(asked("<img src=x>"), answered("<script>alert(1)</script>"))
    text = str(view_of(deck.close(), "s", 1))
    assert "&lt;img" in text
    assert "<script" not in text
    assert 'data-part="conversation"' in text or "data-part=conversation" in text
