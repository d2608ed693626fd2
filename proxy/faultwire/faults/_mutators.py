"""Mutators that several faults share."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire.events import Send
from faultwire.faults._api import Mutator
from faultwire.wire.framing.grpc_status import parted, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from faultwire.events import Action, Chunk, Headers, Response


class Answered(Mutator):
    """Gives an answer without calling upstream."""

    def __init__(self, answer: Response, effect: str | None = None) -> None:
        self._answer = answer
        self._effect = effect or f"answered {shown(answer)}"

    def answer(self) -> Response:
        """The answer, body included."""
        self.effect = self._effect
        return self._answer


class Replaced(Mutator):
    """Upstream is called, heard to the end, and not believed."""

    replaces = True

    def __init__(self, answer: Response, effect: str | None = None) -> None:
        self._answer, self._trailers = parted(answer)
        self._shown = shown(answer)
        self._effect = effect

    def head(self, response: Response) -> Response:
        """The made-up head."""
        effect = f"answered {self._shown} where upstream sent {response.status}"
        self.effect = self._effect or effect
        return replace(self._answer, body=None)

    def trailers(self, headers: Headers) -> Headers:
        """The made-up trailers, in a protocol that tells its errors in them."""
        return self._trailers

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        """Nothing of what upstream says."""
        return ()

    def finish(self) -> Iterable[Action]:
        """The made-up body."""
        yield Send(self._answer.body or b"")


class BodyEdit(Mutator):
    """Edits a whole body; a stream and its rest pass unchanged."""

    def __init__(self, edit: Callable[[bytes], bytes], effect: str) -> None:
        self._edit = edit
        self._effect = effect

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        """The edited body."""
        data = self._edit(chunk.data) if chunk.unit == "body" else chunk.data
        if data != chunk.data:
            self.effect = self._effect
        yield Send(data)
