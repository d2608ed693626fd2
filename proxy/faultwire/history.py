"""What is known of exchanges that are over: as a tape holds them, and as checks judge them.

Frozen values, as those in `faultwire.events`, which gives them out with its own.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from faultwire.plugins.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

Headers = tuple[tuple[str, str], ...]
"""Header fields in order, names as sent; values decoded as Latin-1, so that bytes survive."""

Kind = Literal["llm", "tool", "agent", "other"]
Side = Literal["client", "server"]
"""One end of an exchange: the agent, or whom it talks to."""

BYPASSES_NAMED = 5
"""Addresses past the proxy that a sentence names."""


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request. `path` includes the query; `body` is None while (or if never) held."""

    method: str
    scheme: str
    host: str
    port: int
    path: str
    headers: Headers = ()
    body: bytes | None = None

    @property
    def url(self) -> str:
        """The absolute URL; a default port is left out."""
        default = {"https": 443, "http": 80}.get(self.scheme)
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}{'' if self.port == default else f':{self.port}'}{self.path}"


Outcome = Literal["fired", "skipped", "inapplicable", "no_effect", "preempted", "returned", "reapplied"]


@dataclass(frozen=True, slots=True)
class FaultFired:
    """One line of the ledger: what a fault decided on an exchange, why, and what it did.

    Only `outcome == "fired"` means that the fault reached the agent; `returned` means that a canary which it
    planted earlier came back in this request, and `reapplied` that an attack on an earlier request of the
    conversation stands in this one, too. `unit` is the roll, where one was made; it stays in memory
    (`tape.records` says why). `effect` says what was done in words.
    """

    fault: str
    id: str
    site: str
    outcome: Outcome
    reason: str
    key: str
    n: int
    attempt: int
    unit: float | None = None
    subject: str | None = None
    effect: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Delivery:
    """A response as one side saw it: `chunks` are (end offset in body, ns since the request began)."""

    status: int
    reason: str
    headers: Headers
    body: bytes
    chunks: tuple[tuple[int, int], ...] = ()
    trailers: Headers = ()


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a WebSocket, on its way from `by` to the other end.

    Instants are nanoseconds since the request began. `sent_ns` None: `by` never sent it, a fault made it;
    `delivered_ns` None: the other end never got it. A message that a fault changed is therefore two: what
    was said, and what was delivered. `kind` `close` is the Close frame, with its `code` (1005: it has
    none; 1006: the connection ended without one) and its reason as `data`.
    """

    by: Side
    kind: Literal["text", "binary", "close"]
    data: bytes
    sent_ns: int | None
    delivered_ns: int | None
    code: int | None = None


@dataclass(frozen=True, slots=True)
class Arrival:
    """The client's connection that a request came on, and what its session had open beside it.

    `connection` is its ordinal among those of the engine, `request` that of the request on it, both from 1.
    When the request came the connection had been open for `open_ms`, and ready for a request (behind its
    TLS handshake) for `ready_ms`. `others` connections were open when it was opened, and `unused` ones
    that had not carried any request yet when the request came.
    """

    connection: int
    request: int
    open_ms: float
    ready_ms: float
    others: int
    unused: int


@dataclass(frozen=True, slots=True)
class Recorded:
    """One exchange as a tape holds it.

    `upstream` is what the server sent (None: it was never called), `delivered` what the client got
    (None: nothing). They are equal where no fault acted. `ending` is how the exchange ended.

    `kind` to `attempt` are those of `Exchange`, with one difference: `key` is the fingerprint of the
    request as the tape holds it, without its secrets. `messages` are those of a WebSocket, in the order
    in which their fate was known.
    """

    session: str
    number: int
    kind: Kind
    protocol: str | None
    provider: str | None
    tool: str | None
    request: Request
    upstream: Delivery | None
    delivered: Delivery | None
    ending: Literal[
        "complete", "open", "client_aborted", "upstream_aborted", "cut", "closed", "reset", "refused"
    ]
    error: str | None
    attempt: int
    started_ms: int
    duration_ms: float
    faults: tuple[FaultFired, ...] = ()
    key: str = ""
    n: int = 0
    messages: tuple[Message, ...] = ()
    http2: bool = False
    """Did the client speak HTTP/2?"""
    arrival: Arrival | None = None
    """How its request came; None where nobody saw it come (imports, tapes of older versions)."""


@dataclass(frozen=True, slots=True)
class Bypass:
    """An address that a process of the agent was seen connected to, not through the proxy.

    `host` is a name that the proxy itself reached at this address, where it knows exactly one.
    """

    address: str
    port: int
    transport: Literal["tcp", "udp"] = "tcp"
    host: str | None = None

    @property
    def text(self) -> str:
        """For example `203.0.113.5:443`, or `api.example (203.0.113.5:443/udp)`."""
        address = f"[{self.address}]" if ":" in self.address else self.address
        place = f"{address}:{self.port}{'/udp' if self.transport == 'udp' else ''}"
        return f"{self.host} ({place})" if self.host else place


def past(bypassed: Sequence[Bypass], more: int = 0) -> str:
    """What went past the proxy, in words; `more` addresses are not among those given."""
    named = [one.text for one in bypassed[:BYPASSES_NAMED]]
    left = len(bypassed[BYPASSES_NAMED:]) + more
    if left:
        named.append(f"and {left} more" if named else f"{left} {'address' if left == 1 else 'addresses'}")
    return f"went past the proxy: {', '.join(named)}"


@dataclass(frozen=True, slots=True)
class FailedHandshake:
    """TLS handshakes for one host that clients of the proxy gave up, so that their calls are not to be seen.

    `refused`: they said that they do not take the certificate. `closed`: they closed the connection in or
    right after the handshake, and said nothing in another connection to this host either. `program` is the
    client's, where known.
    """

    host: str
    reason: Literal["refused", "closed"]
    count: int
    program: str | None = None

    @property
    def text(self) -> str:
        """For example `` `node` refused faultwire's certificate for `api.example` (2 handshakes) ``."""
        name = self.program.rpartition("/")[2] if self.program else ""
        who = f"`{name}`" if name else "a client"
        times = "1 handshake" if self.count == 1 else f"{self.count} handshakes"
        if self.reason == "refused":
            return f"{who} refused faultwire's certificate for `{self.host}` ({times})"
        return f"{who} did not go on after faultwire showed its certificate for `{self.host}` ({times})"


@dataclass(frozen=True, slots=True)
class AgentResult:
    """How one invocation of the agent ended. `exit_code` is negative for a signal, None while unknown."""

    answer: str
    exit_code: int | None
    duration_s: float
    stderr: str = ""
    timed_out: bool = False
    misplaced: str = ""
    """What stood where the configuration looks for the answer, where an answer came and this was not it."""


@dataclass(frozen=True, slots=True)
class History:
    """All that is known of one session: its traffic in order, and how the agent ended.

    `voids` says why nothing was learned from it, where that is so; `notes` what traffic there was that
    became no exchange.
    """

    session: str
    exchanges: tuple[Recorded, ...]
    agent: AgentResult | None = None
    voids: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    prompt: str | None = None
    """What the agent was asked, where whoever ran it says so."""
    baseline: str | None = None
    """What it answered to the same prompt while nothing was broken, where that is known."""
    remarks: tuple[str, ...] = ()
    """Further notes, for reports; no check reads them."""
    bypassed: tuple[Bypass, ...] = ()
    """Where its processes were seen connected past the proxy; empty is no proof that there was nothing."""
    forwarded: tuple[tuple[int, Request], ...] = ()
    """The requests that faults changed on their way, as the server got them, by number of the exchange."""
    calm: tuple[History, ...] = ()
    """The runs of the same prompt while nothing was broken, where there are any and this is none of them."""

    @property
    def fired(self) -> tuple[FaultFired, ...]:
        """Every fault that fired."""
        return tuple(f for e in self.exchanges for f in e.faults if f.outcome == "fired")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A check's judgement; `exchanges` are the numbers of those that prove it."""

    verdict: Literal["pass", "fail", "unknown"]
    explanation: str
    value: Any = None
    exchanges: tuple[int, ...] = ()
