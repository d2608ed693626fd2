"""`auth_error`: the key is not accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from faultwire.faults._api import Fault, Mutator, Site
from faultwire.faults._mutators import Answered
from faultwire.faults._settings import ErrorText
from faultwire.faults._wire import error_answer

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange


class AuthError(Fault):
    """Answer that the caller may not do this.

    What it does:
        Gives the provider's own 401 (a wrong key) or 403 (a key without the right to it). Upstream is
        not called, and the agent's real key appears nowhere.

    Why agents break:
        Nothing repeats this error, so it reaches code that was never run: agents ask the user for a
        key, print the one they have, or go on with a tool that needs none.

    Real-world source:
        Keys that were rotated or leaked and revoked, projects that were moved, expired trials.

    Example:
        faults:
          - auth_error: {code: 401}
            on: {kind: llm}
            trigger: {after_calls: 3}
    """

    name: ClassVar[str] = "auth_error"
    site: ClassVar[Site] = "response"
    answers: ClassVar[bool] = True

    code: Annotated[Literal[401, 403], Field(description="not known, or not allowed")] = 401
    message: Annotated[ErrorText | None, Field(description="what the error says; else what is usual")] = None

    @property
    def final(self) -> bool:
        """Its answer is the only one."""
        return True

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Make up the answer."""
        return Answered(error_answer(exchange, self.code, message=self.message))
