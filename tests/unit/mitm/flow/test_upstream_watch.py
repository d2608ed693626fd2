"""How long a server may say nothing."""

from __future__ import annotations

import asyncio
from typing import Any

from faultwire.mitm.flow.upstream_watch import UpstreamWatch


def watch(first: float = 0.05, idle: float = 0.05) -> tuple[UpstreamWatch, asyncio.Future[str], list[bool]]:
    over: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    held = [False]
    return UpstreamWatch(first, idle, lambda: held[0], over.set_result), over, held


async def test_no_response_in_time() -> None:
    made, over, _ = watch()
    made.start()
    assert await asyncio.wait_for(over, 5) == "it sent no response within 0.05 seconds"
    assert made.expired is not None


async def test_nothing_more_in_time() -> None:
    made, over, _ = watch(first=0.02, idle=0.2)
    made.start()
    made.note_data()
    assert await asyncio.wait_for(over, 5) == "it said nothing more within 0.2 seconds"


async def test_no_time_runs_while_a_fault_holds_it_or_once_it_is_over() -> None:
    made, over, held = watch()
    held[0] = True
    made.start()
    stopped, never, _ = watch()
    stopped.start()
    stopped.stop()
    other, control, _ = watch(first=0.3)
    other.start()
    await asyncio.wait_for(control, 5)
    assert not over.done()
    assert not never.done()
    held[0] = False
    await asyncio.wait_for(over, 5)


async def test_watches_of_a_loop_share_one_timer_and_each_has_its_own_time() -> None:
    """Whichever of them is due first, and whatever is stopped or fails to hold in between."""
    loop = asyncio.get_running_loop()
    made: asyncio.Queue[str] = asyncio.Queue()
    timers: list[float] = []
    call_at = loop.call_at

    def counted(when: float, callback: Any, *rest: Any, **more: Any) -> asyncio.TimerHandle:
        if getattr(callback, "__name__", "") == "_look":
            timers.append(when)
        return call_at(when, callback, *rest, **more)

    loop.call_at = counted  # type: ignore[method-assign, assignment]
    watches = [UpstreamWatch(at, 5, lambda: False, made.put_nowait) for at in (600, 0.12, 0.04, 0.08)]
    for one in watches:
        one.start()
    assert len(timers) == 3, "the last is due after the timer's instant"
    watches[3].stop()
    for _ in range(100):
        passing = UpstreamWatch(600, 5, lambda: False, made.put_nowait)
        passing.start()
        passing.stop()
    assert len(timers) == 3, "an exchange that is over in time sets none"
    expired = [await asyncio.wait_for(made.get(), 5) for _ in range(2)]
    assert [text.split()[-2] for text in expired] == ["0.04", "0.12"]
    assert made.empty()
    watches[0].stop()
