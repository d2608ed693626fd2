"""Full collections wait for a quiet moment, but not for ever."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator

import pytest

from faultwire.mitm.engine.garbage_collection import MUCH, NEVER, QUIET, SOME, YOUNG, PacedCollector, is_due


class Node:
    """Something that can be part of a cycle."""

    def __init__(self) -> None:
        self.me = self


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("middle", "live", "due"),
    [
        (0, 0, False),
        (SOME - 1, 0, False),
        (SOME, 0, True),
        (SOME, QUIET, True),
        (SOME, QUIET + 1, False),
        (MUCH - 1, QUIET + 1, False),
        (MUCH, 1000, True),
    ],
)
def test_it_is_due_when_it_is_quiet_or_has_waited_long(middle: int, live: int, due: bool) -> None:
    assert is_due(middle, live) is due


def test_pythons_own_settings_come_back(loop: asyncio.AbstractEventLoop) -> None:
    before = gc.get_threshold()
    collector = PacedCollector(lambda: 0)
    collector.start(loop)
    assert gc.get_threshold()[::2] == (YOUNG, NEVER)
    assert gc.get_freeze_count() > 0
    collector.stop()
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


@pytest.mark.parametrize(("live", "kept"), [(0, False), (QUIET + 1, True)])
def test_old_cycles_go_in_a_quiet_moment(loop: asyncio.AbstractEventLoop, live: int, kept: bool) -> None:
    collector = PacedCollector(lambda: live)
    collector.start(loop)
    try:
        node = Node()
        for _ in range(SOME + 1):
            gc.collect(1)  # it outlives these, as a connection does
        gone = weakref.ref(node)
        del node
        gc.collect(1)
        assert gone() is not None
        collector._look(loop)
        assert (gone() is not None) is kept
    finally:
        collector.stop()
        gc.collect()


def test_it_looks_again_and_again(loop: asyncio.AbstractEventLoop) -> None:
    looks = 0

    def live() -> int:
        nonlocal looks
        looks += 1
        if looks == 3:
            loop.stop()
        return 0

    collector = PacedCollector(live, every_s=0.0)
    collector.start(loop)
    try:
        loop.run_forever()
    finally:
        collector.stop()
    assert looks >= 3
