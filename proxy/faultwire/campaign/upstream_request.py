"""What was really sent upstream, where a fault changed a request on its way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.tape.read.reader import TapeReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from faultwire.events import History, Request

MOST = 300
"""Invocations that are looked up; reports show no more of them whole."""


def forwarded(tapes: Sequence[Path], histories: Iterable[History]) -> dict[tuple[str, int], Request]:
    """Requests that went on otherwise than the agent sent them, by session and number of the exchange:
    of the first invocations in which a fault fired."""
    wanted = [
        history.session
        for history in histories
        if any(line.outcome == "fired" for exchange in history.exchanges for line in exchange.faults)
    ][:MOST]
    found: dict[tuple[str, int], Request] = {}
    for path in tapes if wanted else ():
        with TapeReader.open(path) as tape:
            there = {session.name for session in tape.sessions()}
            for name in wanted:
                if name in there:
                    found |= tape.forwarded(name)
    return found
