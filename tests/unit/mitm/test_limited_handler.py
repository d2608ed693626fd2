"""How long a client may take, and whether one that left had said anything. No socket."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from faultwire.mitm.compat import limited_handler
from faultwire.mitm.compat.limited_handler import LimitedHandler


class Handler(LimitedHandler):
    """Without mitmproxy below: what `serve` does is what its client does."""

    def __init__(self, serve: Any, *, head_s: float = 30.0, first_s: float = 30.0) -> None:
        stats = SimpleNamespace(slow_heads=0, half_open=0)
        self.owner = SimpleNamespace(head_timeout_s=head_s, handshake_s=first_s, stats=stats)  # type: ignore[assignment]
        self.progress = self.busy = self._first_at = 0
        self.unhurried = self._spoke = False
        self._head_timer = self._first_timer = self._block_timer = None
        self.silent_s = None
        self.aborted = asyncio.Event()
        self.serve = serve

    def abort(self) -> None:
        self.aborted.set()


@pytest.fixture(autouse=True)
def _no_mitmproxy(monkeypatch: pytest.MonkeyPatch) -> None:
    async def handle_client(self: Any) -> None:
        await self.serve(self)

    monkeypatch.setattr(limited_handler.ProxyConnectionHandler, "handle_client", handle_client)


async def leaves(_handler: Any) -> None:
    await asyncio.sleep(0)


async def speaks(handler: Any) -> None:
    handler.watch_head(0)


async def waits(handler: Any) -> None:
    await asyncio.wait_for(handler.aborted.wait(), 20)


async def test_how_long_a_client_said_nothing_is_known_where_it_never_spoke() -> None:
    silent, spoke = Handler(leaves), Handler(speaks)
    await silent.handle_client()
    await spoke.handle_client()
    assert silent.silent_s is not None
    assert 0 <= silent.silent_s < 20
    assert spoke.silent_s is None


async def test_a_client_that_never_begins_is_ended_and_counted() -> None:
    handler = Handler(waits, first_s=0.02)
    await handler.handle_client()
    assert (handler.owner.stats.half_open, handler.owner.stats.slow_heads) == (1, 0)
    assert handler.silent_s is not None
    assert handler.silent_s >= 0.02


async def test_a_head_that_never_ends_is_ended_and_counted() -> None:
    async def begins(handler: Any) -> None:
        handler.watch_head(0)
        await waits(handler)

    handler = Handler(begins, head_s=0.02)
    await handler.handle_client()
    assert (handler.owner.stats.half_open, handler.owner.stats.slow_heads) == (0, 1)


async def test_a_client_whose_call_is_answered_may_take_its_time() -> None:
    async def busy(handler: Any) -> None:
        handler.busy = 1
        handler.watch_head(0)
        handler._silent()
        assert handler._head_timer is None

    handler = Handler(busy, head_s=0.0)
    await handler.handle_client()
    assert not handler.aborted.is_set()
