"""The chain of faults on one exchange: order, ends, framing."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import pytest

from faultwire.events import Action, Chunk, Close, Cut, Exchange, Request, Reset, Response, Send, Wait
from faultwire.exchange.active_fault import ActiveFault
from faultwire.exchange.fault_chain import FaultChain
from faultwire.exchange.plan import Decision
from faultwire.exchange.session_state import Subject
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.profile.entry_model import Entry, Trigger

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


def active(
    mutator: Mutator, ident: str = "probe", *, needs: Need = Need.EVENTS, why_not: str | None = None
) -> ActiveFault:
    entry = Entry.model_construct(id=ident, fault=fault(needs, why_not), trigger=Trigger())
    return ActiveFault(Decision(entry, Subject("k", 0, 0), "fire", "test"), mutator)


def chain(*members: ActiveFault, response: Response = SSE) -> FaultChain:
    made = FaultChain()
    for member in members:
        made.add(member)
    list(made.depart())
    if not made.ended:
        made.arrive(replace(EXCHANGE, response=response))
    return made


def test_events_pass_through_every_fault_in_order() -> None:
    one, two = Scripted(on_chunk={0: (Send(b"A"), Wait(1.0), Send(b"B"))}), Scripted()
    made = chain(active(one), active(two))
    assert list(made.feed(b"data: 1\n\n")) == [Send(b"A"), Wait(1.0), Send(b"B")]
    assert [c.data for c in two.fed] == [b"A", b"B"], "the second is fed what the first delivers"
    assert [c.unit for c in one.fed] == ["event"]


def test_events_are_whole_however_the_bytes_arrive() -> None:
    seen = Scripted()
    made = chain(active(seen))
    out = [a for piece in (b"data", b": 1\n", b"\ndata: 2\n\nda") for a in list(made.feed(piece))]
    out += list(made.finish())
    assert [c.data for c in seen.fed] == [b"data: 1\n\n", b"data: 2\n\n", b"da"]
    assert [(c.index, c.unit) for c in seen.fed] == [(0, "event"), (1, "event"), (2, "bytes")]
    assert b"".join(a.data for a in out if isinstance(a, Send)) == b"data: 1\n\ndata: 2\n\nda"


def test_the_first_end_wins_and_nothing_follows() -> None:
    one, two = Scripted(on_chunk={1: (Cut(),)}), Scripted()
    first, second = active(one, "one"), active(two, "two")
    made = chain(first, second)
    assert list(made.feed(b"data: 1\n\ndata: 2\n\ndata: 3\n\n")) == [Send(b"data: 1\n\n"), Cut()]
    assert made.ended
    assert list(made.feed(b"data: 4\n\n")) == []
    assert list(made.finish()) == []
    assert first.dropped is None
    assert second.dropped == ("preempted", "`one` ended the exchange first")


def test_an_end_before_the_call_preempts_the_rest() -> None:
    reset, late = active(Scripted(first=(Wait(0.5), Reset())), "reset"), active(Scripted(), "late")
    made = FaultChain()
    made.add(reset)
    made.add(late)
    assert list(made.depart()) == [Wait(0.5), Reset()]
    assert made.answer is None
    assert late.dropped == ("preempted", "`reset` ended the exchange first")


def test_an_end_preempts_only_what_comes_after_it_and_did_not_fire() -> None:
    waiter, attack = active(Scripted(first=(Wait(0.5),)), "waiter"), sited(Scripted(), "attack", "request")
    gone = active(Scripted(first=(Wait(9.0),)), "gone")
    met = active(Scripted(effect="met before"), "met")
    gone.dropped = ("inapplicable", "for a test")
    passed, reset = ActiveFault(waiter.decision, None), active(Scripted(first=(Reset(),)), "reset")
    late = active(Scripted(first=(Wait(9.0),)), "late")
    made = FaultChain()
    for member in (passed, gone, waiter, attack, reset, passed, gone, met, late):
        made.add(member)
    assert list(made.depart()) == [Wait(0.5), Reset()]
    ended = ("preempted", "`reset` ended the exchange first")
    assert (attack.dropped, late.dropped) == (ended, ended)
    assert [one.dropped for one in (passed, waiter, reset, met)] == [None] * 4
    assert gone.dropped == ("inapplicable", "for a test")


def test_nothing_follows_an_end_in_the_middle_of_the_chain() -> None:
    one, two, three = (active(Scripted(), name) for name in ("one", "two", "three"))
    two.mutator.on_chunk = {0: (Send(b"A"), Cut(clean=True), Send(b"never"))}
    made = chain(one, two, three, ActiveFault(one.decision, None))
    assert list(made.feed(b"data: 1\n\n")) == [Send(b"A"), Cut(clean=True)]
    assert [each.dropped for each in (one, two)] == [None, None]
    assert three.dropped == ("preempted", "`two` ended the exchange first")


def test_each_event_has_its_number_and_passes_whom_nobody_asks() -> None:
    one, two = Scripted(on_chunk={1: (Send(b"x"),)}), Scripted()
    made = chain(active(one), ActiveFault(active(one).decision, None), active(two))
    list(made.feed(b"data: 0\n\ndata: 1\n\ndata: 2\n\n"))
    assert two.fed == [
        Chunk(b"data: 0\n\n", 0, "event"),
        Chunk(b"x", 1, "event"),
        Chunk(b"data: 2\n\n", 2, "event"),
    ]


def test_an_answer_ends_the_exchange_after_the_waits_before_it() -> None:
    answer = Response(503, "Service Unavailable", (), b"{}")
    made = FaultChain()
    made.add(active(Scripted(first=(Wait(2.0),)), "slow"))
    made.add(active(Scripted(instead=answer), "status"))
    assert list(made.depart()) == [Wait(2.0)]
    assert made.answer == answer


def test_a_fault_that_cannot_act_on_the_response_is_dropped_with_its_reason() -> None:
    unfit, fit = active(Scripted(), "unfit", why_not="not a stream"), active(Scripted(), "fit")
    made = chain(unfit, fit)
    assert unfit.dropped == ("inapplicable", "not a stream")
    assert fit.dropped is None
    assert made.touches


def test_a_packed_body_is_left_alone() -> None:
    packed = replace(SSE, headers=(*SSE.headers, ("content-encoding", "gzip")))
    reader, waiter = active(Scripted(), "reader"), active(Scripted(), "waiter", needs=Need.HEAD)
    made = chain(reader, waiter, response=packed)
    assert reader.dropped is not None
    assert "packed with `gzip`" in reader.dropped[1]
    assert waiter.dropped is None
    assert list(made.feed(b"\x1f\x8b")) == [Send(b"\x1f\x8b")]


def test_only_who_reads_a_packed_body_cannot_act_on_it() -> None:
    packed = replace(JSON, headers=(*JSON.headers, ("content-encoding", "gzip")))
    body, events = active(Scripted(), needs=Need.BODY), active(Scripted(), needs=Need.EVENTS)
    met, unfit = active(Scripted(effect="met before")), active(Scripted(), why_not="no", needs=Need.BODY)
    passed = ActiveFault(body.decision, None)
    chain(passed, body, events, met, unfit, response=packed)
    why = "the body is packed with `gzip` although identity was asked for"
    assert [one.dropped for one in (passed, body, events, met)] == [None, ("inapplicable", why), None, None]
    assert unfit.dropped == ("inapplicable", "no"), "its own reason comes first"
    gone = active(Scripted(), why_not="no")
    gone.dropped = ("preempted", "for a test")
    chain(gone)
    assert gone.dropped == ("preempted", "for a test")
    plain, late = active(Scripted(), needs=Need.BODY), active(Scripted(effect="met"), why_not="no")
    chain(plain, late, response=replace(JSON, headers=(*JSON.headers, ("content-encoding", "identity"))))
    assert (plain.dropped, late.dropped) == (None, None)


def test_a_whole_body_is_held_only_where_a_fault_must_read_it() -> None:
    assert chain(active(Scripted(), needs=Need.BODY), response=JSON).holds
    assert not chain(active(Scripted(), needs=Need.BODY | Need.EVENTS), response=SSE).holds
    assert not chain(active(Scripted(), needs=Need.HEAD), response=JSON).holds
    seen = Scripted()
    list(chain(active(seen, needs=Need.BODY), response=JSON).feed(b"{}"))
    assert [(c.data, c.unit) for c in seen.fed] == [(b"{}", "body")]


def test_last_words_pass_the_later_faults() -> None:
    one, two = Scripted(last=(Send(b"tail"),)), Scripted()
    made = chain(active(one), active(two))
    list(made.feed(b"data: 1\n\n"))
    assert list(made.finish()) == [Send(b"tail")]
    assert two.fed[1:] == [Chunk(b"tail", 1, "event")]


def test_an_end_among_the_last_words_is_the_last_of_all() -> None:
    talker = Scripted(last=(Send(b"never"),), effect="did something already")
    made = chain(active(Scripted(last=(Send(b"tail"), Cut(), Send(b"never")))), active(talker))
    assert list(made.finish()) == [Send(b"tail"), Cut()]


def test_who_cannot_act_has_no_last_words_and_no_trailers() -> None:
    silent = Retrailing(last=(Send(b"never"),))
    made = chain(active(silent, why_not="not a stream"), ActiveFault(active(silent).decision, None))
    assert list(made.finish()) == []
    assert made.trailers(TRAILERS) is TRAILERS


def test_what_another_gives_in_place_of_bytes_passes_the_faults_too() -> None:
    seen = Scripted()
    made = chain(active(seen, needs=Need.HEAD))
    assert list(made.relayed([Wait(1.0), Send(b"x"), Cut()])) == [Wait(1.0), Send(b"x"), Cut()]
    assert [chunk.data for chunk in seen.fed] == [b"x"]


def test_a_fault_that_joins_late_waits_before_the_first_byte_and_may_replace_the_answer() -> None:
    made = FaultChain()
    list(made.depart())
    answer = Response(500, "Internal Server Error", (("x", "y"),), b"instead")
    made.join(active(Scripted(first=(Wait(0.1),), instead=answer), "late"))
    assert list(made.pending()) == [Wait(0.1)]
    assert made.arrive(EXCHANGE) == answer
    assert list(made.feed(b"data: 1\n\n")) == []
    assert list(made.finish()) == [Send(b"instead")]


def test_without_faults_nothing_is_touched() -> None:
    for made in (chain(), FaultChain()):
        assert made.touches is False
        assert made.holds is False
        assert made.needs == Need.HEAD


def test_a_chain_must_be_shown_what_any_of_its_faults_needs() -> None:
    gone = active(Scripted(), needs=Need.REQUEST, why_not="no")
    made = chain(active(Scripted(), needs=Need.EVENTS), gone, active(Scripted(), needs=Need.BODY))
    assert made.needs == Need.EVENTS | Need.BODY


def test_a_chain_takes_no_exchange_without_a_response() -> None:
    with pytest.raises(ValueError, match=r"^a response head is needed$"):
        FaultChain().arrive(replace(EXCHANGE, response=None))


class Refusing(Scripted):
    """Changes the head, and nothing else."""

    def head(self, response: Response) -> Response:
        return replace(response, status=503)


def test_each_fault_sees_the_head_as_those_before_it_leave_it() -> None:
    class Seeing(Fault):
        name: ClassVar[str] = "seeing"
        site: ClassVar[Site] = "stream"

        def inapplicable(self, exchange: Exchange) -> str | None:
            return f"status {exchange.response.status}" if exchange.response else "no response"

    seen = []
    for before in ((), (active(Scripted(), "calm"),), (active(Refusing(), "error"),)):
        entry = Entry.model_construct(id="seeing", fault=Seeing(), trigger=Trigger())
        last = ActiveFault(Decision(entry, Subject("k", 0, 0), "fire", "test"), Scripted())
        chain(*before, last, active(Scripted(), "after"))
        seen.append(last.dropped)
    assert seen == [("inapplicable", f"status {status}") for status in (200, 200, 503)]


def test_only_a_head_that_a_fault_changes_is_marked_and_only_by_who_acts() -> None:
    marking = sited(Refusing(), "error", "response", no_sdk_retry=True)
    made = FaultChain()
    made.add(marking)
    assert made.arrive(EXCHANGE).headers == (*SSE.headers, ("x-should-retry", "false"))
    calm, gone = FaultChain(), active(Refusing(), why_not="no")
    for member in (sited(Scripted(), "calm", "response", no_sdk_retry=True), gone):
        calm.add(member)
    assert calm.arrive(EXCHANGE) is SSE


def test_one_fault_that_shapes_the_response_is_enough() -> None:
    made = chain(active(Scripted(), "shapes"), sited(Waiting(), "waits", "response"))
    assert made.touches


def test_a_whole_body_has_no_events_and_a_stream_is_not_held() -> None:
    seen = Scripted()
    made = chain(active(seen, needs=Need.EVENTS), response=JSON)
    list(made.feed(b"{}"))
    assert seen.fed == [Chunk(b"{}", 0, "bytes")]
    assert chain(active(Scripted(), needs=Need.BODY), response=SSE).holds is False


# ---------------------------------------------------------------- replaced answers, order, retries


def at_site(site: Site, *, splits: bool = False) -> Fault:
    made = fault(Need.HEAD)
    type(made).site = site
    type(made).outermost = splits
    return made


def sited(
    mutator: Mutator, ident: str, site: Site, *, splits: bool = False, **trigger: object
) -> ActiveFault:
    entry = Entry.model_construct(id=ident, fault=at_site(site, splits=splits), trigger=Trigger(**trigger))  # type: ignore[arg-type]
    return ActiveFault(Decision(entry, Subject("k", 0, 0), "fire", "test"), mutator)


class Replacing(Scripted):
    """Says something else whatever it is fed."""

    replaces = True

    def head(self, response: Response) -> Response:
        self.effect = "replaced"
        return replace(response, status=503)

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        return ()


class Effective(Scripted):
    def feed(self, chunk: Chunk) -> Iterable[Action]:
        self.effect = "changed"
        return super().feed(chunk)


def test_an_effect_that_a_later_fault_replaces_never_fired() -> None:
    early, late = Effective(), Replacing(last=(Send(b"error"),))
    first, second = sited(early, "early", "response"), sited(late, "late", "response")
    made = chain(first, second)
    assert list(made.feed(b"data: 1\n\n")) == []
    assert list(made.finish()) == [Send(b"error")]
    assert first.dropped == ("preempted", "`late` replaced the answer")
    assert second.dropped is None
    assert early.effect is None, "it was not even asked"


def test_a_fault_that_fired_before_the_call_stays_fired() -> None:
    class Late(Scripted):
        def before(self) -> Iterable[Action]:
            self.effect = "waited"
            return (Wait(1.0),)

    first = sited(Late(), "waiter", "connection")
    made = FaultChain()
    made.add(first)
    made.add(sited(Replacing(), "late", "response"))
    assert list(made.depart()) == [Wait(1.0)]
    assert made.arrive(EXCHANGE).status == 503
    assert first.dropped is None


def test_only_a_fault_that_did_not_fire_is_replaced() -> None:
    class Late(Scripted):
        def before(self) -> Iterable[Action]:
            self.effect = "waited"
            return (Wait(1.0),)

    met, unmet = sited(Late(), "met", "response"), sited(Scripted(), "unmet", "response")
    gone = active(Scripted(), "gone", why_not="not a stream")
    made = chain(gone, met, unmet, sited(Replacing(), "late", "response"))
    assert met.dropped is None
    assert unmet.dropped == ("preempted", "`late` replaced the answer")
    assert gone.dropped == ("inapplicable", "not a stream")
    assert made.touches


def test_a_fault_after_the_one_that_replaced_acts_on_what_it_said() -> None:
    after = Scripted()
    made = chain(sited(Replacing(last=(Send(b"error"),)), "one", "response"), sited(after, "two", "stream"))
    list(made.feed(b"data: 1\n\n"))
    list(made.finish())
    assert [chunk.data for chunk in after.fed] == [b"error"]


def test_the_connection_counts_what_is_delivered() -> None:
    """Composed first, it acts last on the way back: it is the outermost."""
    thin, words = Scripted(), Scripted(on_chunk={0: (Send(b"short"),)})
    made = chain(sited(thin, "thin", "connection"), sited(words, "words", "response"))
    list(made.feed(b"data: a long event\n\n"))
    assert [chunk.data for chunk in thin.fed] == [b"short"]


def test_what_divides_events_comes_after_what_reads_them() -> None:
    pieces = Scripted(on_chunk={0: (Send(b"da"), Send(b"ta"))})
    reader = Scripted()
    made = chain(sited(pieces, "pieces", "stream", splits=True), sited(reader, "reader", "stream"))
    assert list(made.feed(b"data")) == [Send(b"da"), Send(b"ta")]
    assert [chunk.data for chunk in reader.fed] == [b"data"]


def test_an_answer_may_ask_sdks_not_to_repeat_the_call() -> None:
    answer = Response(503, "Service Unavailable", (("x-should-retry", "true"),), b"{}")
    made = FaultChain()
    made.add(sited(Scripted(instead=answer), "status", "response", no_sdk_retry=True))
    assert list(made.depart()) == []
    told = made.answer
    assert told is not None
    assert told.headers == (("x-should-retry", "false"),)
    plain = FaultChain()
    plain.add(sited(Scripted(instead=answer), "status", "response"))
    assert list(plain.depart()) == []
    assert plain.answer is answer
    replaced = chain(sited(Replacing(), "late", "response", no_sdk_retry=True), response=JSON)
    assert replaced.touches


# ---------------------------------------------------------------- one action at a time


class Claiming(Scripted):
    """Says that it was met as soon as it is asked for anything."""

    def before(self) -> Iterable[Action]:
        self.effect = "met"
        return super().before()

    def answer(self) -> Response | None:
        self.effect = "met"
        return super().answer()

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        self.effect = "met"
        return super().feed(chunk)


def test_a_fault_is_asked_only_when_the_one_before_it_is_done() -> None:
    answer = Response(503, "Service Unavailable", (), b"{}")
    late = Claiming(instead=answer)
    made = FaultChain()
    made.add(active(Scripted(first=(Wait(2.0),)), "slow"))
    made.add(active(late, "status"))
    actions = made.depart()
    assert next(actions) == Wait(2.0)
    assert (late.effect, made.answer) == (None, None)
    assert list(actions) == []
    assert (late.effect, made.answer) == ("met", answer)


def test_an_event_is_fed_only_when_the_one_before_it_is_delivered() -> None:
    slow, cut = Scripted(on_chunk={n: (Wait(1.0), Send(b"%d" % n)) for n in range(3)}), Scripted()
    cut.on_chunk = {1: (Cut(),)}
    made = chain(active(slow, "slow"), active(cut, "cut"))
    actions = made.feed(b"data: 0\n\ndata: 1\n\ndata: 2\n\n")
    assert [next(actions) for _ in range(3)] == [Wait(1.0), Send(b"0"), Wait(1.0)]
    assert (len(cut.fed), made.ended) == (1, False), "the second event waits, so nobody has cut it off"
    assert list(actions) == [Cut()]
    assert (len(slow.fed), made.ended) == (2, True)


def test_what_only_waits_before_the_call_touches_nothing() -> None:
    class Waiting(Mutator):
        def before(self) -> Iterable[Action]:
            self.effect = "waited"
            yield Wait(1.0)

    made = chain(sited(Waiting(), "latency", "connection"), response=JSON)
    assert not made.touches
    assert chain(sited(Scripted(), "other", "connection"), response=JSON).touches


# ---------------------------------------------------------------- on the head


def test_a_fault_that_joins_may_end_the_exchange_before_the_head() -> None:
    made, other = FaultChain(), active(Scripted(), "other")
    made.add(other)
    list(made.depart())
    late = Claiming(first=(Wait(0.5), Cut()))
    made.join(active(late, "late"))
    assert late.effect is None
    assert list(made.pending()) == [Wait(0.5), Cut()]
    assert made.ended
    assert other.dropped == ("preempted", "`late` ended the exchange first")


def test_only_those_that_joined_and_act_are_asked_before_the_first_byte() -> None:
    made, gone = FaultChain(), active(Scripted(first=(Wait(9.0),)), "gone")
    passed = ActiveFault(replace(gone.decision, verb="skip"), None)
    gone.dropped = ("inapplicable", "for a test")
    for member in (passed, gone, active(Scripted(first=(Wait(0.5),)), "late")):
        made.join(member)
    assert list(made.pending()) == [Wait(0.5)]


# ---------------------------------------------------------------- around an answer of ours

ANSWER = Response(503, "Service Unavailable", (), b"{}")


def test_the_connection_before_it_acts_on_an_answer() -> None:
    thin = Scripted(on_chunk={0: (Send(b"{"), Reset())})
    early, late = sited(Scripted(), "early", "response"), sited(Scripted(), "late", "stream")
    made = FaultChain()
    for member in (
        sited(thin, "thin", "connection"),
        early,
        sited(Scripted(instead=ANSWER), "status", "response"),
        late,
    ):
        made.add(member)
    assert list(made.depart()) == []
    assert made.answer == ANSWER
    assert late.dropped == ("preempted", "`status` ended the exchange first")
    made.arrive(replace(EXCHANGE, response=ANSWER))
    assert made.touches
    assert early.acts
    assert list(made.feed(b"{}")) == [Send(b"{"), Reset()]
    assert early.mutator.fed == [Chunk(b"{}", 0, "bytes")]
    assert late.mutator.fed == []
    assert made.ended


def test_what_cannot_act_on_an_answer_of_ours_reports_that() -> None:
    """The same question is asked as about upstream's."""
    reader = active(Scripted(), "reader", why_not="the response has status 503")
    made = FaultChain()
    made.add(reader)
    made.add(sited(Scripted(instead=ANSWER), "status", "response"))
    assert list(made.depart()) == []
    made.arrive(replace(EXCHANGE, response=ANSWER))
    assert reader.dropped == ("inapplicable", "the response has status 503")
    assert list(made.feed(b"{}")) == [Send(b"{}")]


def test_a_watching_mutator_does_not_get_our_answers() -> None:
    watcher = active(Scripted(), "watcher")
    watcher.decision = replace(watcher.decision, verb="skip")
    made = FaultChain()
    made.add(watcher)
    made.add(sited(Scripted(instead=ANSWER), "status", "response"))
    assert list(made.depart()) == []
    made.arrive(replace(EXCHANGE, response=ANSWER))
    assert list(made.feed(b"{}")) == [Send(b"{}")]
    assert watcher.mutator.fed == []


def test_the_connection_after_it_does_not() -> None:
    after = sited(Scripted(), "after", "connection")
    made = FaultChain()
    made.add(sited(Scripted(instead=ANSWER), "status", "response"))
    made.add(after)
    assert list(made.depart()) == []
    made.arrive(replace(EXCHANGE, response=ANSWER))
    assert not made.touches
    assert after.dropped == ("preempted", "`status` ended the exchange first")


def test_an_answer_of_ours_leaves_a_fault_on_the_request_nothing_to_change() -> None:
    attack, passed = sited(Scripted(), "attack", "request"), sited(Scripted(), "passed", "request")
    passed.mutator = None
    made = FaultChain()
    for member in (attack, passed, sited(Scripted(instead=ANSWER), "status", "response")):
        made.add(member)
    assert list(made.depart()) == []
    assert attack.dropped == ("preempted", "`status` ended the exchange first")
    assert passed.dropped is None


# ---------------------------------------------------------------- a response that comes another way


class Waiting(Mutator):
    def before(self) -> Iterable[Action]:
        yield Wait(1.0)


def test_what_shapes_the_response_goes_with_it_and_the_rest_stays() -> None:
    shaping, waiting = sited(Scripted(), "shaping", "response"), sited(Waiting(), "waiting", "response")
    connection, gone = sited(Scripted(), "thin", "connection"), sited(Scripted(), "gone", "response")
    gone.dropped = ("inapplicable", "for a test")
    passed = ActiveFault(replace(shaping.decision, verb="skip"), None)
    made = FaultChain()
    for member in (connection, waiting, gone, passed, shaping):
        made.add(member)
    assert list(made.depart()) == [Wait(1.0)]
    other = made.detach()
    assert other.all == [shaping]
    assert made.all == [connection, waiting, gone, passed]


def test_an_answer_of_ours_goes_with_the_fault_that_gave_it() -> None:
    first, after = sited(Scripted(), "first", "response"), sited(Scripted(), "after", "stream")
    status = sited(Scripted(instead=ANSWER), "status", "response")
    made = FaultChain()
    for member in (first, status, after):
        made.add(member)
    assert list(made.depart()) == []
    mutator = first.mutator
    other = made.detach()
    assert made.answer is None
    assert other.all == [first, status]
    assert first.mutator is mutator
    assert other.arrive(EXCHANGE) == replace(ANSWER, body=b"{}")
    assert list(other.feed(b"data: 1\n\n")) == []
    assert list(other.finish()) == [Send(b"{}")]
    assert made.detach().all == []


# ---------------------------------------------------------------- trailers

TRAILERS = (("grpc-status", "0"),)


class Retrailing(Scripted):
    def trailers(self, headers):
        return (*headers, ("x-more", "1"))


def test_trailers_pass_through_who_changes_them() -> None:
    made = FaultChain()
    made.add(active(Scripted()))
    made.add(active(Retrailing()))
    made.arrive(EXCHANGE)
    assert made.trailers(TRAILERS) == (*TRAILERS, ("x-more", "1"))


def test_the_trailers_of_an_answer_that_was_replaced_go_with_it() -> None:
    instead = Scripted()
    instead.replaces = True
    made = FaultChain()
    made.add(active(instead))
    made.arrive(EXCHANGE)
    assert made.trailers(TRAILERS) == ()


# ---------------------------------------------------------------- messages

SWITCH = Response(101, "Switching Protocols", (("upgrade", "websocket"),))
SOCKET = replace(EXCHANGE, response=SWITCH)


def socket(*members: ActiveFault) -> FaultChain:
    made = FaultChain()
    for member in members:
        made.add(member)
    made.arrive(SOCKET)
    return made


def test_a_message_is_an_event() -> None:
    first, second = Scripted(on_chunk={1: (Wait(1.0), Send(b"other"), Send(b"more", text=False))}), Scripted()
    made = socket(active(first), active(second))
    assert made.touches
    assert not made.holds
    assert list(made.message(b"a", text=True, by="server")) == [Send(b"a", "client", True)]
    assert list(made.message(b"b", text=True, by="server")) == [
        Wait(1.0),
        Send(b"other", "client", True),
        Send(b"more", "client", False),
    ]
    assert first.fed == [Chunk(b"a", 0, "event", True), Chunk(b"b", 1, "event", True)]
    assert [chunk.text for chunk in second.fed] == [True, True, False]


def test_what_the_client_says_passes_and_counts_for_nobody() -> None:
    made = socket(active(Scripted()))
    assert list(made.message(b"up", text=False, by="client")) == [Send(b"up", "server", False)]
    assert list(made.message(b"a", text=True, by="server")) == [Send(b"a", "client", True)]
    assert made.all[0].mutator.fed[0].index == 0


class Upward(Scripted):
    def upward(self, chunk: Chunk) -> Iterable[Action]:
        yield Send(chunk.data + b"!", to="server")
        yield Send(b"heard", to="client", text=True)


def test_faults_may_act_on_what_the_client_says_from_the_outside_in() -> None:
    inner, outer = Upward(), Upward()
    made = socket(active(inner), sited(outer, "outer", "connection"))
    assert list(made.message(b"up", text=False, by="client")) == [
        Send(b"up!!", "server", False),
        Send(b"heard", "client", True),
        Send(b"heard", "client", True),
    ]


@dataclass
class Recording(Scripted):
    """Notes what it hears of the client and passes it on as the test says."""

    heard: list[Chunk] = field(default_factory=list)
    text: bool | None = None

    def upward(self, chunk: Chunk) -> Iterable[Action]:
        self.heard.append(chunk)
        yield Send(chunk.data + b"!", to="server", text=self.text)


def test_what_the_client_says_is_an_event_for_each_fault_on_its_way() -> None:
    inner, middle, outer = Recording(), Recording(text=True), Recording()
    gone = active(Recording(), "gone")
    made = socket(
        active(inner),
        active(middle),
        gone,
        *[ActiveFault(gone.decision, None)] * 2,
        sited(outer, "outer", "connection"),
    )
    gone.dropped = ("inapplicable", "for a test")
    list(made.message(b"down", text=True, by="server"))
    assert list(made.message(b"up", text=False, by="client")) == [Send(b"up!!!", "server", True)]
    assert outer.heard == [Chunk(b"up", 1, "event", False)]
    assert middle.heard == [Chunk(b"up!", 1, "event", False)]
    assert inner.heard == [Chunk(b"up!!", 1, "event", True)]


def test_whoever_divides_bytes_divides_a_message_into_fragments() -> None:
    thin = Scripted(on_chunk={0: (Send(b"ab"), Wait(1.0), Send(b"cd"), Send(b"e"))})
    halved = Scripted(on_chunk={0: (Send(b"abcde"),)})
    made = socket(active(halved), sited(thin, "thin", "connection"))
    assert list(made.message(b"abcdefgh", text=True, by="server")) == [
        Send(b"ab", "client", True, True),
        Wait(1.0),
        Send(b"cd", "client", True, True),
        Send(b"e", "client", True),
    ]


def test_a_message_in_pieces_stays_in_pieces() -> None:
    opened = Scripted(on_chunk={0: (Send(b"abcd", text=True, more=True),), 1: (Send(b"abcd"),)})
    halves = (Send(b"ab"), Send(b"cd"))
    made = socket(
        active(opened),
        sited(Scripted(on_chunk={0: halves, 1: halves}), "halves", "stream", splits=True),
        sited(Scripted(), "thin", "connection"),
    )
    assert list(made.message(b"x", text=True, by="server")) == [
        Send(b"ab", "client", True, True),
        Send(b"cd", "client", True, True),
    ]
    assert list(made.message(b"y", text=True, by="server")) == [
        Send(b"ab", "client", True, True),
        Send(b"cd", "client", True, False),
    ]
    assert list(made.message(b"z", text=True, by="server")) == [Send(b"z", "client", True)]
    assert [chunk.index for chunk in opened.fed] == [0, 1, 2]


def test_bytes_that_are_divided_are_no_fragments() -> None:
    second = Scripted()
    divided = sited(Scripted(on_chunk={0: (Send(b"ab"), Send(b"cd"))}), "one", "connection")
    made = chain(divided, sited(second, "two", "connection"), response=JSON)
    assert list(made.feed(b"abcd")) == [Send(b"ab"), Send(b"cd")]
    assert second.fed == [Chunk(b"ab", 0, "bytes"), Chunk(b"cd", 0, "bytes")]


def test_what_goes_to_the_server_passes_no_other_fault() -> None:
    second = Scripted()
    made = socket(active(Scripted(on_chunk={0: (Send(b"ack", to="server", text=True),)})), active(second))
    assert list(made.message(b"x", text=True, by="server")) == [Send(b"ack", "server", True)]
    assert second.fed == []


def test_a_close_ends_the_session_and_pre_empts() -> None:
    late = active(Scripted(), "late")
    made = socket(active(Scripted(on_chunk={0: (Close(1011, "x"),)}), "close"), late)
    assert list(made.message(b"a", text=True, by="server")) == [Close(1011, "x")]
    assert made.ended
    assert late.dropped == ("preempted", "`close` ended the exchange first")
    assert list(made.message(b"b", text=True, by="server")) == []
    assert list(made.message(b"b", text=True, by="client")) == []


def test_what_is_held_leaves_before_the_close_frame() -> None:
    later = Scripted()
    made = socket(active(Scripted(last=(Send(b"held", text=False), Send(b"more")))), active(later))
    assert list(made.finish()) == [Send(b"held", "client", False), Send(b"more", "client", True)]
    assert later.fed == [Chunk(b"held", 0, "event", False), Chunk(b"more", 0, "event", True)]


def test_what_the_connection_holds_back_is_one_whole_message() -> None:
    made = socket(sited(Scripted(last=(Send(b"end"),)), "held", "connection"))
    assert list(made.finish()) == [Send(b"end", "client", True)]


def test_a_fault_on_bodies_states_that_there_is_none() -> None:
    body, unfit = active(Scripted(), needs=Need.BODY), active(Scripted(), needs=Need.BODY, why_not="no")
    socket(body, unfit)
    assert unfit.dropped == ("inapplicable", "no")
    assert body.dropped == ("inapplicable", "a WebSocket session has no body")


class Closing(Scripted):
    """Ends the session at the client's first message."""

    def upward(self, chunk: Chunk) -> Iterable[Action]:
        yield Send(b"last", to="client", text=True)
        yield Close(1008, "no more")
        yield Send(chunk.data, to="server")


def test_a_close_that_a_client_s_message_brings_about_ends_the_session_for_all() -> None:
    inner, outer = active(Scripted(), "inner"), sited(Scripted(), "outer", "connection")
    closing = active(Closing(), "close")
    made = socket(inner, closing, outer)
    assert list(made.message(b"up", text=True, by="client")) == [
        Send(b"last", "client", True),
        Close(1008, "no more"),
    ]
    assert made.ended
    assert list(made.message(b"b", text=True, by="client")) == []
    assert list(made.message(b"b", text=True, by="server")) == []
    ended = ("preempted", "`close` ended the exchange first")
    assert [one.dropped for one in (inner, closing, outer)] == [ended, None, ended]


def test_a_close_by_the_inner_fault_stops_the_outer_one() -> None:
    class Doubling(Scripted):
        def upward(self, chunk: Chunk) -> Iterable[Action]:
            yield Send(chunk.data, to="server")
            yield Send(chunk.data, to="server")

    made = socket(active(Closing(), "close"), sited(Doubling(), "outer", "connection"))
    assert [type(one) for one in made.message(b"up", text=True, by="client")] == [Send, Close]


# ---------------------------------------------------------------- elements of a JSON array

GEMINI = Request(
    "POST", "https", "generativelanguage.googleapis.com", 443, "/v1beta/models/m:streamGenerateContent"
)


def array(*members: ActiveFault) -> FaultChain:
    made = FaultChain()
    for member in members:
        made.add(member)
    made.arrive(replace(EXCHANGE, request=GEMINI, protocol="gemini", response=JSON))
    return made


def whole(made: FaultChain, *pieces: bytes) -> bytes:
    """All that the client is sent."""
    actions = [action for piece in pieces for action in made.feed(piece)]
    actions += made.finish()
    return b"".join(action.data for action in actions if isinstance(action, Send))


def test_what_closes_an_array_comes_after_all_that_was_held_back() -> None:
    held = Scripted(on_chunk={0: ()}, last=(Send(b'{"n": 0}'),))
    outer = Scripted()
    made = array(sited(outer, "outer", "connection"), active(Scripted()), active(held))
    data = whole(made, b'[{"n": 1},', b'\r\n{"n": 2},{"n": 3}', b"\r\n]")
    assert json.loads(data) == [{"n": 2}, {"n": 3}, {"n": 0}]
    assert [chunk.unit for chunk in held.fed] == ["event"] * 3, "what closes it is no event"
    assert b"".join(chunk.data for chunk in outer.fed) == data, "the connection sees the array as it leaves"


def test_an_array_keeps_its_signs_where_nothing_is_outside_of_its_elements() -> None:
    held = Scripted(on_chunk={0: ()}, last=(Send(b'{"n": 0}'),))
    assert json.loads(whole(array(active(held)), b'[{"n": 1},{"n": 2}]')) == [{"n": 2}, {"n": 0}]


def test_an_array_that_is_cut_in_good_order_is_closed() -> None:
    outer = sited(Scripted(), "outer", "connection")
    made = array(outer, active(Scripted(on_chunk={1: (Cut(clean=True),)}), "cut"))
    actions = list(made.feed(b'[{"n": 1},{"n": 2},{"n": 3}]'))
    assert actions[-1] == Cut(clean=True)
    assert json.loads(b"".join(one.data for one in actions if isinstance(one, Send))) == [{"n": 1}]
    torn = array(active(Scripted(on_chunk={1: (Cut(clean=False),)}), "cut"))
    actions = list(torn.feed(b'[{"n": 1},{"n": 2},{"n": 3}]'))
    assert b"".join(one.data for one in actions if isinstance(one, Send)).rstrip(b",") == b'[{"n": 1}'
    assert list(torn.finish()) == []


def test_a_cut_among_the_last_words_leaves_nothing_of_the_array() -> None:
    made = array(sited(Scripted(), "outer", "connection"), active(Scripted(last=(Cut(clean=False),))))
    list(made.feed(b'[{"n": 1}]'))
    assert list(made.finish()) == [Cut(clean=False)]
