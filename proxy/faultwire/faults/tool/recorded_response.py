"""`recorded_response`: a tool answers what a session recorded, answer by answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from faultwire.events import Response, Wait
from faultwire.faults._api import Due, Mutator, ResultFault
from faultwire.faults._settings import HeaderFields, Milliseconds
from faultwire.wire import tool_site
from faultwire.wire.editing import answers as http_answers
from faultwire.wire.types import Rewrite

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.dice import FaultDice
    from faultwire.events import Action, Exchange, ToolResult
    from faultwire.faults._api import Memory
    from faultwire.wire.tool_sites import ToolSite

NoneLeft = Literal["refuse", "pass", "repeat"]
TAKEN = "\x00taken"
"""How many calls came before, in the entry's memory: no tool has this name."""


def answerable(status: int | None) -> int | None:
    """A status that can be given. Raises ValueError."""
    if status and not 200 <= status <= 599:
        raise ValueError(f"found status {status}, expected 200 to 599, or 0 for a failure without one")
    return status


class RecordedAnswer(BaseModel):
    """One answer of a tool: `response` is a text or any JSON value, None where nothing is known of it."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    response: Any = None
    status: Annotated[int, AfterValidator(answerable)] = 200
    latency_ms: Milliseconds = 0
    headers: HeaderFields = {}

    @property
    def failed(self) -> bool:
        """Is it an error?"""
        return self.status == 0 or self.status >= 400

    @property
    def text(self) -> str:
        """The body, or the result's text."""
        if isinstance(self.response, str):
            return self.response
        return "" if self.response is None else json.dumps(self.response, ensure_ascii=False)

    @property
    def words(self) -> str:
        """What a model reads: where nothing but the status is known, what an HTTP client says of it."""
        if self.response is not None or not self.failed:
            return self.text
        if not self.status:
            return "Error: the tool failed"
        side = "Client" if self.status < 500 else "Server"
        return f"Error: {self.status} {side} Error: {http_answers.reason(self.status) or 'unknown'}"


class RecordedResponse(ResultFault):
    """Let a tool answer what was recorded of it, one answer after the other.

    What it does:
        Every call of the tool gets the next of `responses`, with its status and after its latency. A
        tool that is called on the wire is not called: over HTTP the agent gets status and body, by MCP
        a result, with `isError` for a status from 400 on. Of any other tool the result in the request
        to the model is replaced; that tool has run. Each request on the wire is a call, an SDK's
        retries, too. A call with none left is refused (422 over HTTP, else an error in words); or
        passed on, or given the last answer again, as `none_left` says; the ledger tells either.

    Why agents break:
        They break as they did then: it is the incident itself.

    Real-world source:
        Incident sessions, made from a tape, a trace or by hand. `faultwire replay run` writes this
        entry for each tool that a session names.

    Example:
        faults:
          - recorded_response:
              responses:
                - {status: 504, latency_ms: 30000}
                - {response: {hits: 3}}
            on: {tool: web_search}
    """

    name: ClassVar[str] = "recorded_response"
    calls_tool: ClassVar[bool] = False

    responses: Annotated[
        tuple[RecordedAnswer, ...],
        Field(min_length=1, description="answers in order: `response`, `status`, `latency_ms`, `headers`"),
    ]
    none_left: Annotated[NoneLeft, Field(description="what becomes of a call after the last")] = "refuse"
    optional: Annotated[bool, Field(description="whether a session proves anything without the tool")] = False

    @property
    def required(self) -> bool:
        """A session in which a tool was never called is not the one that was recorded."""
        return not self.optional

    def non_default_settings(self) -> dict[str, Any]:
        """Without the bodies: each line of the ledger would repeat them all."""
        settings = super().non_default_settings()
        for short, answer in zip(settings["responses"], self.responses, strict=True):
            if answer.response is not None:
                short["response"] = f"{len(answer.text.encode('utf-8', 'surrogatepass'))} bytes"
        return settings

    def inapplicable(self, exchange: Exchange) -> str | None:
        """One message that calls a tool several times by MCP is left alone: its answers have no order."""
        why = super().inapplicable(exchange)
        site = tool_site(exchange) if why is None and exchange.response is None else None
        several = len(getattr(site, "ids", ())) > 1
        return "one message calls the tool several times" if several else why

    def rewrite(self, result: ToolResult, dice: FaultDice) -> Rewrite:
        """The first answer; `due` chooses among a session's calls."""
        return _as_result(self.responses[0])

    def due(self, result: ToolResult, dice: FaultDice, memory: Memory) -> Due:
        """The answer to one more call."""
        answer, effect = self.next(memory, result.name or "")
        if answer is None:
            return Due(None)
        return Due(_as_result(answer), answer.latency_ms / 1000, effect)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Answer at the tool's own exchange."""
        site = tool_site(exchange)
        return Mutator() if site is None else _AtOwn(self, site)

    def next(self, memory: Memory, tool: str) -> tuple[RecordedAnswer | None, str]:
        """What one more call gets, and that in words; None where it is passed on."""
        number = memory.get(TAKEN, 0) + 1
        memory[TAKEN] = number
        of = len(self.responses)
        if number <= of:
            answer = self.responses[number - 1]
            late = f" after {answer.latency_ms:g} ms" if answer.latency_ms else ""
            return answer, f"call {number} of `{tool}` got recorded answer {number} of {of}{late}"
        text = f"call {number} of `{tool}` found none of {of} recorded answers left"
        if self.none_left == "repeat":
            return self.responses[-1], f"{text}: it got the last one again"
        if self.none_left == "pass":
            return None, f"{text}: it was passed on"
        return RecordedAnswer(response=f"faultwire: {text}", status=422), f"{text}: it was refused"


def _as_result(answer: RecordedAnswer) -> Rewrite:
    return Rewrite(answer.words, is_error=answer.failed, raw=True)


class _AtOwn(Mutator):
    """Answers a call at the tool's own exchange."""

    def __init__(self, fault: RecordedResponse, site: ToolSite) -> None:
        self._fault = fault
        self._site = site
        self._answer: RecordedAnswer | None = None
        self._words = ""

    def arrived(self, memory: Memory, at_s: float) -> None:
        """Take the next answer: two calls at once never get the same one."""
        super().arrived(memory, at_s)
        self._answer, self._words = self._fault.next(memory, self._site.call.name)

    def before(self) -> Iterable[Action]:
        """The recorded latency; an agent that leaves before it is over was hit by the delay."""
        if self._answer is not None and self._answer.latency_ms > 0:
            self.effect = self._words
            yield Wait(self._answer.latency_ms / 1000)

    def answer(self) -> Response | None:
        """The recorded answer."""
        if self._answer is None:
            return None
        self.effect = self._words
        if self._site.name != "http":
            response = self._site.answer(_as_result(self._answer), self._answer.status or 500)
            return response if self._answer.failed else _typed(response, self._answer.text)
        return _as_http(self._answer, refused=self._answer not in self._fault.responses)


def _typed(response: Response, text: str) -> Response:
    """A result with its typed half as well, in the form that SDKs give it: clients of a tool with an
    `outputSchema` refuse a result without one."""
    message = json.loads(response.body or b"")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    message["result"]["structuredContent"] = value if isinstance(value, dict) else {"result": value}
    return http_answers.answer(response.status, json.dumps(message).encode(), "application/json")


def _as_http(answer: RecordedAnswer, *, refused: bool) -> Response:
    body = b"" if answer.status in (204, 205, 304) else answer.text.encode("utf-8", "replace")
    like_json = answer.text.lstrip()[:1] in ("{", "[") or not isinstance(answer.response, str | None)
    given = {name.lower(): value for name, value in answer.headers.items()}
    kind = given.pop("content-type", "application/json" if like_json else "text/plain; charset=utf-8")
    fields = tuple(given.items()) + ((("x-should-retry", "false"),) if refused else ())
    return http_answers.answer(answer.status or 500, body, kind, *fields)
