"""Frozen values that cross borders between layers. No behaviour beyond reading themselves."""

from __future__ import annotations

from typing import Literal

from faultwire.history import (
    AgentResult as AgentResult,
    Arrival as Arrival,
    Bypass as Bypass,
    Delivery as Delivery,
    FailedHandshake as FailedHandshake,
    FaultFired as FaultFired,
    Headers as Headers,
    History as History,
    Kind as Kind,
    Message as Message,
    Outcome as Outcome,
    Recorded as Recorded,
    Request as Request,
    Side as Side,
    Verdict as Verdict,
    past as past,
)
from faultwire.plugins.frozen import dataclass

Path = tuple[str | int, ...]
"""Where a value stands in a JSON document: object keys and array indexes from the root."""


def header(headers: Headers, name: str, default: str | None = None) -> str | None:
    """The first value of a header field, names compared without case (RFC 9110 §5.1)."""
    wanted = name.lower()
    for key, value in headers:
        if key == name or key.lower() == wanted:
            return value
    return default


def with_header(headers: Headers, name: str, value: str | None) -> Headers:
    """`headers` with one field set in place (or appended), or removed where `value` is None."""
    wanted = name.lower()
    out: list[tuple[str, str]] = []
    done = value is None
    for key, old in headers:
        if key.lower() != wanted:
            out.append((key, old))
        elif not done and value is not None:
            out.append((key, value))
            done = True
    if not done and value is not None:
        out.append((name, value))
    return tuple(out)


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response; `body` is None while it streams or is not held."""

    status: int
    reason: str = ""
    headers: Headers = ()
    body: bytes | None = None


def with_held(request: Request, body: bytes | None) -> Request:
    """A request with its body, now that it was held. (`dataclasses.replace` takes several times as long.)"""
    return Request(
        request.method, request.scheme, request.host, request.port, request.path, request.headers, body
    )


# ---------------------------------------------------------------- what an exchange says


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call that the model made; `arguments` is JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """A tool's result inside an LLM request.

    `path` leads to the value that holds the result's content; `name` is None where no call with
    this id was seen; `new` means that it stands after the last assistant message.
    """

    call_id: str
    name: str | None
    arguments: str
    text: str
    is_error: bool
    path: Path
    new: bool
    earlier: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation."""

    role: str
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_results: tuple[ToolResult, ...] = ()


@dataclass(frozen=True, slots=True)
class RequestView:
    """What an LLM request says, whatever its protocol."""

    model: str
    stream: bool
    system: str = ""
    turns: tuple[Turn, ...] = ()
    tools: tuple[str, ...] = ()

    @property
    def results(self) -> tuple[ToolResult, ...]:
        """Every tool result in the conversation, oldest first."""
        return tuple(result for turn in self.turns for result in turn.tool_results)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that the provider counted. What follows the first two says what they hold."""

    input_tokens: int
    """All of the prompt: what was read from a cache, written to one or asked for by tools, too."""
    output_tokens: int
    """All of the answer, reasoning too."""
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    long_cache_write_tokens: int = 0
    """Those of the writes that are kept for an hour, which cost more (Anthropic)."""
    reasoning_tokens: int = 0
    audio_input_tokens: int = 0
    audio_output_tokens: int = 0
    tool_use_tokens: int = 0
    """Those of the input that a tool of the provider's own read (Gemini)."""

    def plus(self, other: Usage) -> Usage:
        """Both together."""
        names = self.__slots__
        return Usage(*(getattr(self, name) + getattr(other, name) for name in names))


@dataclass(frozen=True, slots=True)
class ResponseView:
    """What an LLM response says; `complete` is False where its closing event never came."""

    model: str = ""
    text: str = ""
    finish_reason: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    error: str | None = None
    complete: bool = True
    request_id: str | None = None
    """What the provider calls the request that it answers, where it says so."""
    answer_id: str | None = None
    """What the provider calls an answer that can be fetched again by that name."""

    @property
    def is_pending(self) -> bool:
        """Is it only the promise of an answer, to be fetched later? (OpenAI: `background`.)"""
        return self.finish_reason in ("queued", "in_progress")


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and, once it has come, its response, as faults and checks see it.

    `key` is the fingerprint of what was asked (volatile fields masked), `n` counts the earlier
    logical calls with that key in this session, `attempt` the SDK's retries of this logical call;
    `at_s` is how long the session had lasted when the request came, in seconds.
    """

    session: str
    number: int
    request: Request
    kind: Kind = "other"
    protocol: str | None = None
    provider: str | None = None
    tool: str | None = None
    view: RequestView | None = None
    response: Response | None = None
    key: str = ""
    n: int = 0
    attempt: int = 0
    at_s: float = 0.0
    agent: str | None = None
    """The agent that is called, by the name that the profile or its card gives it, else its host."""
    caller: str | None = None
    """The agent that calls, where its name is known."""
    history: str = ""
    """Digest of the conversation that the request holds, where the profile attacks conversations."""
    http2: bool = False
    """Does the client speak HTTP/2 to us?"""

    def answered(self, response: Response) -> Exchange:
        """The same with its response: what `dataclasses.replace` gives, in a fifth of the time."""
        return Exchange(
            self.session,
            self.number,
            self.request,
            self.kind,
            self.protocol,
            self.provider,
            self.tool,
            self.view,
            response,
            self.key,
            self.n,
            self.attempt,
            self.at_s,
            self.agent,
            self.caller,
            self.history,
            self.http2,
        )


# ---------------------------------------------------------------- what a fault does


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes on their way: one event of a framed stream or one message of a WebSocket, a whole body, or a
    piece.

    `index` counts chunks of this response from 0; `unit` says what the bytes are. `text` says of a
    WebSocket message whether it is text or binary, and is None of everything else; `more` says that the
    message goes on in the next chunk.
    """

    data: bytes
    index: int
    unit: Literal["event", "body", "bytes"]
    text: bool | None = None
    more: bool = False


@dataclass(frozen=True, slots=True)
class Send:
    """Deliver bytes: to the client, or a WebSocket message to either end.

    `text` None means: of the same type as the message that this stands for. With `more` the message goes
    on in the next `Send` to the same end (RFC 6455 §5.4).
    """

    data: bytes
    to: Side = "client"
    text: bool | None = None
    more: bool = False


@dataclass(frozen=True, slots=True)
class Wait:
    """Let time pass before the next action; holds no thread. `seconds` None: until the client leaves."""

    seconds: float | None


@dataclass(frozen=True, slots=True)
class Cut:
    """End here. `clean`: the message is closed as if it were whole (a WebSocket with code 1000); else the
    connection just ends (FIN)."""

    clean: bool = False


@dataclass(frozen=True, slots=True)
class Reset:
    """Abort the connection with a TCP RST; in HTTP/2 the stream, with this code (RFC 9113 §7)."""

    code: int | None = None


@dataclass(frozen=True, slots=True)
class Goaway:
    """Tell a client of HTTP/2 that its connection takes no more calls (RFC 9113 §6.8); no end of this one.

    `answered`: the call at hand is among those that are still answered, as all others under way are.
    """

    code: int = 0
    answered: bool = True


@dataclass(frozen=True, slots=True)
class Close:
    """Close a WebSocket towards the client with this code and reason (RFC 6455 §7.4). Anything else that
    is to be closed so just ends, as by `Cut`."""

    code: int
    reason: str = ""


Action = Send | Wait | Cut | Reset | Close | Goaway
