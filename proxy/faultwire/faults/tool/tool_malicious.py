"""`tool_malicious`: a tool returns an attack in place of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.faults._api import ResultFault
from faultwire.faults.attack._payloads import FAMILIES, Family, Text, marked, pick
from faultwire.wire.types import Rewrite

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import ToolResult


class ToolMalicious(ResultFault):
    """Let a tool return nothing but orders to the model.

    What it does:
        Replaces a tool's result with a payload: `payload`, or one of our library's `families` by the
        dice. Where the result was JSON the payload stands in a JSON object. With `canary: true` it
        holds a word that is looked for in everything that the agent sends later; the tape names each
        request in which it came back.

    Why agents break:
        Nothing of the real result is left, so a model that wants to go on has only the attacker's words
        to go on with.

    Real-world source:
        Taken-over tools and packages, expired domains, servers behind a tool that changed hands.

    Example:
        faults:
          - tool_malicious: {families: [tool_abuse]}
            on: {tool: web_search}
            trigger: {probability: 0.5}
    """

    name: ClassVar[str] = "tool_malicious"

    payload: Annotated[Text | None, Field(description="a text of your own; `{canary}` is filled in")] = None
    families: Annotated[
        tuple[Family, ...], Field(min_length=1, description="else: which families of the library")
    ] = FAMILIES
    canary: Annotated[bool, Field(description="whether its way is followed")] = True

    def rewrite(self, result: ToolResult, dice: FaultDice) -> Rewrite:
        """The payload alone."""
        texts = (self.payload,) if self.payload else None
        payload = marked(pick(texts, self.families, dice), dice, canary=self.canary)
        return Rewrite(payload.text, canary=payload.canary)
