"""What was done by tools and other agents, and what may have been: executions with their arguments.

A deed over the wire is judged by what the server transcript, whatever a fault made of it on the way back. One
inside of the agent's process shows only by its result.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from faultwire import wire
from faultwire._core import glob_match
from faultwire.checks._api import quoted
from faultwire.checks._once import once
from faultwire.checks._tools import asked, uses
from faultwire.checks._transcripts import place
from faultwire.errors import WireError

if TYPE_CHECKING:
    from faultwire.events import History, Recorded

Glob = Annotated[str, Field(min_length=1)]


class Step(BaseModel):
    """A step of a workflow: calls of a tool, or requests to an address, such as another agent's."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    tool: Annotated[Glob | None, Field(description="a tool's name or glob")] = None
    url: Annotated[Glob | None, Field(description="a glob over the URL, without its query")] = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.tool is None) == (self.url is None):
            raise ValueError("expected one of `tool` and `url`")
        return self

    @property
    def text(self) -> str:
        """The step in backticks."""
        return quoted(self.tool or self.url or "")


@dataclass(frozen=True, slots=True)
class Deed:
    """One execution. `state`: done; `unclear` where an error came back after it may have been done."""

    name: str
    url: str
    arguments: Any
    number: int
    state: Literal["done", "unclear"]


@once
def deeds(history: History) -> tuple[Deed, ...]:
    """Everything that was done or may have been, in order; what was refused or never sent is not in it."""
    found = [deed for exchange in history.exchanges for deed in _on_the_wire(exchange)]
    wired = {exchange.tool for exchange in history.exchanges if exchange.kind == "tool"}
    faulted = {
        exchange.number
        for exchange in history.exchanges
        if any(line.outcome == "fired" and line.site == "result" for line in exchange.faults)
    }
    for use in uses(history):
        if use.name not in wired and use.seen != "its own exchange":
            done = not use.failed or use.number in faulted
            found.append(Deed(use.name, "", use.values, use.number, "done" if done else "unclear"))
    return tuple(sorted(found, key=lambda deed: deed.number))


def _on_the_wire(exchange: Recorded) -> list[Deed]:
    upstream = exchange.upstream
    if exchange.kind not in ("tool", "agent") or (upstream is None and exchange.ending != "upstream_aborted"):
        return []
    if upstream is not None and 400 <= upstream.status < 500:
        return []
    unclear = upstream is None or upstream.status >= 500
    if not unclear and exchange.protocol and _is_refusal(exchange):
        return []
    name = exchange.tool or place(exchange)
    url = exchange.request.url.partition("?")[0]
    return [Deed(name, url, _arguments(exchange), exchange.number, "unclear" if unclear else "done")]


def _is_refusal(exchange: Recorded) -> bool:
    transcript = wire.transcript_of(replace(exchange, delivered=exchange.upstream))
    return transcript is not None and transcript.answer is not None and transcript.answer.error is not None


def _arguments(exchange: Recorded) -> Any:
    try:
        site = wire.tool_site(exchange) if exchange.kind == "tool" else None
        body = site.call.arguments if site is not None else (exchange.request.body or b"")
        return json.loads(body)
    except (ValueError, RecursionError, WireError):
        return None


def of_step(history: History, step: Step) -> list[Deed]:
    """The deeds that are this step."""
    if step.tool is not None:
        return [deed for deed in deeds(history) if glob_match(step.tool, deed.name)]
    return [deed for deed in deeds(history) if glob_match(step.url or "", deed.url)]


def calls(history: History, step: Step) -> int:
    """How often it was called, as `tool_called` counts, whatever came of it."""
    if step.tool is not None:
        return sum(glob_match(step.tool, use.name) for use in uses(history))
    urls = (one.request.url.partition("?")[0] for one in history.exchanges if one.kind in ("tool", "agent"))
    return sum(glob_match(step.url or "", url) for url in urls)


def unanswered(history: History, step: Step) -> bool:
    """Did a model ask for more calls of a tool than were seen to end? Then it may have been done."""
    glob = step.tool
    if glob is None:
        return False
    wanted = sum(glob_match(glob, call.name) for _, call in asked(history))
    return wanted > sum(glob_match(glob, use.name) for use in uses(history))


def key_of(deed: Deed, same: tuple[str, ...]) -> tuple[str, ...] | None:
    """The values of the arguments that say what a deed is about; None where one of them is missing."""
    if not same:
        return ()
    given = deed.arguments if isinstance(deed.arguments, dict) else {}
    if any(name not in given for name in same):
        return None
    return tuple(json.dumps(given[name], sort_keys=True) for name in same)


def follows(begun: Deed, deed: Deed) -> bool | None:
    """Was a deed done after another one? None where it cannot be seen: results in one request have no order,
    and a tool inside of the agent ran some time before the request that shows it."""
    if deed.number > begun.number:
        return True
    hidden = not begun.url and (deed.number == begun.number or bool(deed.url))
    return None if hidden and deed is not begun else False
