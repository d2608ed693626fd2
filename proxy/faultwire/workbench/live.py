"""What changes on a tape as server-sent events (WHATWG HTML §9.2): rows as they come, its state."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool

from faultwire import clock
from faultwire.workbench.searches import LOOK_S

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from faultwire.workbench.searches import Searches
    from faultwire.workbench.subject import Subject

AT_ONCE = 1_000
"""Rows of one event."""
PACE_S, BUSY_PACE_S = 0.03, 0.1
"""Seconds at least between two events, and where more comes than somebody reads: what comes meanwhile comes
together."""
SILENCE_S = 10.0
"""Seconds after which a comment says that the stream is alive."""


async def stream(
    subject: Subject,
    after: int,
    *,
    acts: bool = True,
    newest: int | None = None,
    searches: Searches | None = None,
) -> AsyncIterator[bytes]:
    """Events from a revision on, until the other side or we leave: `rows` with the rows that changed and the
    `revision` that they reach, `tape` where its state did, `control` where something is held or armed, and
    `searches` where one in another terminal has come further.
    With `newest`, `news` in place of `rows`: a page asks for what it shows, and the rest is not sent.
    A page that `acts` keeps what was set; one that only reads does not."""
    loop, changed = asyncio.get_running_loop(), asyncio.Event()
    leave = subject.index.listen(partial(_wake, loop, changed))
    sent: dict[str, Any] = {"searches": []}
    controls, last_event_s = subject.controls, clock.monotonic()
    if controls is not None:
        controls.page(1, acts=acts)
    try:
        while not subject.index.left:
            changed.clear()
            made = []
            if after < subject.index.revision:
                name, news = await run_in_threadpool(_news, subject, after, newest)
                after = news["revision"]
                made.append(_event(name, news))
            made += await _states(subject, searches, sent)
            if not made and clock.monotonic() - last_event_s >= SILENCE_S:
                made.append(b": alive\n\n")
            for event in made:
                last_event_s = clock.monotonic()
                yield event
            if after >= subject.index.revision or newest is not None:
                await _wait(changed, BUSY_PACE_S if subject.index.busy else PACE_S)
    finally:
        leave()
        if controls is not None:
            controls.page(-1, acts=acts)


async def _states(subject: Subject, searches: Searches | None, sent: dict[str, Any]) -> list[bytes]:
    """Events of what is otherwise than it was `sent` last."""
    about = subject.about()
    now: dict[str, tuple[Any, Any]] = {"tape": (_state(about), about)}
    if subject.controls is not None:
        now["control"] = (subject.controls.revision, subject.controls.now)
    if searches is not None:
        found = await run_in_threadpool(searches.look)
        now["searches"] = (found, {"searches": found})
    changed = [name for name, (state, _) in now.items() if sent.get(name) != state]
    sent |= {name: now[name][0] for name in changed}
    return [_event(name, now[name][1]) for name in changed]


async def _wait(changed: asyncio.Event, pace_s: float) -> None:
    """Until something changes, at least as long as the pace says, and not for long: searches tell nobody."""
    await clock.sleep(pace_s)
    with suppress(TimeoutError):
        await asyncio.wait_for(changed.wait(), min(LOOK_S, SILENCE_S))


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
