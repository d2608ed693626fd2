"""How long a client may take over its request body."""

from __future__ import annotations

import asyncio

import pytest

from faultwire.mitm.flow.upload_watch import LEAST_RATE, UploadWatch

LIMIT_S = 0.2


class Body:
    """A body that is watched, and what becomes of it."""

    def __init__(self, *, declared: bool) -> None:
        self.held = False
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.watch = UploadWatch(LIMIT_S, declared, lambda: self.held, lambda: self.over.set_result(None))
        self.watch.start()

    async def drip(self, size: int, seconds: float) -> None:
        """Bring `size` bytes ten times within each limit, for so long or until it is cut."""
        end = asyncio.get_running_loop().time() + seconds
        while not self.over.done() and asyncio.get_running_loop().time() < end:
            self.watch.received += size
            await asyncio.wait([self.over], timeout=LIMIT_S / 10)


async def test_a_body_that_does_not_come_is_given_up() -> None:
    body = Body(declared=True)
    await asyncio.wait_for(body.over, 5)
    assert body.watch.expired == ("the request body is not whole, and no more of it came within 0.2 seconds")


async def test_a_body_of_known_length_must_come_at_a_rate_and_one_that_is_made_meanwhile_need_not() -> None:
    known, unknown = Body(declared=True), Body(declared=False)
    await asyncio.gather(known.drip(1, 5), unknown.drip(1, 8 * LIMIT_S))
    assert known.over.done()
    assert "of the request body came within" in (known.watch.expired or "")
    assert not unknown.over.done()
    unknown.watch.stop()


@pytest.mark.parametrize("declared", [True, False])
async def test_a_body_that_comes_is_never_given_up(declared: bool) -> None:
    body = Body(declared=declared)
    assert body.watch.least <= LEAST_RATE
    await body.drip(LEAST_RATE, 8 * LIMIT_S)
    assert not body.over.done()
    body.watch.stop()


async def test_no_time_runs_while_we_do_not_read_and_none_once_it_is_whole() -> None:
    held, whole, control = Body(declared=True), Body(declared=True), Body(declared=True)
    held.held = True
    whole.watch.stop()
    await asyncio.wait_for(control.over, 5)
    assert not held.over.done()
    assert not whole.over.done()
    held.held = False
    await asyncio.wait_for(held.over, 5)
