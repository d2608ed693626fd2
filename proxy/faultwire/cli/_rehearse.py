"""`faultwire exec --dry-run TAPE`: what a profile would do to recorded traffic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from faultwire.cli.options import Traffic
    from faultwire.events import Action, FaultFired, Message, Recorded
    from faultwire.exchange.pipeline import ExchangePipeline
    from faultwire.profile.model import Profile
    from faultwire.tape.read.reader import TapeReader


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """One recorded exchange and its simulated fault decisions."""

    recorded: Recorded
    faults: tuple[FaultFired, ...]


def rehearse(tape: TapeReader, profile: Profile, seed: int) -> Iterator[Rehearsed]:
    """Send every recorded exchange through the profile again, session by session, without a network.

    Time triggers see the recorded times; the responses are the recorded upstream ones. An agent would
    behave differently after a fault, so later exchanges are an estimate.
    """
    from faultwire.dice import Dice
    from faultwire.exchange.pipeline import ExchangePipeline, SessionContext
    from faultwire.exchange.session_state import SessionState

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
            pipeline = ExchangePipeline(context, replace(recorded.request, body=None))
            if recorded.http2:
                pipeline.over_http2()
            _pass(pipeline, recorded)
            yield Rehearsed(recorded, pipeline.over())


def _pass(pipeline: ExchangePipeline, recorded: Recorded) -> None:
    """Run one exchange from request to end like the proxy: a response that a fault returns in place of
    upstream takes the same path as a real one."""
    from faultwire.events import Response

    departure = pipeline.request(recorded.request.body or b"")
    if not _performed(departure.actions):
        return
    answer, upstream = departure.answer, recorded.upstream
    if answer is not None:
        pipeline.head(answer)
        _deliver(pipeline, answer.body or b"", ())
    elif upstream is not None:
        head = Response(upstream.status, upstream.reason, upstream.headers)
        if _performed(pipeline.pending(head)):
            pipeline.head(head)
            _deliver(pipeline, upstream.body, recorded.messages)


def _deliver(pipeline: ExchangePipeline, body: bytes, messages: tuple[Message, ...]) -> None:
    """Deliver the body or messages of a response as far as the faults allow."""
    if not _performed(pipeline.feed(body) if body else ()):
        return
    for message in messages:
        if message.sent_ns is not None and message.kind != "close":
            actions = pipeline.message(message.data, text=message.kind == "text", by=message.by)
            if not _performed(actions):
                return
    _performed(pipeline.finish())


def _performed(actions: Iterable[Action]) -> bool:
    """Apply every action so that the faults record their effects; False if one ended the exchange."""
    from faultwire.events import Close, Cut, Reset

    return not any(isinstance(action, Close | Cut | Reset) for action in actions)


def lines(rehearsed: Iterator[Rehearsed]) -> Iterator[str]:
    """The lines to print: each exchange, and below it every decision with its reason."""
    fired = count = 0
    for one in rehearsed:
        recorded, count = one.recorded, count + 1
        request_line = f"{recorded.request.method} {recorded.request.url} ({recorded.kind})"
        yield f"{recorded.session} {recorded.number}  {request_line}"
        for fault in one.faults:
            fired += fault.outcome == "fired"
            subject = f" on `{fault.subject}`" if fault.subject else ""
            effect = f": {fault.effect}" if fault.effect else ""
            yield f"    {fault.outcome:<12} {fault.id}{subject}, {fault.reason}{effect}"
    yield f"{counted(fired, 'fault decision')} on {counted(count, 'recorded exchange')} would have fired"


def show_rehearsal(path: Path, traffic: Traffic) -> None:
    """Say what the faults would do to the traffic on a tape."""
    from faultwire.cli.output import show
    from faultwire.tape.files.find import find
    from faultwire.tape.read.reader import TapeReader

    profile = traffic.load()
    with TapeReader.open(find(str(path))) as tape:
        for line in lines(rehearse(tape, profile, traffic.seed)):
            show(line)
