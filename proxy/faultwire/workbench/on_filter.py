"""A filter over exchanges in the words of `on:`, as profiles use them: `kind: llm, status: [429, 503]`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.errors import ProfileError, TapeError, WireError
from faultwire.events import Exchange, Response
from faultwire.profile.entry_model import On
from faultwire.profile.match import mismatch, response_mismatch
from faultwire.profile.problems import Problems
from faultwire.profile.yaml import read

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Recorded, RequestView

PATH = "<filter>"
LONGEST = 2_000
_READS_THE_BODY = ("model", "stream", "turn", "text", "body")


def parse(text: str) -> On | None:
    """The filter, None for an empty one. Raises ProfileError, which says what was expected."""
    words = text.strip()
    if not words:
        return None
    if len(words) > LONGEST:
        raise ProfileError(f"found a filter of {len(words)} characters, expected at most {LONGEST}")
    root = read(words if words.startswith("{") else f"{{{words}}}", PATH)
    problems = Problems(PATH, ProfileError)
    found = problems.build(On, root, "on")
    problems.settle()
    return found if isinstance(found, On) else None


def matches(on: On, recorded: Recorded) -> bool:
    """Does an exchange match? A word on the response matches only what the agent got.

    Without `kind` or a place, exchanges of kind `other` match nothing in a profile; in a list they are what
    somebody may look for, so here they do.
    """
    if on.kind is None and not on.named and recorded.kind == "other":
        on = on.model_copy(update={"kind": "other"})
    exchange = _exchange(recorded, needs_view=any(getattr(on, key) is not None for key in _READS_THE_BODY))
    if on.status is not None and exchange.response is None:
        return False
    return mismatch(on, exchange) is None and response_mismatch(on, exchange) is None


def matching(on: On, exchanges: Iterable[tuple[int, Recorded]]) -> list[int]:
    """The places of those that match; one whose body cannot be read does not."""
    found = []
    for at, recorded in exchanges:
        try:
            if matches(on, recorded):
                found.append(at)
        except TapeError:
            continue
    return found


def _exchange(recorded: Recorded, *, needs_view: bool) -> Exchange:
    got = recorded.delivered
    return Exchange(
        session=recorded.session,
        number=recorded.number,
        request=recorded.request,
        kind=recorded.kind,
        protocol=recorded.protocol,
        provider=recorded.provider,
        tool=recorded.tool,
        view=_view(recorded) if needs_view else None,
        response=None if got is None else Response(got.status, got.reason, got.headers),
        attempt=recorded.attempt,
        agent=recorded.request.host if recorded.kind == "agent" else None,
    )


def _view(recorded: Recorded) -> RequestView | None:
    protocol = wire.protocols().get(recorded.protocol or "")
    try:
        return protocol.transcript(recorded.request) if protocol is not None else None
    except WireError:
        return None
