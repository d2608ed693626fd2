"""The invariant that the answer is JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire import _core
from faultwire.checks._answers import unfenced
from faultwire.checks._api import Check, judged, quoted

if TYPE_CHECKING:
    from faultwire.events import History, Verdict


class ValidJson(Check):
    """The whole answer is one JSON document.

    What it judges:
        The final answer by RFC 8259: no `NaN`, no comments, nothing before or after the document but
        white space, at most 256 levels. With `fenced: true` a Markdown fence around it is taken off.

    Why agents fail it:
        A stream cut in the middle, a friendly sentence in front, an apology in place of the document.

    What it cannot tell:
        Whether the document has the right shape: `json_schema` can.

    Example:
        invariants:
          - {type: valid_json, severity: high}
    """

    name = "valid_json"
    reads_answer = True
    fenced: Annotated[bool, Field(description="whether a Markdown fence around it is allowed")] = False

    def judge(self, history: History, answer: str) -> Verdict:
        """Parse it."""
        try:
            _core.json_span((unfenced(answer) if self.fenced else answer).encode(), [])
        except ValueError as error:
            return judged(False, f"the answer {quoted(answer)} is not JSON: {error}")
        return judged(True, "the answer is one JSON document")
