"""`stale_response`: an earlier answer again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from faultwire.events import Send, header, with_header
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults._wire import is_stream

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange, Response

KEPT = 64
"""Answers that are remembered, at most."""
MOST = 4_000_000
"""Bytes of an answer that is remembered, at most."""


class StaleResponse(Fault):
    """Give an answer that was given before.

    What it does:
        Repeats, without calling upstream, the last successful answer of this session: to the same
        request (`to: same_request`), or to any request to the same address (`same_address`, the
        default). Where there is none yet, the call is made and its answer remembered.

    Why agents break:
        The answer is well-formed and wrong: yesterday's price, the previous customer's order, a file
        that was changed since. Agents that check whether their own change arrived change it again.

    Real-world source:
        Caches that ignore the query or the user, replicas that lag behind, CDNs.

    Example:
        faults:
          - stale_response:
            on: {tool: get_order}
            trigger: {after_calls: 1}
    """

    name: ClassVar[str] = "stale_response"
    site: ClassVar[Site] = "response"
    needs: ClassVar[Need] = Need.BODY

    to: Annotated[
        Literal["same_address", "same_request"], Field(description="whose answer is given again")
    ] = "same_address"

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Look for an earlier answer."""
        return _Stale(self._key(exchange), exchange, repeat=exchange.response is None)

    def watch(self, exchange: Exchange) -> Mutator:
        """Remember the answer."""
        return _Stale(self._key(exchange), exchange, repeat=False)

    def _key(self, exchange: Exchange) -> str:
        request = exchange.request
        address = f"{request.method} {request.scheme}://{request.host}:{request.port}"
        return exchange.key if self.to == "same_request" else address + request.path.partition("?")[0]


class _Stale(Mutator):
    def __init__(self, key: str, exchange: Exchange, *, repeat: bool) -> None:
        self._key = key
        self._exchange = exchange
        self._streams = exchange.view is not None and exchange.view.stream
        self._repeat = repeat
        self._head: Response | None = None
        self._body: list[bytes] = []

    def answer(self) -> Response | None:
        remembered: Response | None = self.memory.get(self._key) if self._repeat else None
        if remembered is None or is_stream(self._exchange, remembered) != self._streams:
            return None
        self.effect = "an earlier answer given again"
        return remembered

    def head(self, response: Response) -> Response:
        if response.status < 300 and header(response.headers, "set-cookie") is None:
            self._head = response
        return response

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        if self._head is not None:
            self._body.append(chunk.data)
        yield Send(chunk.data)

    def finish(self) -> Iterable[Action]:
        body = b"".join(self._body)
        if self._head is not None and len(body) <= MOST:
            self.memory.pop(self._key, None)
            headers = with_header(self._head.headers, "transfer-encoding", None)
            headers = with_header(headers, "content-length", str(len(body)))
            self.memory[self._key] = replace(self._head, headers=headers, body=body)
            while len(self.memory) > KEPT:
                del self.memory[next(iter(self.memory))]
        return ()
