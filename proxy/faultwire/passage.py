"""The way of one exchange, from request head to ledger, without any socket or clock.

The shell (the proxy today; a tape or a test as well) hands in what it received and performs what
comes back. Whole bodies, live streams and recorded ones all take this one path:

    head → request(body) → Departure → head(response) → feed(bytes)… → finish() → ledger()
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.course import Course, Running
from faultwire.decide import decide, decide_head, decide_result
from faultwire.errors import WireError
from faultwire.events import Cut, Exchange, FaultFired, Reset, Send, header, with_header
from faultwire.faults._api import Need, ResultFault
from faultwire.profile.match import may_match
from faultwire.session import Subject

if TYPE_CHECKING:
    from faultwire.decide import Decision, Plan
    from faultwire.dice import Dice
    from faultwire.events import Action, Request, Response, ToolResult
    from faultwire.profile.model import Profile
    from faultwire.session import SessionState


@dataclass(frozen=True, slots=True)
class SessionContext:
    """What all exchanges of a session share. `name` is stable between runs: the dice depend on it."""

    name: str
    profile: Profile
    dice: Dice
    state: SessionState


@dataclass(frozen=True, slots=True)
class Departure:
    """What the shell does once it has the request.

    It performs `actions` in order (a `Cut` or `Reset` ends the exchange), then delivers `answer`
    without calling upstream, or else forwards `request`.
    """

    actions: tuple[Action, ...]
    request: Request
    answer: Response | None = None


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
        )
        self.holds_request = bool(self._profile.entries) and (
            any(may_match(entry.on, self.exchange) for entry in self._profile.entries)
            or (found.protocol is None and wire.may_be_model(head))
        )
        self.holds_response = False
        self.touches = False
        self._lines: list[FaultFired] = []
        self._plan: Plan | None = None
        self._course = Course()

    @property
    def number(self) -> int:
        """The exchange's ordinal in its session, from 1."""
        return self.exchange.number

    # ------------------------------------------------------------ request

    def request(self, body: bytes | None) -> Departure:
        """Decide, now that the request is known; `body` is None where it was not held."""
        self.exchange = replace(self.exchange, request=replace(self.exchange.request, body=body))
        if not self.holds_request or body is None:
            return Departure((), self.exchange.request)
        self._understand(body)
        request = self._rewritten(self.exchange.request)
        self._plan = decide(self._profile, self._context.dice, self.exchange, self._context.state)
        self._note(self._plan)
        for decision in self._plan.decisions:
            self._course.add(self._running(decision))
        actions, answer = self._course.depart()
        if self._course.ended:
            self._context.state.broke(self.exchange.key, self.exchange.n)
        elif self._course.needs & (Need.BODY | Need.EVENTS):
            # A body that a fault must read has to come unpacked.
            request = replace(request, headers=with_header(request.headers, "accept-encoding", "identity"))
        return Departure(tuple(actions), request, answer)

    def _understand(self, body: bytes) -> None:
        """Classify with the body, view it, and number the logical call."""
        request = self.exchange.request
        found = wire.classify(request, self._profile.tools)
        self._protocol = found.protocol
        view = None
        if found.protocol is not None:
            try:
                view = found.protocol.request_view(body)
            except WireError:
                # The agent's own malformed request is its business and the provider's; it goes on
                # unchanged, faultable by everything that needs no view.
                view = None
        known = replace(
            self.exchange,
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
        for result in view.results:
            if result.new and result.call_id not in state.rewrites:
                self._judge_result(result)
            rewrite = state.rewrites.get(result.call_id)
            if rewrite is not None:
                try:
                    body = protocol.replace_result(body, result, rewrite)
                except WireError as error:
                    self._unwritten(result, error)
        if body is request.body:
            return request
        headers = request.headers
        if header(headers, "content-length") is not None:
            headers = with_header(headers, "content-length", str(len(body)))
        return replace(request, body=body, headers=headers)

    def _unwritten(self, result: ToolResult, error: WireError) -> None:
        """A body that can be read but not edited goes on as it is, and the ledger takes back its word."""
        self._lines = [
            replace(line, outcome="inapplicable", reason=error.message, effect=None)
            if line.outcome == "fired" and line.subject == result.name
            else line
            for line in self._lines
        ]

    def _judge_result(self, result: ToolResult) -> None:
        """Decide on one new tool result, and remember the decision for its call id."""
        state = self._context.state
        key = wire.tool_key(result.name or "", result.arguments)
        subject = Subject(key, state.occurrence(key), 0, result.name)
        plan = decide_result(self._profile, self._context.dice, self.exchange, result, subject, state)
        self._note(plan)
        rewrite = None
        for decision in plan.decisions:
            fault = decision.entry.fault
            if decision.verb == "fire" and isinstance(fault, ResultFault):
                dice = self._context.dice.held(decision.entry.id, key, subject.n)
                rewrite = fault.rewrite(result, dice)
                effect = f"result of `{result.name}` replaced"
                self._lines.append(_line(decision, "fired", decision.reason, effect))
            else:
                self._lines.append(_line(decision, _quiet(decision), decision.reason))
        state.remember(result.call_id, rewrite)

    # ------------------------------------------------------------ response

    def head(self, response: Response) -> Response:
        """The head to deliver; `touches` and `holds_response` are valid from here on."""
        self.exchange = replace(self.exchange, response=response)
        if self._plan is None:
            return response
        plan = decide_head(self._plan, self._context.dice, self.exchange, self._context.state)
        self._note(plan)
        for decision in plan.decisions:
            self._course.join(self._running(decision))
        delivered = self._course.arrive(self.exchange)
        if delivered.status != response.status:
            self._context.state.broke(self.exchange.key, self.exchange.n)
        self.touches = self._course.touches
        self.holds_response = self._course.holds
        return delivered

    def feed(self, data: bytes) -> list[Action]:
        """What to do in place of sending these upstream bytes."""
        return self._after(self._course.feed(data)) if self.touches else [Send(data)]

    def finish(self) -> list[Action]:
        """What to do before the regular end of the response."""
        return self._after(self._course.finish()) if self.touches else []

    def _after(self, actions: list[Action]) -> list[Action]:
        if any(isinstance(action, Cut | Reset) for action in actions):
            self._context.state.broke(self.exchange.key, self.exchange.n)
        return actions

    # ------------------------------------------------------------ ledger

    def ledger(self) -> tuple[FaultFired, ...]:
        """Every decision on this exchange and what came of it."""
        return (*self._lines, *(_ran(running) for running in self._course.all))

    def _running(self, decision: Decision) -> Running:
        mutator = None
        if decision.verb == "fire":
            subject = decision.subject
            dice = self._context.dice.held(decision.entry.id, subject.key, subject.n)
            mutator = decision.entry.fault.start(self.exchange, dice)
        return Running(decision, mutator)

    def _note(self, plan: Plan) -> None:
        for decision in plan.decisions:
            if decision.counted:
                self._context.state.note(decision.entry.id, decision.subject, decision.call)


def _quiet(decision: Decision) -> str:
    return "inapplicable" if decision.verb == "inapplicable" else "skipped"


def _ran(running: Running) -> FaultFired:
    decision = running.decision
    if running.mutator is None:
        return _line(decision, _quiet(decision), decision.reason)
    if running.dropped is not None:
        outcome, reason = running.dropped
        return _line(decision, outcome, reason)
    effect = running.mutator.effect
    return _line(decision, "fired" if effect else "no_effect", decision.reason, effect)


def _line(decision: Decision, outcome: str, reason: str, effect: str | None = None) -> FaultFired:
    entry, subject = decision.entry, decision.subject
    return FaultFired(
        fault=entry.fault.name,
        id=entry.id,
        site=entry.fault.site,
        outcome=outcome,  # type: ignore[arg-type]
        reason=reason,
        key=subject.key,
        n=subject.n,
        attempt=subject.attempt,
        unit=decision.unit,
        subject=subject.name,
        effect=effect,
        settings=entry.fault.model_dump(mode="json", exclude_defaults=True),
    )
