"""Who decides about what is held."""

from __future__ import annotations

import pytest
from tests.unit.mitm.breakpoints.conftest import Bench, chat

from faultwire.errors import UsageError
from faultwire.mitm.breakpoints.desk import Desk
from faultwire.mitm.compat.hooks import Pause
from faultwire.mitm.settings import DecisionSettings


def test_a_decision_ends_the_wait_at_once(bench: Bench) -> None:
    pause = bench.under_way.pause = Pause(None, None)
    next(iter(bench.start(chat(), "request").before()))
    bench.decide()
    assert pause._ended


def test_what_was_decided_is_not_decided_again(bench: Bench) -> None:
    next(iter(bench.start(chat(), "request").before()))
    ident = bench.ident
    bench.decide()
    with pytest.raises(UsageError, match=f"found nothing held as `{ident}`"):
        bench.desk.decide(DecisionSettings(held=ident), "somebody")


def test_only_what_one_breakpoint_holds_is_released(bench: Bench) -> None:
    mutator = bench.start(chat(), "request")
    next(iter(mutator.before()))
    bench.desk.release("b2", "cut", "its controller ended")
    assert len(bench.desk.listed()) == 1
    bench.desk.release("b1", "cut", "its controller ended")
    assert bench.desk.listed() == []
    assert bench.notes[-1].endswith("then cut: its controller ended")


def test_what_is_listed_shows_no_content(bench: Bench) -> None:
    next(iter(bench.start(chat(), "request").before()))
    assert "Paris" not in str(bench.desk.listed())
    assert "Paris" in str(bench.desk.look(bench.ident))
    assert isinstance(bench.desk, Desk)
