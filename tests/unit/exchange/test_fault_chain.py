"""The chain of faults on one exchange: order, ends, framing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar

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
    assert [c.unit for c in seen.fed] == ["event", "event", "bytes"]
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
    assert list(made.finish()) == [Send(b"tail")]
    assert [c.data for c in two.fed] == [b"tail"]


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
    made = chain()
    assert not made.touches
    assert not made.holds


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


def test_an_effect_that_a_later_fault_replaces_was_never_met() -> None:
    early, late = Effective(), Replacing(last=(Send(b"error"),))
    first, second = sited(early, "early", "response"), sited(late, "late", "response")
    made = chain(first, second)
    assert list(made.feed(b"data: 1\n\n")) == []
    assert list(made.finish()) == [Send(b"error")]
    assert first.dropped == ("preempted", "`late` replaced the answer")
    assert second.dropped is None
    assert early.effect is None, "it was not even asked"


def test_what_was_met_before_the_call_stays_met() -> None:
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


def test_what_cannot_act_on_an_answer_of_ours_says_so() -> None:
    """The same question is asked as about upstream's."""
    reader = active(Scripted(), "reader", why_not="the response has status 503")
    made = FaultChain()
    made.add(reader)
    made.add(sited(Scripted(instead=ANSWER), "status", "response"))
    assert list(made.depart()) == []
    made.arrive(replace(EXCHANGE, response=ANSWER))
    assert reader.dropped == ("inapplicable", "the response has status 503")
    assert list(made.feed(b"{}")) == [Send(b"{}")]


def test_who_only_takes_notes_is_not_told_our_answers() -> None:
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


def test_a_close_ends_the_session_and_pre_empts() -> None:
    late = active(Scripted(), "late")
    made = socket(active(Scripted(on_chunk={0: (Close(1011, "x"),)}), "close"), late)
    assert list(made.message(b"a", text=True, by="server")) == [Close(1011, "x")]
    assert made.ended
    assert late.dropped == ("preempted", "`close` ended the exchange first")
    assert list(made.message(b"b", text=True, by="server")) == []
    assert list(made.message(b"b", text=True, by="client")) == []


def test_what_is_held_leaves_before_the_close_frame() -> None:
    made = socket(active(Scripted(last=(Send(b"held", text=False),))))
    assert list(made.finish()) == [Send(b"held", "client", False)]


def test_a_fault_on_bodies_says_that_there_is_none() -> None:
    body = active(Scripted(), needs=Need.BODY)
    socket(body)
    assert body.dropped == ("inapplicable", "a WebSocket session has no body")
