"""`dns_failure`: the name cannot be looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from faultwire.faults._api import Moment, Mutator
from faultwire.faults.connection._stage import ConnectionFault, NoTunnel, unavailable

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange, Response


class DnsFailure(ConnectionFault):
    """Fail the look-up of the host's name.

    What it does:
        Behind a proxy it is the proxy that looks names up, so the proxy reports the failure: CONNECT is
        answered with 502 and `proxy-status: …; error=dns_error` for a name that does not exist
        (`nxdomain`), or with 504 and `error=dns_timeout` where no name server answered (`timeout`).
        Plain HTTP and base-URL mode get the same answer in place of upstream's. It acts when a
        connection is made: match it with `host`, `provider` or `kind`, where a host counts as what it
        is known for. Calls are counted by connection.

    Why agents break:
        Every host fails at once, the fallback's included; the error is neither a status of the
        provider nor a time limit, and clients that cache a failed look-up go on failing after it.

    Real-world source:
        Broken resolvers in containers, expired domains, split-horizon DNS in company networks. The
        answers are those of RFC 9209 §2.3.1 and §2.3.2; an SDK sees a connection error.

    Example:
        faults:
          - dns_failure: {reason: nxdomain}
            on: {host: api.openai.com}
    """

    name: ClassVar[str] = "dns_failure"
    moments: ClassVar[tuple[Moment, ...]] = ("connection",)

    reason: Annotated[
        Literal["nxdomain", "timeout"], Field(description="no such name, or no name server that answers")
    ] = "nxdomain"

    def connect(self, exchange: Exchange) -> NoTunnel:
        """Answer as a proxy that could not look the name up."""
        answer = self.answer(exchange.request.host)
        late = "the name had been looked up: the connection was reset before TLS"
        return NoTunnel(answer, f"{self._effect()}: {answer.status} to CONNECT", late)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Start before upstream is called."""
        return _Unknown(self.answer(exchange.request.host), self._effect())

    def answer(self, host: str) -> Response:
        """What a proxy says of a name that it cannot look up."""
        if self.reason == "timeout":
            return unavailable(504, "Gateway Timeout", "dns_timeout", f"cannot look up {host}: timed out")
        error = 'dns_error; rcode="NXDOMAIN"'
        return unavailable(502, "Bad Gateway", error, f"cannot look up {host}: no such host")

    def _effect(self) -> str:
        return "the name was not found" if self.reason == "nxdomain" else "no name server answered"


class _Unknown(Mutator):
    replaces = True

    def __init__(self, answer: Response, effect: str) -> None:
        self._answer = answer
        self._effect = effect

    def answer(self) -> Response:
        self.effect = f"{self._effect}: answered {self._answer.status}"
        return self._answer
