"""`quota_exceeded`: the money is used up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.faults._api import Fault, Mutator, Site
from faultwire.faults._mutators import Answered
from faultwire.faults._settings import ErrorText
from faultwire.faults._wire import error_answer, failure_answer

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange


class QuotaExceeded(Fault):
    """Answer that the account's quota or credit is used up.

    What it does:
        Gives the provider's own error for it: OpenAI's 429 with `insufficient_quota`, Anthropic's 400
        about the credit balance, 402 elsewhere. Upstream is not called.

    Why agents break:
        It looks like a rate limit and never ends: SDKs repeat the 429, agents wait a minute and try
        again for hours. The other provider's 400 looks like a mistake in the request.

    Real-world source:
        Monthly limits, prepaid credit, a loop that spent the month's budget over night.

    Example:
        faults:
          - quota_exceeded:
            on: {kind: llm}
            trigger: {after_calls: 10}
    """

    name: ClassVar[str] = "quota_exceeded"
    site: ClassVar[Site] = "response"
    answers: ClassVar[bool] = True

    message: Annotated[ErrorText | None, Field(description="what the error says; else what is usual")] = None

    @property
    def final(self) -> bool:
        """Its answer is the only one."""
        return True

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Make up the answer."""
        answer = failure_answer(exchange, "quota_exceeded", self.message)
        return Answered(answer or error_answer(exchange, 402, message=self.message))
