"""What the wire shows of one session, in the words of a log: model calls, answers, tool calls and results."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultwire.checks._calls import calls
from faultwire.checks._tools import uses
from faultwire.checks._traffic import failed
from faultwire.checks._transcripts import models, transcript_of
from faultwire.ingestion.claims import Kind, forms, tool_messages
from faultwire.tape.redact.edit import MARK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.checks._tools import Use
    from faultwire.events import History, ToolCall, Usage
    from faultwire.wire import Transcript

EMBEDDINGS = ("embeddings", "cohere_embed")


@dataclass(frozen=True, slots=True)
class Seen:
    """One thing that the wire shows; `exchange` is where.

    `sent` is what of a tool's results went to models, each with the ids of its calls: a tool may answer one
    thing, and its agent make another of it. `turn` is the same for a call and its answer, as with a claim.
    """

    kind: Kind
    exchange: int
    name: str | None
    value: Any = None
    finish: str | None = None
    usage: Usage | None = None
    turn: str | None = None
    sent: tuple[tuple[str, tuple[str, ...]], ...] = ()
    no_event: bool = False
    """Does the format of logs have no event for it? So it is with embeddings."""

    @property
    def hidden(self) -> bool:
        """Is the content not on the tape, as it was a secret, or as there is none?"""
        return self.value is None or MARK in str(self.value)

    def digests(self) -> dict[str, str]:
        """The way of each SHA-256 (hex) by which a log may hold the content."""
        if self.hidden:
            return {}
        found: dict[str, str] = {}
        for value in dict.fromkeys((self.value, *(text for text, _ in self.sent))):
            for way, digest in forms(value).items():
                found.setdefault(digest, way.partition(" ")[0])
        for text, call_ids in self.sent:
            for digest in tool_messages(text, self.name, call_ids):
                found.setdefault(digest, "message")
        return found


def observed(history: History) -> list[Seen]:
    """Everything, each kind in the order of its exchanges."""
    found: list[Seen] = []
    wanted: list[tuple[int, ToolCall]] = []
    for call in calls([one for one in history.exchanges if one.kind == "llm"]):
        first, last = call.tries[0], call.tries[-1]
        asked_for, transcript = transcript_of(history, first), transcript_of(history, last)
        if asked_for is None or asked_for.request is None:
            continue
        turn, silent = f"exchange {first.number}", first.protocol in EMBEDDINGS
        name = asked_for.request.model or None
        found.append(Seen("call", first.number, name, turn=turn, no_event=silent))
        if transcript is not None and transcript.answer is not None and not failed(last):
            found.append(_answer(transcript, last.number, turn, no_event=silent))
            wanted += [(last.number, one) for one in transcript.answer.tool_calls]
    return found + list(_of_tools(history, wanted))


def _answer(transcript: Transcript, number: int, turn: str, *, no_event: bool) -> Seen:
    answer = transcript.answer
    assert answer is not None
    return Seen(
        "answer", number, answer.model or None, None if no_event else answer.text, answer.finish_reason,
        answer.usage, turn,
        no_event=no_event,
    )  # fmt: skip


def _of_tools(history: History, wanted: list[tuple[int, ToolCall]]) -> Iterator[Seen]:
    """A call is what a model asks for, or an exchange with a tool that no model asked for; a result what a
    tool answers, or what of it goes to the model."""
    nth: Counter[str] = Counter()
    left = Counter(one.name for _, one in wanted)
    for number, one in wanted:
        nth[one.id] += 1
        yield Seen("tool call", number, one.name, one.arguments, turn=f"{one.id} {nth[one.id]}")
    to_model = _to_model(history)
    nth.clear()
    for use in uses(history):
        sent = to_model.get(use.name, {})
        if use.seen == "its own exchange":
            if not left[use.name]:
                yield Seen("tool call", use.number, use.name, use.arguments, turn=f"exchange {use.number}")
            left[use.name] -= left[use.name] > 0
        else:
            sent = {use.result: sent.get(use.result, ())}
        if sent or not use.failed:
            yield _result(use, tuple(sent.items()), nth)


def _result(use: Use, sent: tuple[tuple[str, tuple[str, ...]], ...], nth: Counter[str]) -> Seen:
    turn = None
    if len(sent) == 1 and len(sent[0][1]) == 1:
        call_id = sent[0][1][0]
        nth[call_id] += 1
        turn = f"{call_id} {nth[call_id]}"
    return Seen("tool result", use.number, use.name, use.result, turn=turn, sent=sent)


def _to_model(history: History) -> dict[str, dict[str, tuple[str, ...]]]:
    """Of each tool what of its results went to models: the ids of their calls by text."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    names: dict[str, str] = {}
    for _, transcript in models(history):
        for result in transcript.request.results if transcript.request is not None else ():
            of = found.setdefault(result.name or names.get(result.call_id, ""), {})
            of[result.text] = tuple(dict.fromkeys((*of.get(result.text, ()), result.call_id)))
        for call in transcript.answer.tool_calls if transcript.answer is not None else ():
            names[call.id] = call.name
    return found
