"""`truncate_body`: half of the answer is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from faultwire.events import Cut, Send
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults._wire import no_body

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Chunk, Exchange


class TruncateBody(Fault):
    """Deliver only the beginning of a body.

    What it does:
        Keeps `fraction` of the body, or its first `bytes`. With `content_length: fixed` the message is
        whole for HTTP and just shorter; with `kept` the head still promises all of it, and the
        connection is closed when the promise cannot be kept. For streams there is `cut_stream`.

    Why agents break:
        With a fixed length the error comes from the JSON parser, far from the network; with a kept one
        some clients report an incomplete read, and some return what they have.

    Real-world source:
        Limits on the size of answers in gateways, full disks behind a cache, killed workers.

    Example:
        faults:
          - truncate_body: {fraction: 0.5}
            on: {kind: tool}
    """

    name: ClassVar[str] = "truncate_body"
    site: ClassVar[Site] = "response"
    needs: ClassVar[Need] = Need.BODY

    fraction: Annotated[float | None, Field(ge=0, lt=1, description="how much is kept")] = None
    bytes: Annotated[int | None, Field(ge=0, le=1_000_000_000, description="or: how many bytes are kept")] = (
        None
    )
    content_length: Annotated[
        Literal["fixed", "kept"], Field(description="whether the head tells the new length or the old")
    ] = "fixed"

    @model_validator(mode="after")
    def _one_measure(self) -> Self:
        if (self.fraction is None) == (self.bytes is None):
            found = "neither" if self.bytes is None else "both"
            raise ValueError(f"found {found} of `fraction` and `bytes`, expected one")
        return self

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only a whole body has a fraction."""
        return super().inapplicable(exchange) or no_body(exchange)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before the body."""
        return _Short(self)


class _Short(Mutator):
    def __init__(self, settings: TruncateBody) -> None:
        self._settings = settings

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        length = len(chunk.data)
        limit = self._settings.bytes
        kept = limit if limit is not None else int(length * (self._settings.fraction or 0.0))
        yield Send(chunk.data[:kept])
        if kept < length:
            self.effect = f"{kept} of {length} bytes delivered"
            if self._settings.content_length == "kept":
                yield Cut(clean=False)
