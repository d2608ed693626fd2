"""What changes on a tape as server-sent events (WHATWG HTML §9.2): rows as they come, its state."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool

from faultwire import clock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from faultwire.workbench.subject import Subject

AT_ONCE = 1_000
"""Rows of one event."""
PACE_S = 0.03
"""Seconds at least between two events of a page: what comes meanwhile comes together."""
SILENCE_S = 10.0
"""Seconds after which a comment says that the stream is alive."""


async def stream(
    subject: Subject, after: int, *, acts: bool = True, newest: int | None = None
) -> AsyncIterator[bytes]:
    """Events from a revision on, until the other side or we leave: `rows` with the rows that changed and the
    `revision` that they reach, `tape` where its state did, and `control` where something is held or armed.
    With `newest`, `news` in place of `rows`: a page asks for what it shows, and the rest is not sent.
    A page that `acts` keeps what was set; one that only reads does not."""
    loop, changed = asyncio.get_running_loop(), asyncio.Event()
    leave = subject.index.listen(partial(_wake, loop, changed))
    state: dict[str, Any] | None = None
    controls, sent = subject.controls, -1
    if controls is not None:
        controls.page(1, acts=acts)
    try:
        while not subject.index.left:
            changed.clear()
            if after < subject.index.revision:
                name, news = await run_in_threadpool(_news, subject, after, newest)
                after = news["revision"]
                yield _event(name, news)
            now = subject.about()
            if _state(now) != state:
                state = _state(now)
                yield _event("tape", now)
            if controls is not None and controls.revision != sent:
                sent = controls.revision
                yield _event("control", controls.now)
            if after < subject.index.revision and newest is None:
                continue
            if await _silence(changed):
                yield b": alive\n\n"
    finally:
        leave()
        if controls is not None:
            controls.page(-1, acts=acts)


async def _silence(changed: asyncio.Event) -> bool:
    """Wait for a change, at least as long as the pace says; did none come for long?"""
    await clock.sleep(PACE_S)
    try:
        await asyncio.wait_for(changed.wait(), SILENCE_S)
    except TimeoutError:
        return True
    return False


def _news(subject: Subject, after: int, newest: int | None) -> tuple[str, dict[str, Any]]:
    if newest is not None:
        return "news", subject.index.news(after, newest)
    reached, rows = subject.index.since(after, AT_ONCE)
    return "rows", {"revision": reached, "rows": rows}


def _wake(loop: asyncio.AbstractEventLoop, changed: asyncio.Event) -> None:
    with suppress(RuntimeError):  # the server is ending
        loop.call_soon_threadsafe(changed.set)


def _state(about: dict[str, Any]) -> dict[str, Any]:
    return {name: about[name] for name in ("live", "problem", "notes", "sessions", "reading")}


def _event(name: str, value: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps(value)}\n\n".encode()
