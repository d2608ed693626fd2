"""The invariant that the answer is JSON of a shape."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, Field

from faultwire import _core
from faultwire.checks._answers import unfenced
from faultwire.checks._api import Check, judged, quoted, unknown
from faultwire.checks._schema import checked, problem

if TYPE_CHECKING:
    from faultwire.events import History, Verdict

Schema = Annotated[dict[str, Any], AfterValidator(checked)]


class JsonSchema(Check):
    """The answer is a JSON document that fits a JSON Schema.

    What it judges:
        The final answer, as `valid_json` does, and then against `schema` (draft 2020-12). References
        outside of the schema are not fetched, and patterns are those of the linear-time engine.

    Why agents fail it:
        A field that a drifted model renamed, a number that became a text, a document cut short and
        closed by a repair library.

    What it cannot tell:
        Whether the values are true.

    Example:
        invariants:
          - type: json_schema
            schema: {type: object, required: [answer], properties: {answer: {type: integer}}}
    """

    name = "json_schema"
    reads_answer = True
    schema_: Annotated[Schema, Field(alias="schema", description="the JSON Schema")]
    fenced: Annotated[bool, Field(description="whether a Markdown fence around it is allowed")] = False

    def judge(self, history: History, answer: str) -> Verdict:
        """Parse the answer and hold it against the schema."""
        data = (unfenced(answer) if self.fenced else answer).encode("utf-8", "replace")
        try:
            _core.json_span(data, [])
            value = json.loads(data)
        except (ValueError, RecursionError) as error:
            return judged(False, f"the answer {quoted(answer)} is not JSON: {error}")
        try:
            found = problem(self.schema_, value)
        except ValueError as error:
            return unknown(str(error))
        return judged(found is None, found or "the answer fits the schema")
