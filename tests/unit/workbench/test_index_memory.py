"""However long a tape grows, the workbench's memory stays what it is."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from tests.unit.workbench.conftest import Deck, deck_at

from faultwire.workbench import index as tested, paged
from faultwire.workbench.index import TapeIndex
from faultwire.workbench.paged import Rows

EXCHANGES, PORTION = 20_000, 4_000
PER_EXCHANGE = 150
"""Bytes: some 50 of `places`, and the room by which arrays grow ahead of need."""
ROOM = 1_500_000
"""Bytes by which caches that are bounded may differ between two looks."""


def growth(folder: Path, exchanges: int, portion: int) -> tuple[int, int]:
    """Bytes by which an index grew from when its windows were full to the end; exchanges in between."""
    deck: Deck = deck_at(folder / "long.tape")
    tracemalloc.start()
    index = TapeIndex(deck.path)
    try:
        full = 0
        for done in range(portion, exchanges + 1, portion):
            deck.many(portion)
            follow(index, done)
            if done == portion:
                full = held()
        assert index.totals.exchanges == exchanges
        return held() - full, exchanges - portion
    finally:
        tracemalloc.stop()
        index._follower.close()
        index._tape.close()
        deck.writer.close()


def follow(index: TapeIndex, count: int) -> None:
    """Have it read on, in this thread: nothing depends on when it is scheduled."""
    while index.totals.read < count:
        index._look()
        while index._read_bodies():
            pass


def held() -> int:
    """Bytes that live, of what the rooms of the reader and the workbench have made."""
    import gc

    gc.collect()
    found = tracemalloc.take_snapshot().filter_traces(
        [
            tracemalloc.Filter(True, f"*/faultwire/{room}/*")
            for room in ("workbench", "tape/read", "exchange", "wire")
        ]
    )
    return sum(one.size for one in found.statistics("filename"))


@pytest.mark.nightly
def test_over_twenty_thousand_exchanges_memory_stays(tmp_path: Path) -> None:
    grown, between = growth(tmp_path, EXCHANGES, PORTION)
    assert grown < PER_EXCHANGE * between + ROOM, f"{grown / between:.0f} bytes an exchange"


def test_windows_are_full_early_and_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch)
    grown, between = growth(tmp_path, 1_200, 300)
    assert grown < PER_EXCHANGE * between + 60_000, f"{grown / between:.0f} bytes an exchange"


def test_control_rows_without_a_bound_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch)
    monkeypatch.setattr(paged, "KEPT", 10**9)
    grown, between = growth(tmp_path, 1_200, 300)
    assert grown > 3 * (PER_EXCHANGE * between + 60_000)


def test_control_a_numbering_that_forgets_nothing_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(monkeypatch)
    monkeypatch.setattr(tested, "settled", lambda recorded: recorded)
    grown, between = growth(tmp_path, 1_200, 300)
    assert grown > 3 * (PER_EXCHANGE * between + 60_000)


def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows that a short tape fills."""
    monkeypatch.setattr(paged, "KEPT", 100)
    for module in (
        "faultwire.exchange.session_state",
        "faultwire.workbench.places",
        "faultwire.workbench.index",
    ):
        monkeypatch.setattr(f"{module}.KEPT", 100)
    assert Rows.keep.__globals__["KEPT"] == 100
