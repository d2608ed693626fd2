"""The chain of faults on one exchange: order, ends, framing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar

from faultwire.course import Course, Running
from faultwire.decide import Decision
from faultwire.events import Action, Chunk, Cut, Exchange, Request, Reset, Response, Send, Wait
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.profile.model import Entry
from faultwire.session import Subject

SSE = Response(200, "OK", (("content-type", "text/event-stream"),))
JSON = Response(200, "OK", (("content-type", "application/json"),))
EXCHANGE = Exchange("s", 1, Request("POST", "https", "h", 443, "/"), response=SSE)


@dataclass
class Scripted(Mutator):
    """A mutator that does what the test says, and notes what it was fed."""

    first: tuple[Action, ...] = ()
    instead: Response | None = None
    on_chunk: dict[int, tuple[Action, ...]] = field(default_factory=dict)
    last: tuple[Action, ...] = ()
    fed: list[Chunk] = field(default_factory=list)
    effect: str | None = None

    def before(self) -> Iterable[Action]:
        return self.first

    def answer(self) -> Response | None:
        return self.instead

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        self.fed.append(chunk)
        return self.on_chunk.get(chunk.index, (Send(chunk.data),))

    def finish(self) -> Iterable[Action]:
        return self.last


def fault(needs: Need, why_not: str | None = None) -> Fault:
    class Probe(Fault):
        name: ClassVar[str] = "probe"
        site: ClassVar[Site] = "stream"

        def inapplicable(self, exchange: Exchange) -> str | None:
            return why_not if exchange.response else None

    Probe.needs = needs
    return Probe()


def running(
    mutator: Mutator, ident: str = "probe", *, needs: Need = Need.EVENTS, why_not: str | None = None
) -> Running:
    entry = Entry.model_construct(id=ident, fault=fault(needs, why_not))
    return Running(Decision(entry, Subject("k", 0, 0), "fire", "test"), mutator)


def course(*members: Running, response: Response = SSE) -> Course:
    made = Course()
    for member in members:
        made.add(member)
    made.depart()
    if not made.ended:
        made.arrive(replace(EXCHANGE, response=response))
    return made


def test_events_pass_through_every_fault_in_order() -> None:
    one, two = Scripted(on_chunk={0: (Send(b"A"), Wait(1.0), Send(b"B"))}), Scripted()
    made = course(running(one), running(two))
    assert made.feed(b"data: 1\n\n") == [Send(b"A"), Wait(1.0), Send(b"B")]
    assert [c.data for c in two.fed] == [b"A", b"B"], "the second is fed what the first delivers"
    assert [c.unit for c in one.fed] == ["event"]


def test_events_are_whole_however_the_bytes_arrive() -> None:
    seen = Scripted()
    made = course(running(seen))
    out = [a for piece in (b"data", b": 1\n", b"\ndata: 2\n\nda") for a in made.feed(piece)]
    out += made.finish()
    assert [c.data for c in seen.fed] == [b"data: 1\n\n", b"data: 2\n\n", b"da"]
    assert [c.unit for c in seen.fed] == ["event", "event", "bytes"]
    assert b"".join(a.data for a in out if isinstance(a, Send)) == b"data: 1\n\ndata: 2\n\nda"


def test_the_first_end_wins_and_nothing_follows() -> None:
    one, two = Scripted(on_chunk={1: (Cut(),)}), Scripted()
    first, second = running(one, "one"), running(two, "two")
    made = course(first, second)
    assert made.feed(b"data: 1\n\ndata: 2\n\ndata: 3\n\n") == [Send(b"data: 1\n\n"), Cut()]
    assert made.ended
    assert made.feed(b"data: 4\n\n") == []
    assert made.finish() == []
    assert first.dropped is None
    assert second.dropped == ("preempted", "`one` ended the exchange first")


def test_an_end_before_the_call_preempts_the_rest() -> None:
    reset, late = running(Scripted(first=(Wait(0.5), Reset())), "reset"), running(Scripted(), "late")
    made = Course()
    made.add(reset)
    made.add(late)
    assert made.depart() == ([Wait(0.5), Reset()], None)
    assert late.dropped == ("preempted", "`reset` ended the exchange first")


def test_an_answer_ends_the_exchange_after_the_waits_before_it() -> None:
    answer = Response(503, "Service Unavailable", (), b"{}")
    made = Course()
    made.add(running(Scripted(first=(Wait(2.0),)), "slow"))
    made.add(running(Scripted(instead=answer), "status"))
    assert made.depart() == ([Wait(2.0)], answer)


def test_a_fault_that_cannot_act_on_the_response_is_dropped_with_its_reason() -> None:
    unfit, fit = running(Scripted(), "unfit", why_not="not a stream"), running(Scripted(), "fit")
    made = course(unfit, fit)
    assert unfit.dropped == ("inapplicable", "not a stream")
    assert fit.dropped is None
    assert made.touches


def test_a_packed_body_is_left_alone() -> None:
    packed = replace(SSE, headers=(*SSE.headers, ("content-encoding", "gzip")))
    reader, waiter = running(Scripted(), "reader"), running(Scripted(), "waiter", needs=Need.HEAD)
    made = course(reader, waiter, response=packed)
    assert reader.dropped is not None
    assert "packed with `gzip`" in reader.dropped[1]
    assert waiter.dropped is None
    assert made.feed(b"\x1f\x8b") == [Send(b"\x1f\x8b")]


def test_a_whole_body_is_held_only_where_a_fault_must_read_it() -> None:
    assert course(running(Scripted(), needs=Need.BODY), response=JSON).holds
    assert not course(running(Scripted(), needs=Need.BODY | Need.EVENTS), response=SSE).holds
    assert not course(running(Scripted(), needs=Need.HEAD), response=JSON).holds
    seen = Scripted()
    course(running(seen, needs=Need.BODY), response=JSON).feed(b"{}")
    assert [(c.data, c.unit) for c in seen.fed] == [(b"{}", "body")]


def test_last_words_pass_the_later_faults() -> None:
    one, two = Scripted(last=(Send(b"tail"),)), Scripted()
    made = course(running(one), running(two))
    assert made.finish() == [Send(b"tail")]
    assert [c.data for c in two.fed] == [b"tail"]


def test_a_fault_that_joins_late_waits_before_the_first_byte_and_may_replace_the_answer() -> None:
    made = Course()
    made.depart()
    answer = Response(500, "Internal Server Error", (("x", "y"),), b"instead")
    made.join(running(Scripted(first=(Wait(0.1),), instead=answer), "late"))
    assert made.arrive(EXCHANGE) == answer
    assert made.feed(b"data: 1\n\n") == [Wait(0.1)]
    assert made.finish() == [Send(b"instead")]


def test_without_faults_nothing_is_touched() -> None:
    made = course()
    assert not made.touches
    assert not made.holds
