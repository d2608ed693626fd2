"""Which tools an agent used, wherever that is seen.

A tool is seen at its own exchange (HTTP or MCP), and as a result in a later request to a model; tools
inside of the agent's process only there. Where the agent's framework refuses arguments that are no JSON, the
tool did not run. Providers are sent the whole conversation again and again, so results are distinguished by
their position in it.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from faultwire import wire
from faultwire.checks._declined import declined
from faultwire.checks._once import once
from faultwire.checks._refused import is_json, refused
from faultwire.checks._traffic import failed
from faultwire.checks._transcripts import models
from faultwire.checks._walk import Walked, last_word
from faultwire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import History, Recorded, ToolCall, ToolResult

_What = tuple[str, str, str]
"""Id, name and arguments of a call that a result belongs to."""
_Place = tuple[_What, int]
"""The same, and which of its results in the conversation it is."""
_Texts = tuple[str, ...]
"""The results of one call in a conversation, in order, without repetitions."""


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
    own, reported = _by_name(_own(history.exchanges)), _by_name(_reported(history))
    found: list[Use] = []
    for name in own | reported:
        here, there = own.get(name, []), reported.get(name, [])
        found += here if len(here) >= len(there) else there
    return tuple(sorted(found, key=attrgetter("number")))


def _by_name(found: list[Use]) -> dict[str, list[Use]]:
    named: dict[str, list[Use]] = {}
    for use in found:
        named.setdefault(use.name, []).append(use)
    return named


def asked(history: History) -> tuple[tuple[int, ToolCall], ...]:
    """The calls that models asked for, as the agent read them, with the exchange that says so."""
    return tuple(
        (exchange.number, call)
        for exchange, transcript in models(history)
        if transcript.answer is not None
        for call in transcript.answer.tool_calls
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
    try:
        site = wire.tool_site(exchange)
    except WireError:
        return ""
    return site.call.arguments if site is not None else ""


def _reported(history: History) -> list[Use]:
    """The results in all requests. Those before a word of the model's that an earlier request held, too, are
    known by then, unless a call that they belong to has changed its meaning."""
    found: list[Use] = []
    known: dict[_Place, int] = {}
    calls: dict[str, ToolCall] = {}
    answered: set[str] = set()
    made: Counter[_Place] = Counter()
    walked: Walked[dict[_What, _Texts]] = Walked()
    for exchange, transcript in models(history):
        turns = transcript.request.turns if transcript.request is not None else ()
        first, before = walked.resume(turns)
        results = dict(before or ())
        last = last_word(turns, first)
        for at in range(first, len(turns)):
            for result in turns[at].tool_results:
                answered.add(result.call_id)
                what = _what(result, calls)
                place = _place(result, what, made, results)
                if what[1] and place is not None and _is_another(result, known.get(place, 0), made[place]):
                    known[place] = max(1, made[place])
                    found += _executed(result, what[1], exchange.number, calls)
            if at == last:
                walked.keep(turns[: at + 1], results.copy())
        if last < 0 and before is not None:
            walked.keep(turns[:first], before)
        for call in transcript.answer.tool_calls if transcript.answer is not None else ():
            _count(call, made, results)
            if call.id and calls.get(call.id) != call:
                calls[call.id] = call
                if call.id in answered:
                    walked.forget()
    return found


def _place(
    result: ToolResult, what: _What, made: Counter[_Place], results: dict[_What, _Texts]
) -> _Place | None:
    """Where a result stands; None where the conversation repeats it and no model made the call again."""
    texts = results.get(what, ())
    place = what, len(texts) + 1
    if what[0] and not made[place] and result.text in texts:
        return None
    results[what] = (*texts, result.text)
    return place


def _is_another(result: ToolResult, known: int, made: int) -> bool:
    """Does a result show an execution beside the `known` ones, after so many answers that made the call
    there? An agent that begins anew sends it behind the model's last word once more."""
    return not known or (result.new and made > known)


def _count(call: ToolCall, made: Counter[_Place], results: dict[_What, _Texts]) -> None:
    what = call.id, call.name, _plain(call.arguments)
    made[what, len(results.get(what, ())) + 1] += 1


def _what(result: ToolResult, calls: dict[str, ToolCall]) -> _What:
    call = calls.get(result.call_id)
    name = result.name or (call.name if call is not None else "")
    return result.call_id, name, _plain(result.arguments or (call.arguments if call is not None else ""))


def _plain(arguments: str) -> str:
    """Without the white space that an SDK writes otherwise than the model did."""
    try:
        return json.dumps(json.loads(arguments), separators=(",", ":"))
    except (ValueError, RecursionError):
        return arguments


def _executed(result: ToolResult, name: str, number: int, calls: dict[str, ToolCall]) -> list[Use]:
    """The execution that a result shows; none where the framework refused a call that is no JSON."""
    call = calls.get(result.call_id)
    if call is not None and not is_json(call.arguments) and declined(result.text):
        return []
    if call is not None and refused(call.arguments, result.text):
        return []
    arguments = result.arguments or (call.arguments if call is not None else "")
    return [Use(name, arguments, number, "a request to the model", result.text, result.is_error)]
