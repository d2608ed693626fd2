"""The invariant that a tool is called with the right arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from faultwire.checks._api import Check, judged, quoted, unknown
from faultwire.checks._schema import checked, problem
from faultwire.checks._tools import uses

if TYPE_CHECKING:
    from faultwire.checks._tools import Use
    from faultwire.events import History, Verdict

Schema = Annotated[dict[str, Any] | None, AfterValidator(lambda one: one if one is None else checked(one))]


class ToolArguments(Check):
    """A tool is called with the arguments that were agreed on.

    What it judges:
        The arguments of its executions, where the agent sent them: the members of `arguments` must be
        equal, and all of them fit `schema` (a JSON Schema, patterns in linear time). `which` chooses the
        executions: `all`, `any`, `first`, `last`. Where the tool was not used the verdict is unknown.

    Why agents fail it:
        Arguments cut short by a broken stream and repaired, values that a drifted model renamed, a
        retry with a default in place of the user's value.

    What it cannot tell:
        Arguments that never leave the agent's process.

    Example:
        invariants:
          - type: tool_arguments
            tool: refund
            arguments: {order: "A-17"}
            schema: {required: [amount], properties: {amount: {type: number, maximum: 100}}}
    """

    name = "tool_arguments"
    evidence = "tools"
    tool: Annotated[str, Field(min_length=1, description="its name")]
    arguments: Annotated[dict[str, Any], Field(description="members that must be equal")] = {}  # noqa: RUF012 - frozen
    schema_: Annotated[Schema, Field(alias="schema", description="what they must fit")] = None
    which: Annotated[
        Literal["all", "any", "first", "last"], Field(description="the executions that must hold")
    ] = "all"

    @model_validator(mode="after")
    def _asks_something(self) -> ToolArguments:
        if not self.arguments and self.schema_ is None:
            raise ValueError("it has no effect without `arguments` or `schema`")
        return self

    def judge(self, history: History, answer: str) -> Verdict:
        """Hold each execution against what was agreed on."""
        used = [use for use in uses(history) if use.name == self.tool]
        if not used:
            return unknown(f"{quoted(self.tool)} was not used")
        chosen = {"first": used[:1], "last": used[-1:]}.get(self.which, used)
        try:
            flaws = [(use, self._flaw(use)) for use in chosen]
        except ValueError as error:
            return unknown(str(error))
        bad = [(use, flaw) for use, flaw in flaws if flaw is not None]
        held = len(bad) < len(flaws) if self.which == "any" else not bad
        if held:
            return judged(
                True, f"{quoted(self.tool)} was called as agreed", len(bad), [u.number for u in chosen]
            )
        use, flaw = bad[0]
        # The model may have asked for it with others: a request of the tool's own has those of its server.
        where = " in a request of its own" if use.seen == "its own exchange" else ""
        words = f"{quoted(self.tool)} was called{where} with {quoted(use.arguments, 160)}: {flaw}"
        return judged(False, words, len(bad), [use.number for use, _ in bad])

    def _flaw(self, use: Use) -> str | None:
        values = use.values
        if not isinstance(values, dict):
            return "they are not a JSON object"
        for name, wanted in self.arguments.items():
            if name not in values:
                return f"there is no {quoted(name)}"
            if not _same(values[name], wanted):
                return f"{quoted(name)} is not {quoted(str(wanted))}"
        return problem(self.schema_, values) if self.schema_ is not None else None


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: `true` is no number."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
