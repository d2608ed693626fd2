"""`corrupt_encoding`: packed, and cannot be unpacked."""

from __future__ import annotations

import gzip
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from faultwire.events import Send, with_header
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults._wire import no_body

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange, Response


class CorruptEncoding(Fault):
    """Deliver a body whose compression is broken.

    What it does:
        Says `content-encoding: gzip`. With `how: damaged` the body is gzip with a wrong checksum,
        with `unpacked` it was never packed, with `cut` the second half of the packed bytes is missing.

    Why agents break:
        Unpacking happens below the SDK, so its error is one that nobody lists. Some clients return what
        could be unpacked so far as if it were all.

    Real-world source:
        Caches that store packed bodies under unpacked headers, proxies that change a body without
        unpacking it.

    Example:
        faults:
          - corrupt_encoding: {how: unpacked}
            on: {kind: tool}
    """

    name: ClassVar[str] = "corrupt_encoding"
    site: ClassVar[Site] = "response"
    needs: ClassVar[Need] = Need.BODY

    how: Annotated[
        Literal["damaged", "unpacked", "cut"], Field(description="what is wrong with the packing")
    ] = "damaged"

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only a whole body is packed at once."""
        return super().inapplicable(exchange) or no_body(exchange)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the head."""
        return _Packed(self.how)


class _Packed(Mutator):
    def __init__(self, how: Literal["damaged", "unpacked", "cut"]) -> None:
        self._how = how

    def head(self, response: Response) -> Response:
        return replace(response, headers=with_header(response.headers, "content-encoding", "gzip"))

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        self.effect = f"said to be gzip: {self._how}"
        yield Send(self._made(chunk.data))

    def _made(self, body: bytes) -> bytes:
        if self._how == "unpacked":
            return body
        packed = gzip.compress(body, mtime=0)
        if self._how == "cut":
            return packed[: len(packed) // 2]
        at = len(packed) - 6  # inside of the checksum: all is unpacked, and found to be wrong at the end
        return packed[:at] + bytes((packed[at] ^ 0xFF,)) + packed[at + 1 :]
