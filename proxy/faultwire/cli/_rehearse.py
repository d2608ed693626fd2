"""`faultwire exec --dry-run TAPE`: what a profile would do to traffic that was recorded, and why not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.events import Delivery, FaultFired, Recorded
    from faultwire.passage import Passage
    from faultwire.profile.model import Profile
    from faultwire.tape.read import TapeReader


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """One recorded exchange, and the lines that its ledger would have had."""

    recorded: Recorded
    faults: tuple[FaultFired, ...]


def rehearse(tape: TapeReader, profile: Profile, seed: int) -> Iterator[Rehearsed]:
    """Send every recorded exchange through the profile again, session by session, without a network.

    Triggers by time see the recorded instants; the answers are those that upstream gave. An agent
    would have gone on differently after a fault, so later exchanges are an estimate.
    """
    from faultwire.dice import Dice
    from faultwire.passage import Passage, SessionContext
    from faultwire.session import SessionState

    for session in tape.sessions():
        instants = [0.0]
        context = SessionContext(
            session.name,
            profile,
            Dice(seed, session.name),
            SessionState(),
            partial(instants.__getitem__, 0),
            0.0,
        )
        for recorded in tape.exchanges(session.name):
            instants[0] = max(0, recorded.started_ms - session.started_ms) / 1000
            passage = Passage(context, replace(recorded.request, body=None))
            _pass(passage, recorded)
            yield Rehearsed(recorded, passage.ledger())


def _pass(passage: Passage, recorded: Recorded) -> None:
    """Take one exchange from its request to its end, as the proxy does."""
    from faultwire.events import Cut, Reset

    departure = passage.request(recorded.request.body or b"")
    ended = any(isinstance(action, Cut | Reset) for action in departure.actions)
    if ended or departure.answer is not None or recorded.upstream is None:
        return
    _answer(passage, recorded.upstream)


def _answer(passage: Passage, upstream: Delivery) -> None:
    from faultwire.events import Cut, Reset, Response

    passage.head(Response(upstream.status, upstream.reason, upstream.headers))
    for action in passage.feed(upstream.body):
        if isinstance(action, Cut | Reset):
            return
    for _ in passage.finish():
        pass  # each action is only asked for, so that the faults say what they did


def lines(rehearsed: Iterator[Rehearsed]) -> Iterator[str]:
    """The rehearsal for people: each exchange, and below it every decision with its reason."""
    met = count = 0
    for one in rehearsed:
        recorded, count = one.recorded, count + 1
        asked = f"{recorded.request.method} {recorded.request.url} ({recorded.kind})"
        yield f"{recorded.session} {recorded.number}  {asked}"
        for fault in one.faults:
            met += fault.outcome == "fired"
            subject = f" on `{fault.subject}`" if fault.subject else ""
            effect = f": {fault.effect}" if fault.effect else ""
            yield f"    {fault.outcome:<12} {fault.id}{subject}, {fault.reason}{effect}"
    yield f"{met} of the decisions on {count} recorded exchanges would have fired"
