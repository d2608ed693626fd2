"""`replace`: a marked place in a tool's result becomes an attack."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from faultwire.faults._api import ResultFault
from faultwire.faults.attack._spans import SpanSettings
from faultwire.wire.types import Rewrite

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import ToolResult


class Replace(SpanSettings, ResultFault):
    """Replace a span of a tool's result by a payload.

    What it does:
        Looks for `find` (a canary that stands in the data, or any other text) in a tool's result, and puts
        a payload in its place: `payload`, or one of our library's `families` by the dice. `spans` names
        several at once, each with its own. The result is read by its own syntax (JSON, YAML, a Python
        literal, HTML, CSV, Markdown, or prose), also where one is inside of another, and the payload is
        escaped, quoted or folded for it. A payload that its carrier cannot carry is not placed: the ledger
        says `no_effect`.

    Why agents break:
        A mail, a page or a ticket holds text that somebody else wrote. The rest of the result is what the
        agent asked for, so nothing about it is conspicuous.

    Real-world source:
        Subjects of bank transfers, reviews, calendar entries: fields that strangers fill in.

    Example:
        faults:
          - replace: {find: "<CANARY>", families: [authority]}
            on: {tool: read_mail}
    """

    name: ClassVar[str] = "replace"

    def rewrite(self, result: ToolResult, dice: FaultDice) -> Rewrite | None:
        """The result with payloads in place of the spans; None where it has none."""
        text, canary = self.replaced(result.text, dice)
        if text is None:
            return None
        return Rewrite(text, is_error=result.is_error, raw=True, canary=canary)
