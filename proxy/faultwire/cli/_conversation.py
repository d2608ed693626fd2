"""Prints a conversation as text. All of its content is untrusted and escaped."""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING, Any

from faultwire.report.conversation import request_id, token_words
from faultwire.text import counted, safe
from faultwire.wire.transcript.prices import dated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.events import Message

LABEL = 10
"""Columns of the words that say who speaks."""


def head(part: dict[str, Any]) -> str:
    """The line above a conversation."""
    named = request_id(part)
    return "conversation" if named is None else f"conversation, request {safe(named)}"


def lines(part: dict[str, Any], *, only_new: bool = False, tool: bool = False) -> Iterator[str]:
    """The lines of a conversation part; `only_new` leaves out turns that earlier requests had, and `tool`
    says that a tool answers instead of a model."""
    who = "tool" if tool else "assistant"
    turns = part["turns"]
    if only_new and part["new"]:
        skipped = len(turns) - part["new"] + part["turns_not_shown"]
        turns = turns[-part["new"] :]
    else:
        skipped = part["turns_not_shown"]
    if skipped:
        yield f"  … {skipped} earlier {'turn' if skipped == 1 else 'turns'}"
    for turn in turns:
        yield from _turn(turn)
    for turn in part["told"]:
        yield "  a fault changed the model's input:"
        yield from _turn(turn)
    if part["problem"]:
        yield _line("unread", part["problem"])
    if part["said"]:
        yield f"  the {'tool' if tool else 'model'} sent:"
        yield from _answer(part["said"], who)
        yield "  the agent received:"
    if part["answer"]:
        yield from _answer(part["answer"], who)
        yield _line("", _facts(part, "byte" if tool else "token"))
    elif not part["problem"]:
        yield _line("nobody", "no answer")


def _turn(turn: dict[str, Any]) -> Iterator[str]:
    if turn["text"] or not (turn["calls"] or turn["results"]):
        yield _line(turn["role"], turn["text"] or "(nothing)")
    yield from _calls(turn["role"], turn["calls"])
    for result in turn["results"]:
        failed = ", as an error" if result["is_error"] else ""
        yield _line("tool", f"{result['name'] or result['id']} answered{failed}: {result['text']}")


def _answer(answer: dict[str, Any], who: str) -> Iterator[str]:
    if answer["text"] and answer["text"] != answer["error"]:
        yield _line(who, answer["text"])
    yield from _calls(who, answer["calls"])
    if answer["error"]:
        yield _line("error", answer["error"])
    elif not answer["text"] and not answer["calls"]:
        yield _line(who, "(nothing)")
    if not answer["complete"]:
        yield _line("", "(ended early: no closing event)")


def _calls(role: str, calls: list[dict[str, Any]]) -> Iterator[str]:
    for call in calls:
        yield _line(role, f"calls {call['name']} {call['arguments']}".rstrip())


def _facts(part: dict[str, Any], first: str) -> str:
    answer = part["answer"]
    facts = [part["model"] or None, answer["finish_reason"] and f"finished with {answer['finish_reason']}"]
    if answer["tokens"]:
        facts.append(token_words(answer["tokens"]))
    if part["first_event_ms"] is not None:
        facts.append(f"first {first} after {part['first_event_ms']:.1f} ms")
    if part["cost_usd"] is not None:
        facts.append(f"${part['cost_usd']} at {dated((part['prices_as_of'],))}")
    elif part["model"] and not answer["error"]:
        facts.append("cost unknown")
    return "(" + ", ".join(fact for fact in facts if fact) + ")"


def _line(who: str, text: str) -> str:
    """The speaker and the text, with continuation lines indented."""
    first, *rest = safe(text, lines=True).split("\n")
    head = f"  {safe(who)[:40].ljust(LABEL)} {first}".rstrip()
    return "\n".join([head, *(indent(line, " " * (LABEL + 3)) for line in rest)])


# ---------------------------------------------------------------- WebSockets

MESSAGES = 200
MESSAGE = 300
"""How many messages of a WebSocket are listed, and how many characters of each."""


def messages(sent: tuple[Message, ...]) -> Iterator[str]:
    """The messages of a WebSocket, each with its sender, time and outcome."""
    for message in sent[:MESSAGES]:
        at = message.sent_ns if message.sent_ns is not None else message.delivered_ns
        fate = ""
        if message.sent_ns is None:
            fate = " (made by a fault)"
        elif message.delivered_ns is None:
            fate = " (not delivered)"
        who = "agent" if message.by == "client" else "server"
        body = message.data.decode("utf-8", "backslashreplace")
        text = body if len(body) <= MESSAGE else f"{body[:MESSAGE]}… [{len(body) - MESSAGE} more]"
        kind = f"close {message.code}" if message.kind == "close" else message.kind
        yield _line(who, f"+{(at or 0) / 1e6:.1f} ms {kind}{fate}: {text}")
    if len(sent) > MESSAGES:
        yield f"  … {counted(len(sent) - MESSAGES, 'more message')}"
