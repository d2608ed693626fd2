"""How long a server may say nothing."""

from __future__ import annotations

import asyncio

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
