"""`indirect_injection`: a tool's result gives the model orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.faults._api import ResultFault
from faultwire.faults.attack import _carrier
from faultwire.faults.attack._payloads import FAMILIES, Family, Text, marked, pick
from faultwire.wire.types import Rewrite

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import ToolResult


class IndirectInjection(ResultFault):
    """Plant instructions in a tool's result.

    What it does:
        Adds a payload to what the model reads as a tool's result, encoded for what carries it: a JSON
        string, YAML, a Python literal, HTML, Markdown or prose parse as before, and all around it is
        untouched. The payload is one of `payloads`, or one of our library's `families`, by the dice.
        With `canary: true` it holds a word that is looked for in everything that the agent sends later;
        the tape names each request in which it came back.

    Why agents break:
        A model cannot tell data from orders. Whoever can write into a web page, a ticket or a mail that
        the agent reads can make it act with the agent's rights.

    Real-world source:
        Hidden text on web pages, calendar invitations, issue comments, file names.

    Example:
        faults:
          - indirect_injection: {families: [exfiltration], position: middle, disguise: comment}
            on: {tool: fetch_page}
    """

    name: ClassVar[str] = "indirect_injection"

    payloads: Annotated[
        tuple[Text, ...] | None,
        Field(max_length=1_000, description="texts of your own; `{canary}` is filled in"),
    ] = None
    families: Annotated[
        tuple[Family, ...], Field(min_length=1, description="else: which families of the library")
    ] = FAMILIES
    position: Annotated[
        _carrier.Position, Field(description="where in the result; `field`: the longest text")
    ] = "end"
    disguise: Annotated[_carrier.Disguise, Field(description="what the payload poses as")] = "plain"
    canary: Annotated[bool, Field(description="whether its way is followed")] = True

    def rewrite(self, result: ToolResult, dice: FaultDice) -> Rewrite:
        """The result with the payload in it."""
        payload = marked(pick(self.payloads, self.families, dice), dice, canary=self.canary)
        text = _carrier.planted(result.text, payload.text, self.position, self.disguise)
        return Rewrite(text, is_error=result.is_error, raw=True, canary=payload.canary)
