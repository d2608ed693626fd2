"""The conversation of an exchange with a model: turns, tool calls, and cost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from faultwire import wire
from faultwire.events import Turn
from faultwire.report.text import clip
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Recorded, Request, ResponseView, ToolCall, ToolResult, Usage

TEXT = 2_000
"""How many characters of one message a report repeats."""
TURNS = 30
"""Turns of one request that a report repeats, the newest."""


def conversation_part(
    recorded: Recorded, forwarded: Request | None = None, *, text: int = TEXT, turns: int = TURNS
) -> dict[str, Any] | None:
    """The conversation of an exchange, None where it is none. `turns` are those that were sent, the
    newest last; of them the last `new` are new since the model's last word. `answer` is what the agent
    got and `said` the model's own answer, where that differs; `told` are the turns that reached the
    model in place of others, where `forwarded` differs from what the agent sent."""
    transcript = wire.transcript_of(recorded)
    if transcript is None:
        return None
    view = transcript.request
    every = list(view.turns) if view else []
    if view and view.system and not any(turn.role == "system" for turn in every):
        every = [Turn("system", view.system), *every]
    shown = every[max(0, len(every) - turns) :]
    answer = _answer(transcript.answer, text)
    original_answer = None
    if recorded.upstream is not None and recorded.upstream is not recorded.delivered:
        original = wire.transcript_of(replace(recorded, delivered=recorded.upstream))
        original_answer = _answer(original.answer, text) if original else None
    return {
        "model": clip(transcript.model, 200),
        "tools": [clip(name, 200) for name in (view.tools if view else ())[:100]],
        "turns": [_turn(turn, text) for turn in shown],
        "turns_not_shown": len(every) - len(shown),
        "new": len(shown) if not _has_answer(every) else min(len(transcript.new_turns), len(shown)),
        "told": _rows(recorded, forwarded, every, text),
        "answer": answer,
        "said": original_answer if original_answer != answer else None,
        "problem": clip(transcript.problem, 500) if transcript.problem else None,
        "first_event_ms": None if transcript.first_event_ms is None else round(transcript.first_event_ms, 1),
        "cost_usd": None if transcript.cost is None else format(transcript.cost, "f"),
        "prices_as_of": transcript.prices_as_of,
    }


def name_results(parts: Iterable[dict[str, Any] | None], session: Iterable[Recorded]) -> None:
    """Give each result in `parts` its tool's name where its own request does not tell it: where the
    provider keeps the conversation, only an earlier answer of the session does."""
    results = [
        result
        for part in parts
        if part is not None
        for turn in (*part["turns"], *part["told"])
        for result in turn["results"]
        if result["name"] is None and result["id"]
    ]
    wanted = {result["id"] for result in results}
    names: dict[str, str] = {}
    for exchange in session if wanted else ():
        transcript = wire.transcript_of(exchange)
        calls = transcript.answer.tool_calls if transcript and transcript.answer else ()
        names |= {call.id: clip(call.name, 200) for call in calls if call.id in wanted and call.name}
        if len(names) == len(wanted):
            break
    for result in results:
        result["name"] = names.get(result["id"])


def request_id(part: dict[str, Any] | None) -> str | None:
    """The provider's request id, from the delivered response or else from upstream's."""
    answers = (part["answer"], part["said"]) if part is not None else ()
    return next((answer["request_id"] for answer in answers if answer and answer["request_id"]), None)


def _has_answer(turns: list[Turn]) -> bool:
    """Has the model answered yet?"""
    return any(turn.role == "assistant" for turn in turns)


def _rows(
    recorded: Recorded, forwarded: Request | None, turns: list[Turn], text: int
) -> list[dict[str, Any]]:
    """The turns of the forwarded request that the agent's request did not have."""
    if forwarded is None:
        return []
    other = wire.transcript_of(replace(recorded, request=forwarded))
    if other is None or other.request is None:
        return []
    own = [_turn(turn, text) for turn in turns]
    return [made for turn in other.request.turns if (made := _turn(turn, text)) not in own]


def _turn(turn: Turn, limit: int) -> dict[str, Any]:
    repeats_result = any(result.text == turn.text for result in turn.tool_results)
    return {
        "role": clip(turn.role, 50),
        "text": "" if repeats_result else clip(turn.text, limit),
        "calls": [_call(call, limit) for call in turn.tool_calls],
        "results": [_result(result, limit) for result in turn.tool_results],
    }


def _call(call: ToolCall, limit: int) -> dict[str, Any]:
    return {"id": clip(call.id, 200), "name": clip(call.name, 200), "arguments": clip(call.arguments, limit)}


def _result(result: ToolResult, limit: int) -> dict[str, Any]:
    return {
        "id": clip(result.call_id, 200),
        "name": None if result.name is None else clip(result.name, 200),
        "text": clip(result.text, limit),
        "is_error": result.is_error,
    }


def _answer(view: ResponseView | None, limit: int) -> dict[str, Any] | None:
    if view is None:
        return None
    usage = view.usage
    return {
        "text": clip(view.text, limit),
        "calls": [_call(call, limit) for call in view.tool_calls],
        "finish_reason": None if view.finish_reason is None else clip(view.finish_reason, 100),
        "complete": view.complete,
        "error": None if view.error is None else clip(view.error, 500),
        "request_id": None if view.request_id is None else clip(view.request_id, 200),
        "tokens": None if usage is None else _tokens(usage),
    }


def _tokens(usage: Usage) -> dict[str, int]:
    parts = {
        "cache_read": usage.cache_read_tokens,
        "cache_write": usage.cache_write_tokens,
        "reasoning": usage.reasoning_tokens,
        "audio_input": usage.audio_input_tokens,
        "audio_output": usage.audio_output_tokens,
        "tool_use": usage.tool_use_tokens,
    }
    counted = {name: count for name, count in parts.items() if count}
    return {"input": usage.input_tokens, "output": usage.output_tokens, **counted}


def token_words(tokens: dict[str, int]) -> str:
    """`1000 tokens in (800 cached), 500 out (300 reasoning)`."""
    sides = []
    for side, parts in _PARTS.items():
        inside = [f"{tokens[name]} {word}" for name, word in parts if tokens.get(name)]
        words = f" ({', '.join(inside)})" if inside else ""
        sides.append(
            f"{counted(tokens['input'], 'token')} in{words}"
            if side == "input"
            else f"{tokens['output']} out{words}"
        )
    return ", ".join(sides)


_PARTS = {
    "input": (
        ("cache_read", "cached"),
        ("cache_write", "written to the cache"),
        ("audio_input", "audio"),
        ("tool_use", "read by tools"),
    ),
    "output": (("reasoning", "reasoning"), ("audio_output", "audio")),
}
