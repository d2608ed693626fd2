"""`mcp_poisoned_description`: a tool's description gives orders to the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from faultwire import _core
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults.attack._payloads import FAMILIES, Family, Text, marked, pick
from faultwire.faults.mcp._asked import Relisted, ids, no_request, requests
from faultwire.wire.mcp import http as mcp

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange

_LIST = "tools/list"


class McpPoisonedDescription(Fault):
    """Write orders to the model into the descriptions that a server gives of its tools.

    What it does:
        Changes the answer to `tools/list`: the description of each tool that `tools` names ends with,
        begins with, or is nothing but a payload: `payload`, or one of our library's `families` by the
        dice. Names and schemas stay. With `canary: true` it holds a word that is looked for in everything
        that the agent sends later; the tape names each request in which it came back (the first one is
        the request that shows the model its tools).

    Why agents break:
        Descriptions go to the model with the authority of the agent's own instructions, before any tool
        is called. People approve a tool once by its name and never read the text.

    Real-world source:
        Tool poisoning and rug pulls: servers that were taken over, or that change a description after it
        was approved.

    Example:
        faults:
          - mcp_poisoned_description: {families: [tool_abuse]}
            trigger: {after_calls: 1}
    """

    name: ClassVar[str] = "mcp_poisoned_description"
    site: ClassVar[Site] = "response"
    needs: ClassVar[Need] = Need.REQUEST | Need.BODY | Need.EVENTS
    protocols: ClassVar[tuple[str, ...]] = ("mcp",)

    tools: Annotated[str | tuple[str, ...], Field(description="globs of the tools")] = "*"
    payload: Annotated[Text | None, Field(description="a text of your own; `{canary}` is filled in")] = None
    families: Annotated[
        tuple[Family, ...], Field(min_length=1, description="else: which families of the library")
    ] = FAMILIES
    position: Annotated[Literal["end", "start", "replace"], Field(description="where it stands")] = "end"
    canary: Annotated[bool, Field(description="whether its way is followed")] = True

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only lists of tools hold descriptions."""
        return super().inapplicable(exchange) or no_request(exchange, _LIST)

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Choose the payload."""
        texts = (self.payload,) if self.payload else None
        payload = marked(pick(texts, self.families, dice), dice, canary=self.canary)
        asked = ids(requests(exchange, _LIST))

        def describe(name: str, description: str) -> str:
            return self._poisoned(description, payload.text) if self._means(name) else description

        relisted = Relisted(
            lambda data: mcp.with_descriptions(data, asked, describe), "descriptions poisoned"
        )
        relisted.canary = payload.canary
        return relisted

    def _means(self, name: str) -> bool:
        globs = (self.tools,) if isinstance(self.tools, str) else self.tools
        return any(_core.glob_match(glob, name) for glob in globs)

    def _poisoned(self, description: str, payload: str) -> str:
        if self.position == "replace" or not description:
            return payload
        return f"{description}\n\n{payload}" if self.position == "end" else f"{payload}\n\n{description}"
