"""`garbage`: the model talks nonsense."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from faultwire.faults._changing import AnswerFault
from faultwire.wire.editing.api import Change

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange

_SYLLABLES = (
    "ka",
    "lo",
    "ми",
    "же",
    "ता",
    "中",
    "ux",
    "##",
    "zi",
    "ø",
    "\ufffd",
    "же",
    "qu",
    "</",
    "れ",
    "an",
)
MOST = 400
"""Words of nonsense, at most."""


class Garbage(AnswerFault):
    """Replace what the model says with nonsense.

    What it does:
        Puts as many made-up words in the place of the text, whole or streamed: mixed scripts, stray
        marks and replacement characters, chosen by the dice. Tool calls stay, unless `tool_calls` is false.

    Why agents break:
        It is a well-formed answer with a proper finish reason, so no check of the transport sees it.
        Agents pass it on to the next step, which makes sense of it as best it can.

    Real-world source:
        A temperature that is set too high, a broken quantised model, a server that mixes up sessions.

    Example:
        faults:
          - garbage:
            on: {kind: llm}
            trigger: {probability: 0.05}
    """

    name: ClassVar[str] = "garbage"
    did: ClassVar[str] = "text replaced with nonsense"

    tool_calls: Annotated[bool, Field(description="whether tool calls stay")] = True

    def change(self, exchange: Exchange, dice: FaultDice) -> Change:
        """The same number of words, without a meaning."""
        return Change(text=lambda text: nonsense(text, dice), calls=None if self.tool_calls else lambda _: ())


def nonsense(text: str, dice: FaultDice) -> str:
    """As many words of nonsense as the text has words; nothing where it has none."""
    count = min(len(text.split()), MOST)
    return " ".join(
        "".join(dice.choice(_SYLLABLES, f"word {word} part {part}") for part in range(2 + word % 3))
        for word in range(count)
    )
