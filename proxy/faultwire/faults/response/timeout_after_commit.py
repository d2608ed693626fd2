"""`timeout_after_commit`: the work is done, and the caller gets a timeout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from faultwire.faults._api import Fault, Mutator, Site
from faultwire.faults._mutators import Replaced
from faultwire.faults._settings import ErrorText
from faultwire.faults._wire import error_answer

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange, Response


class TimeoutAfterCommit(Fault):
    """Let a call succeed and tell the caller that it timed out.

    What it does:
        Upstream really gets the call and carries it out; where it reports success, a gateway's timeout
        takes the place of its answer. A call that failed by itself is left alone, since nothing was
        done.

    Why agents break:
        A timeout says nothing about whether the work was done. SDKs and agents repeat the call: two
        payments, two e-mails, two tickets. Only an idempotency key or a look at the state helps.

    Real-world source:
        Gateways give up after 30 or 60 s while the server goes on working.

    Example:
        faults:
          - timeout_after_commit:
            on: {tool: create_order}
            trigger: {attempts: first}
    """

    name: ClassVar[str] = "timeout_after_commit"
    site: ClassVar[Site] = "response"
    answers: ClassVar[bool] = True

    code: Annotated[Literal[408, 504], Field(description="the status of the timeout")] = 504
    message: Annotated[ErrorText | None, Field(description="what the error says; else what is usual")] = None

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only what succeeded was carried out."""
        why = super().inapplicable(exchange)
        if why is None and exchange.response is not None and exchange.response.status >= 400:
            return f"upstream answered {exchange.response.status}, so nothing was done"
        return why

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Make up the answer."""
        return _Committed(error_answer(exchange, self.code, message=self.message))


class _Committed(Replaced):
    def head(self, response: Response) -> Response:
        effect = super().head(response)
        self.effect = f"upstream did it ({response.status}), and a timeout ({effect.status}) was told"
        return effect
