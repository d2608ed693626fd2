"""The shape of one exchange in a report: models of `report.exchange` and `report.conversation`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Verdict = Literal["pass", "fail", "unknown"]
Severity = Literal["critical", "high", "medium", "low"]


class Part(BaseModel):
    """A part of a report: exactly these keys, each of exactly its type."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


class Body(Part):
    """A body: its length, and its beginning as text (JSON indented)."""

    bytes: Count
    text: str


class Request(Part):
    """A request; header fields as pairs, in order."""

    method: str
    url: str
    headers: list[tuple[str, str]]
    body: Body


class Delivery(Part):
    """A response as upstream sent it or as the agent received it."""

    status: int
    reason: str
    headers: list[tuple[str, str]]
    body: Body


class Fault(Part):
    """A fault decision on this exchange: outcome, reason and effect."""

    id: str
    fault: str
    site: str
    outcome: Literal["fired", "skipped", "inapplicable", "no_effect", "preempted", "returned", "reapplied"]
    reason: str
    effect: str | None
    subject: str | None
    roll: float | None
    settings: dict[str, Any]


class Call(Part):
    """A tool call of the model; `arguments` is JSON text as it wrote it."""

    id: str
    name: str
    arguments: str


class Result(Part):
    """A tool result as the model received it."""

    id: str
    name: str | None
    text: str
    is_error: bool


class Turn(Part):
    """One message of a conversation."""

    role: str
    text: str
    calls: list[Call]
    results: list[Result]


class Tokens(Part):
    """The provider's token counts: all that was read and all that was written, and what of it was of another
    kind, 0 where the provider counts none."""

    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    audio_input: int = 0
    audio_output: int = 0
    tool_use: int = 0


class Answer(Part):
    """A model's answer; `complete` is false if its closing event is missing."""

    text: str
    calls: list[Call]
    finish_reason: str | None
    complete: bool
    error: str | None
    request_id: str | None
    tokens: Tokens | None


class Conversation(Part):
    """The conversation of an exchange. Of `turns` the last `new` are new; `told` reached the model in
    place of others; `said` is the model's own answer, where the agent got another `answer`. `cost_usd` is
    None where a price or the usage is not known; `prices_as_of` is the day of the table of prices,
    `unknown` for a table without one."""

    model: str
    tools: list[str]
    turns: list[Turn]
    turns_not_shown: Count
    new: Count
    told: list[Turn]
    answer: Answer | None
    said: Answer | None
    problem: str | None
    first_event_ms: float | None
    cost_usd: str | None
    prices_as_of: str | None = None


class Event(Part):
    """One event of a stream, and when it was delivered."""

    at_ms: float | None
    text: str


class Stream(Part):
    """A stream event by event: what came, and what was `withheld`."""

    said: Count
    delivered: Count
    partial_bytes: Count
    events: list[Event]
    events_not_shown: Count
    withheld: list[str]
    withheld_not_shown: Count


class Exchange(Part):
    """One request and its response. `sent` is the request that went on, where it is another; `upstream`
    what the server sent, where that is not what was `delivered` to the agent."""

    number: int
    kind: Literal["llm", "tool", "agent", "other"]
    protocol: str | None
    provider: str | None
    tool: str | None
    attempt: Count
    ending: Literal[
        "complete", "open", "client_aborted", "upstream_aborted", "cut", "closed", "reset", "refused"
    ]
    error: str | None
    offset_ms: int
    duration_ms: float
    faults: list[Fault]
    request: Request
    sent: Request | None
    upstream: Delivery | None
    upstream_called: bool
    delivered: Delivery | None
    changed: bool
    conversation: Conversation | None
    request_id: str | None
    stream: Stream | None


class LineageExchange(Part):
    """An exchange in the lineage; `unread` says why its bytes were not looked at, where that is so."""

    number: Count
    label: str
    unread: str | None


class LineageEdge(Part):
    """Bytes of exchange `source` that stand in exchange `target` (null: in the agent's output), with the
    evidence in words; `later` are the exchanges that repeat the same."""

    source: Count | None
    target: Count | None
    kind: Literal["exact", "near", "canary", "history"]
    later: list[int]
    words: str


class Lineage(Part):
    """Which bytes of an invocation's answers reached which later request."""

    exchanges: list[LineageExchange]
    edges: list[LineageEdge]
    edges_not_shown: Count


class TopologyPlace(Part):
    """One end of an edge; the name of an unknown sender is null."""

    kind: Literal["agent", "mcp", "tool", "model", "unknown"]
    name: str | None


class TopologyEdge(Part):
    """All requests from one place to another: `failed` of the `calls`, and `other` ones (cards, handshakes);
    `faults` that fired on them; `exchanges` are the first of them."""

    sender: TopologyPlace
    receiver: TopologyPlace
    transport: Literal["a2a", "mcp", "http"]
    calls: Count
    failed: Count
    other: Count
    faults: dict[str, Count]
    why_unknown: dict[str, Count]
    exchanges: list[Count]


class UnseenEdge(Part):
    """An edge that the profile names and that no request took."""

    sender: str
    receiver: str


class Topology(Part):
    """Who called whom in an invocation."""

    places: list[TopologyPlace]
    edges: list[TopologyEdge]
    unseen: list[UnseenEdge]
    unknown_senders: Count
    left_out: Count
    edges_not_shown: Count
