"""The way of one exchange, from request head to ledger, without any socket or clock.

The shell (the proxy today; a tape or a test as well) hands in what it received and performs what
comes back. Whole bodies, live streams and recorded ones all take this one path:

    head → request(body) → Departure → pending(response) → head(response) → feed(bytes)… → finish()
    → ledger()

Actions come one by one: whoever performs them takes the next only once the last is done, because a
fault counts as met from the moment in which its action was taken.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire import retelling, wire
from faultwire.course import Course, Running
from faultwire.decide import decide, decide_head
from faultwire.departure import Departure, SessionContext, unpacked, with_body
from faultwire.errors import WireError
from faultwire.events import Cut, Exchange, FaultFired, Reset, Send, Wait
from faultwire.faults._api import Mutator, Need, ResultFault
from faultwire.profile.match import may_match
from faultwire.wire import framing
from faultwire.wire.hearing import Ear

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.decide import Decision, Plan
    from faultwire.dice import FaultDice
    from faultwire.events import Action, Kind, Request, Response


__all__ = ["Departure", "Passage", "SessionContext"]


class Passage:
    """One exchange on its way. Methods are called once each, in the order of the module's sketch."""

    def __init__(self, context: SessionContext, head: Request) -> None:
        self._context = context
        self._profile = context.profile
        found = wire.classify(head, self._profile.tools)
        self._protocol = found.protocol
        self.exchange = Exchange(
            session=context.name,
            number=context.state.number(),
            request=head,
            kind=found.kind,
            protocol=found.protocol.name if found.protocol else None,
            provider=found.provider,
            tool=found.tool,
            at_s=max(0.0, context.now() - context.began),
        )
        self.holds_request = bool(self._profile.entries) and (
            any(may_match(entry.on, self.exchange) for entry in self._profile.entries)
            or (found.protocol is None and wire.may_be_model(head))
            or bool(context.state.canaries)
        )
        self.holds_response = False
        self.touches = False
        self._lines: list[FaultFired] = []
        self._waits: list[Wait] = []
        self._story: dict[str, FaultFired] = {}
        self._plan: Plan | None = None
        self._ear: Ear | None = None
        self._course = Course()

    @property
    def number(self) -> int:
        """The exchange's ordinal in its session, from 1."""
        return self.exchange.number

    @property
    def may_fault(self) -> bool:
        """Could an entry match, whatever this exchange turns out to be?"""
        kinds: tuple[Kind, ...] = ("other", "llm") if self.exchange.kind == "other" else (self.exchange.kind,)
        return any(
            may_match(entry.on, replace(self.exchange, kind=kind))
            for entry in self._profile.entries
            for kind in kinds
        )

    # ------------------------------------------------------------ request

    def request(self, body: bytes | None) -> Departure:
        """Decide, now that the request is known; `body` is None where it was not held."""
        if body is None:
            return Departure(self.exchange.request)
        request = replace(self.exchange.request, body=body)
        if not self.holds_request:
            self.exchange = replace(self.exchange, request=request)
            return Departure(request)
        self._understand(request, body)
        self._lines.extend(retelling.returned(self.exchange, self._context.state))
        request = self._rewritten(self.exchange.request)
        self._plan = decide(self._profile, self._context.dice, self.exchange, self._context.state)
        self._note(self._plan)
        for decision in self._plan.decisions:
            self._course.add(self._running(decision))
        departure = Departure(request)
        departure.actions = self._depart(departure, request)
        return departure

    def _depart(self, departure: Departure, request: Request) -> Iterator[Action]:
        course = self._course
        yield from self._waits
        yield from self._after(course.depart())
        if course.answer is not None:
            self._context.state.broke(self.exchange.key, self.exchange.n)
            self.touches = course.touches
        elif not course.ended:
            request = self._retold(request)
            needs = course.needs
            for entry in self._plan.deferred if self._plan else ():
                needs |= entry.fault.needs
            if needs & (Need.BODY | Need.EVENTS):
                # A body that a fault must read, or may have to, has to come unpacked.
                request = unpacked(request)
        departure.settle(request, course.answer)

    def left_waiting(self) -> None:
        """The client left while a fault let time pass: the same request again is its retry."""
        self._context.state.broke(self.exchange.key, self.exchange.n)

    def _retold(self, request: Request) -> Request:
        """The request with every text that a fault changed, now or in an earlier request."""
        if self._protocol is None or self.exchange.view is None or request.body is None:
            return request
        for running in self._course.all:
            if running.mutator is not None and running.decision.verb == "fire":
                running.mutator.effect = running.mutator.effect or retelling.attack(
                    self._protocol,
                    request.body,
                    running.decision,
                    self._context.dice,
                    self.exchange,
                    self._context.state,
                )
        return with_body(request, retelling.again(self._protocol, request.body, self._context.state))

    def _understand(self, request: Request, body: bytes) -> None:
        """Classify with the body, view it, and number the logical call."""
        found = wire.classify(request, self._profile.tools)
        self._protocol = found.protocol
        view = None
        if found.protocol is not None:
            try:
                view = self._context.state.named(found.protocol.view(request))
            except WireError:
                # The agent's own malformed request is its business and the provider's; it goes on
                # unchanged, faultable by everything that needs no view.
                view = None
        known = replace(
            self.exchange,
            request=request,
            kind=found.kind,
            protocol=found.protocol.name if found.protocol else None,
            provider=found.provider,
            tool=found.tool,
            view=view,
            key=wire.fingerprint(request, found.kind),
        )
        self.exchange = self._context.state.identify(known)

    def _rewritten(self, request: Request) -> Request:
        """The request with every tool result that a fault replaced, now or in an earlier request.

        Clients resend their whole history, so a replaced result is replaced again in every later
        request: the story that the model reads never changes.
        """
        view, protocol, body = self.exchange.view, self._protocol, request.body
        if view is None or protocol is None or body is None:
            return request
        state = self._context.state
        signed = wire.is_signed(request)
        for key, result in retelling.known(view.results):
            if result.new and key not in state.rewrites:
                judged = retelling.judge(
                    self._profile, self._context.dice, self.exchange, (key, result), state
                )
                self._lines.extend(judged.lines)
                self._waits.extend(judged.waits)
            rewrite = state.rewrites.get(key)
            if rewrite is not None:
                try:
                    if signed:
                        raise WireError(wire.SIGNED)
                    body = protocol.replace_result(body, result, rewrite)
                except WireError as error:  # it can be read but not edited: it goes on as it is
                    line = state.untold.pop(key, None)
                    if line is not None:
                        unmet = replace(line, outcome="inapplicable", reason=error.message, effect=None)
                        self._lines.append(unmet)
            if key in state.untold:
                self._story[key] = state.untold[key]
        return with_body(request, body)

    def _told(self) -> tuple[FaultFired, ...]:
        """The lines on results that this request carried: met once the model has answered it."""
        if self.exchange.response is not None:
            return tuple(self._story.values())
        never = "the request that carries it was not answered; the next one will"
        return tuple(
            replace(line, outcome="preempted", reason=never, effect=None) for line in self._story.values()
        )

    # ------------------------------------------------------------ response

    def pending(self, response: Response) -> Iterator[Action]:
        """Upstream's head is there; what to do before anything of it is delivered."""
        self.exchange = replace(self.exchange, response=response)
        for key in self._story:
            self._context.state.untold.pop(key, None)
        if self._plan is None:
            return
        plan = decide_head(self._plan, self._context.dice, self.exchange, self._context.state)
        self._note(plan)
        for decision in plan.decisions:
            self._course.join(self._running(decision))
        yield from self._after(self._course.pending())

    def head(self, response: Response) -> Response:
        """The head to deliver; `touches` and `holds_response` are valid from here on."""
        if self.exchange.response is None:
            for _ in self.pending(response):  # whoever did not ask for them passes over them
                pass
        if self._plan is None:
            return response
        delivered = self._course.arrive(self.exchange)
        if delivered.status != response.status:
            self._context.state.broke(self.exchange.key, self.exchange.n)
        self.touches = self._course.touches
        self.holds_response = self._course.holds
        self._listen(delivered)
        return delivered

    def feed(self, data: bytes) -> Iterator[Action]:
        """What to do in place of sending these upstream bytes."""
        return self._after(self._course.feed(data) if self.touches else (Send(data),))

    def finish(self) -> Iterator[Action]:
        """What to do before the regular end of the response."""
        yield from self._after(self._course.finish() if self.touches else ())
        if self._ear is not None:
            self._context.state.learn(self._ear.end())

    def _after(self, actions: Iterable[Action]) -> Iterator[Action]:
        """The actions, with a note of what each means to later exchanges."""
        for action in actions:
            if isinstance(action, Cut | Reset):
                self._context.state.broke(self.exchange.key, self.exchange.n)
            elif self._ear is not None and isinstance(action, Send):
                self._context.state.learn(self._ear.hear(action.data))
            yield action

    def _listen(self, delivered: Response) -> None:
        """Note the calls of a conversation that the provider keeps: its next request names none."""
        replaces_results = any(isinstance(entry.fault, ResultFault) for entry in self._profile.entries)
        if self._protocol and replaces_results and self._protocol.keeps(self.exchange.request):
            self._ear = Ear(self._protocol, delivered)
            self.touches = True
            self.holds_response = self.holds_response or not framing.is_stream(delivered.headers)

    def closes(self, delivered: bytes) -> bool:
        """Do these last bytes hold the event that closes the stream? Some clients hang up right after
        it, before the message ends; for them the answer was whole."""
        response, protocol = self.exchange.response, self._protocol
        if response is None or protocol is None or not framing.is_stream(response.headers):
            return False
        return any(protocol.is_terminal(event) for event in framing.events(delivered, response.headers))

    # ------------------------------------------------------------ ledger

    def ledger(self) -> tuple[FaultFired, ...]:
        """Every decision on this exchange and what came of it."""
        return (*self._lines, *self._told(), *(_ran(running) for running in self._course.all))

    def _running(self, decision: Decision) -> Running:
        fault = decision.entry.fault
        mutator: Mutator | None = None
        if decision.verb == "fire":
            mutator = fault.start(self.exchange, self._held(decision))
        elif decision.verb == "skip":
            mutator = fault.watch(self.exchange)
        if mutator is not None:
            mutator.arrived(self._context.state.memory(decision.entry.id), self.exchange.at_s)
        return Running(decision, mutator)

    def _held(self, decision: Decision) -> FaultDice:
        subject = decision.subject
        return self._context.dice.held(decision.entry.id, subject.key, subject.n)

    def _note(self, plan: Plan) -> None:
        for decision in plan.decisions:
            if decision.counted:
                state, at_s = self._context.state, decision.at_s
                state.note(decision.entry.id, decision.subject, decision.call, at_s)


def _ran(running: Running) -> FaultFired:
    decision = running.decision
    if running.mutator is None or decision.verb != "fire":
        return decision.line()
    if running.dropped is not None:
        return decision.line(*running.dropped)
    effect = running.mutator.effect
    return decision.line("fired" if effect else "no_effect", effect=effect)
