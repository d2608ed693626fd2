"""What a recorded WebSocket session comes to: the conversation in turns, and the model's last word."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from faultwire.events import RequestView, ToolCall, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Message, ResponseView
    from faultwire.wire.protocol import Protocol


def asked(protocol: Protocol, upgrade: RequestView, messages: Iterable[Message]) -> RequestView:
    """All messages before the model's last answer: the agent's, and the model's in between.

    Of messages that a fault changed the one that its sender sent counts for the agent's side, the one that
    was delivered for the model's.
    """
    turns: list[Turn] = []
    calls: dict[str, ToolCall] = {}
    view, reader = upgrade, protocol.reader()
    last = 0
    for message in messages:
        if message.kind != "text":
            continue
        if message.by == "server" and message.delivered_ns is not None:
            reader.feed(message.data)
            if protocol.is_terminal(message.data):
                answer, reader = reader.view(), protocol.reader()
                last = len(turns)
                turns.append(Turn("assistant", answer.text, answer.tool_calls))
                calls.update((call.id, call) for call in answer.tool_calls)
        elif message.by == "client" and message.sent_ns is not None:
            new = protocol.message_view(message.data)
            if new is not None:
                turns.extend(_named(turn, calls) for turn in new.turns)
                view = _settled(view, new)
    if turns and turns[-1].role == "assistant":
        del turns[last:]
    return replace(view, turns=tuple(turns))


def answered(protocol: Protocol, messages: Iterable[Message], *, delivered: bool) -> ResponseView:
    """The model's last answer, with the usage of the whole session; as the server sent it, or as it was
    `delivered` to the agent."""
    whole, reader = protocol.reader(), protocol.reader()
    last: ResponseView | None = None
    for message in messages:
        instant = message.delivered_ns if delivered else message.sent_ns
        if message.by != "server" or message.kind != "text" or instant is None:
            continue
        whole.feed(message.data)
        reader.feed(message.data)
        if protocol.is_terminal(message.data):
            last, reader = reader.view(), protocol.reader()
    begun, total = reader.view(), whole.view()
    if last is None or begun.text or begun.tool_calls:
        last = begun
    return replace(last, usage=total.usage, model=last.model or total.model, error=total.error)


def first_ms(protocol: Protocol, messages: Iterable[Message]) -> float | None:
    """How long the agent waited for the first words (or the first call) of the model's last answer: from its
    own message before. None where none came."""
    reader, asked_ns = protocol.reader(), 0
    found: float | None = None
    last: float | None = None
    for message in messages:
        if message.kind != "text":
            continue
        if message.by == "client" and message.sent_ns is not None and found is None:
            asked_ns = message.sent_ns
        elif message.by == "server" and message.delivered_ns is not None:
            if found is None:  # what follows in this answer cannot be its first
                reader.feed(message.data)
                view = reader.view()
                found = (message.delivered_ns - asked_ns) / 1e6 if view.text or view.tool_calls else None
            if protocol.is_terminal(message.data):
                reader, found, last = protocol.reader(), None, found
    return last if found is None else found


def _named(turn: Turn, calls: dict[str, ToolCall]) -> Turn:
    results = tuple(
        replace(result, name=call.name, arguments=call.arguments)
        if (call := calls.get(result.call_id)) and not result.name
        else result
        for result in turn.tool_results
    )
    return replace(turn, tool_results=results)


def _settled(view: RequestView, new: RequestView) -> RequestView:
    """What holds from this message on."""
    return RequestView(
        model=new.model or view.model,
        stream=True,
        system=new.system or view.system,
        tools=new.tools or view.tools,
    )
