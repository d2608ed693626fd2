"""Which tools an agent used, wherever that is seen.

A tool is seen at its own exchange (HTTP or MCP), and as a result in a later request to a model; tools
inside of the agent's process only there. Providers are sent the whole conversation again and again, so
results are told apart by their place in it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultwire import wire
from faultwire.checks._once import once
from faultwire.checks._told import models
from faultwire.checks._traffic import failed
from faultwire.errors import WireError
from faultwire.events import Exchange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import History, Recorded, ToolCall
    from faultwire.wire import Told


@dataclass(frozen=True, slots=True)
class Use:
    """One execution of a tool. `arguments` is JSON text; `number` is the exchange that shows it;
    `seen` says where: at the tool's own exchange, or as a result in a request to a model."""

    name: str
    arguments: str
    number: int
    seen: str
    result: str = ""
    failed: bool = False

    @property
    def values(self) -> Any:
        """The arguments as JSON gives them; None where they are none."""
        try:
            return json.loads(self.arguments)
        except (ValueError, RecursionError):
            return None


@once
def uses(history: History) -> tuple[Use, ...]:
    """Every execution that was seen, in order. One that is seen at both places counts once."""
    own, told = _own(history.exchanges), _told(history)
    names = dict.fromkeys(use.name for use in (*own, *told))
    found: list[Use] = []
    for name in names:
        here = [use for use in own if use.name == name]
        there = [use for use in told if use.name == name]
        found += here if len(here) >= len(there) else there
    return tuple(sorted(found, key=lambda use: use.number))


def asked(history: History) -> tuple[tuple[int, ToolCall], ...]:
    """The calls that models asked for, as the agent read them, with the exchange that says so."""
    return tuple(
        (exchange.number, call)
        for exchange, said in models(history)
        if said.answer is not None
        for call in said.answer.tool_calls
    )


def _own(exchanges: Sequence[Recorded]) -> list[Use]:
    """Executions at the tools' own exchanges; what an SDK or an agent repeats after a failure is one."""
    found: list[Use] = []
    for exchange in exchanges:
        if exchange.kind != "tool" or exchange.tool is None or exchange.attempt:
            continue
        body = exchange.delivered.body if exchange.delivered is not None else b""
        text = body.decode("utf-8", "replace")
        found.append(
            Use(
                exchange.tool,
                _arguments(exchange),
                exchange.number,
                "its own exchange",
                text,
                failed(exchange),
            )
        )
    return found


def _arguments(exchange: Recorded) -> str:
    as_met = Exchange(
        session=exchange.session,
        number=exchange.number,
        request=exchange.request,
        kind=exchange.kind,
        protocol=exchange.protocol,
        tool=exchange.tool,
    )
    try:
        site = wire.tool_site(as_met)
    except WireError:
        return ""
    return site.call.arguments if site is not None else ""


def _told(history: History) -> list[Use]:
    found: list[Use] = []
    known: set[tuple[str, str, str, int]] = set()
    calls: dict[str, ToolCall] = {}
    for exchange, said in models(history):
        for use, at in _results(said, calls, exchange.number):
            if at not in known:
                known.add(at)
                found.append(use)
        if said.answer is not None:
            calls.update({call.id: call for call in said.answer.tool_calls if call.id})
    return found


def _results(
    said: Told, calls: dict[str, ToolCall], number: int
) -> list[tuple[Use, tuple[str, str, str, int]]]:
    """The results in one request, each with what tells it from the others of the conversation."""
    found: list[tuple[Use, tuple[str, str, str, int]]] = []
    times: dict[tuple[str, str, str], int] = {}
    for result in said.request.results if said.request is not None else ():
        call = calls.get(result.call_id)
        name = result.name or (call.name if call is not None else "")
        arguments = result.arguments or (call.arguments if call is not None else "")
        if not name:
            continue
        what = (result.call_id, name, arguments)
        times[what] = times.get(what, 0) + 1
        use = Use(name, arguments, number, "a request to the model", result.text, result.is_error)
        found.append((use, (*what, times[what])))
    return found
