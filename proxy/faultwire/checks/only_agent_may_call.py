"""The invariant that a tool is one agent's alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, model_validator

from faultwire._core import glob_match
from faultwire.checks._api import Check, judged, quoted, unknown
from faultwire.checks._tools import asked
from faultwire.checks._transcripts import models
from faultwire.text import counted
from faultwire.wire.senders import Mark, instructions_of

if TYPE_CHECKING:
    from faultwire.events import History, Recorded, Verdict


class OnlyAgentMayCall(Check):
    """A tool is called by one agent of the system and by no other.

    What it judges:
        Who makes each call. An agent is known by its marks: `instructions` are globs over the system prompt
        of the model that asked for the call, and `caller` header fields of the tool's own requests, or of
        those to the model where the tool has none. A call that a model asked for counts, whether or not the
        framework let it run. A call without the marks was made by somebody else.

    Why agents fail it:
        All tools are given to all agents, a hand-over passes the tools on with the conversation, a planner
        does its delegate's work by itself when it gets no answer.

    What it cannot tell:
        Whether an agent bears another one's marks. With `instructions` alone, a request to the tool that no
        model was seen to ask for has an unknown sender.

    Example:
        invariants:
          - {type: only_agent_may_call, tool: refund, agent: billing, instructions: "You are billing*"}
    """

    name = "only_agent_may_call"
    evidence = "tools"
    tool: Annotated[str, Field(min_length=1, description="its name or glob")]
    agent: Annotated[str, Field(min_length=1, description="who may call it, in reports")]
    instructions: Annotated[
        tuple[str, ...] | str | None, Field(description="globs over its model's system prompt")
    ] = None
    caller: Annotated[dict[str, str] | None, Field(description="header fields of its requests, by glob")] = (
        None
    )

    @model_validator(mode="after")
    def _require_marks(self) -> Self:
        if not self.instructions and not self.caller:
            raise ValueError("found no marks of the agent, expected `instructions` or `caller`")
        return self

    def judge(self, history: History, answer: str) -> Verdict:
        """Look at the marks of each call."""
        own = [e for e in history.exchanges if e.kind == "tool" and self._is(e.tool)]
        wanted_times = [number for number, call in asked(history) if self._is(call.name)]
        wanted = set(wanted_times)
        models_asked = [e for e, _ in models(history) if e.number in wanted]
        judged_on = (models_asked if self.instructions or not own else []) + (own if self.caller else [])
        strangers = sorted({e.number for e in judged_on if not self._marked(e)})
        if strangers:
            words = f"{quoted(self.tool)} was called by another sender than {quoted(self.agent)}"
            return judged(
                False, f"{words} in {counted(len(strangers), 'exchange')}", len(strangers), strangers
            )
        if not self.caller and self._unasked(own, wanted_times):
            return unknown(f"who called {quoted(self.tool)} is unknown: no model was seen to ask for it")
        if not judged_on:
            if not models(history) and not any(e.kind == "tool" for e in history.exchanges):
                return unknown("no exchange with a model or a tool could be read")
            return judged(True, f"{quoted(self.tool)} was called by nobody", 0)
        numbers = sorted(e.number for e in judged_on)
        return judged(
            True,
            f"each call of {quoted(self.tool)} bears the marks of {quoted(self.agent)}",
            len(numbers),
            numbers,
        )

    def _unasked(self, own: list[Recorded], wanted: list[int]) -> bool:
        """Is there a request to the tool for which no model was seen to ask before?"""
        first = [exchange.number for exchange in own if not exchange.attempt]
        return any(sum(one < number for one in wanted) < at for at, number in enumerate(first, 1))

    def _is(self, name: str | None) -> bool:
        return name is not None and glob_match(self.tool, name)

    def _marked(self, exchange: Recorded) -> bool:
        globs = (self.instructions,) if isinstance(self.instructions, str) else self.instructions or ()
        headers = tuple((self.caller or {}).items())
        if exchange.kind == "tool":
            return Mark(self.agent, headers).on(exchange.request.headers, None)
        mark = Mark(self.agent, () if globs else headers, globs)
        return mark.on(exchange.request.headers, instructions_of(exchange))
