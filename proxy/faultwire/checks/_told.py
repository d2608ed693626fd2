"""What the exchanges of a history say, read once for all checks of the same history."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire import wire

if TYPE_CHECKING:
    from faultwire.events import History, Recorded, Usage
    from faultwire.wire import Told

_KEPT = 256
"""Exchanges whose reading is kept: all invariants judge one history after the other."""
_LIGHT = 1 << 18
"""Bytes of an exchange's bodies; what is heavier is read anew, so that memory stays bounded."""


class _Kept:
    """Readings by the identity of what was read; the exchange is held, so that no other gets its id."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[int, tuple[Recorded, Told | None]] = OrderedDict()

    def get(self, exchange: Recorded) -> tuple[Recorded, Told | None] | None:
        with self._lock:
            found = self._known.get(id(exchange))
            return found if found is not None and found[0] is exchange else None

    def put(self, exchange: Recorded, told: Told | None) -> None:
        with self._lock:
            self._known[id(exchange)] = (exchange, told)
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)


_KEEPER = _Kept()


def told(exchange: Recorded) -> Told | None:
    """What an exchange with a model says; None for one that is none."""
    if exchange.kind != "llm" or exchange.protocol is None:
        return None
    kept = _KEEPER.get(exchange)
    if kept is not None:
        return kept[1]
    found = wire.conversation(exchange)
    if _size(exchange) <= _LIGHT:
        _KEEPER.put(exchange, found)
    return found


def models(history: History) -> tuple[tuple[Recorded, Told], ...]:
    """The exchanges with models that can be read, in order."""
    pairs = ((exchange, told(exchange)) for exchange in history.exchanges)
    return tuple((exchange, said) for exchange, said in pairs if said is not None)


def charged(exchange: Recorded) -> Usage | None:
    """The tokens that the provider counted, whatever a fault left of its answer."""
    said = told(exchange)
    if exchange.upstream is not exchange.delivered and exchange.upstream != exchange.delivered:
        said = told(replace(exchange, delivered=exchange.upstream))
    return said.answer.usage if said is not None and said.answer is not None else None


def texts(exchange: Recorded) -> str:
    """The body of a request as text, whatever it is; bytes that are none are replaced."""
    return (exchange.request.body or b"").decode("utf-8", "replace")


def place(exchange: Recorded) -> str:
    """Host and path without the query, for explanations."""
    return f"{exchange.request.host}{exchange.request.path.split('?', 1)[0]}"


def _size(exchange: Recorded) -> int:
    delivered = exchange.delivered
    return len(exchange.request.body or b"") + (len(delivered.body) if delivered is not None else 0)
