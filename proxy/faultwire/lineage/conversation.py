"""Follows the messages of a session: which are new, which are history, and which call a tool answers."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faultwire.lineage.evidence import Evidence, Held
from faultwire.lineage.model import Part
from faultwire.lineage.parts import leaves_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Recorded, ToolCall
    from faultwire.lineage.parts import Parts, Text

OPEN = 64
"""Calls that a request to a tool may carry out: the latest ones."""
WHOLE = 12
"""Characters of the shortest answer that is known again as a whole, whichever tool gave it."""
LETTERS = 3
"""Characters of an argument that tells a call without the tool's name."""


@dataclass(slots=True)
class _Sent:
    """A message that was sent: where first, where first again, and does it hold what an answer brought?"""

    first: Part
    carries: bool
    again: Part | None = None


@dataclass(slots=True)
class Conversation:
    """The state of one session while its requests and answers are read in order."""

    evidence: Evidence
    _sent: dict[tuple[object, ...], _Sent] = field(default_factory=dict)
    _answers: dict[tuple[object, ...], Part] = field(default_factory=dict)
    _again: dict[Part, Part] = field(default_factory=dict)
    _calls: dict[str, Part] = field(default_factory=dict)
    _open: deque[tuple[Part, ToolCall]] = field(default_factory=lambda: deque(maxlen=OPEN))
    _wholes: dict[str, list[tuple[Part, str | None]]] = field(default_factory=dict)
    _held: dict[int, Held] = field(default_factory=dict)

    def asked(self, recorded: Recorded, parts: Parts) -> None:
        """A request, as it leaves the agent."""
        self._sends(recorded, parts.sent)
        if parts.brought:
            self._held[recorded.number] = held = Held()
            held.add(parts.sent)

    def sent_message(self, recorded: Recorded, texts: tuple[Text, ...]) -> None:
        """A message of the agent over a WebSocket: its other end knows all messages from then on."""
        self._sends(recorded, texts)
        self._held.setdefault(recorded.number, Held()).add(texts)

    def received_message(self, recorded: Recorded, texts: tuple[Text, ...]) -> None:
        """What a WebSocket brought."""
        self._brings(recorded, texts, self._held.setdefault(recorded.number, Held()))

    def _sends(self, recorded: Recorded, texts: tuple[Text, ...]) -> None:
        for text in texts:
            if text.turn is None:
                self._whole(text)
                self.evidence.match(text)
                self.evidence.own(text)
            elif not self._repeated(text, recorded.number):
                self._new(text)
        if recorded.kind != "llm":
            self._carried_out(recorded, texts)

    def answered(self, recorded: Recorded, parts: Parts) -> None:
        """Its answer, as the agent can read it."""
        held = self._held.pop(recorded.number, None)
        if held is not None:
            self._brings(recorded, parts.brought, held)

    def _brings(self, recorded: Recorded, texts: tuple[Text, ...], held: Held) -> None:
        for text in texts:
            self.evidence.match(text, held)
        for text in texts:
            self.evidence.brought(text, held)
            if text.turn is not None:
                self._answers[text.turn] = text.part
            if text.call is not None:
                self._open.append((text.part, text.call))
                if text.call.id:
                    self._calls[text.call.id] = text.part
            elif text.raw:
                self._wholes.setdefault(text.raw, []).append((text.part, recorded.tool))

    def printed(self, text: Text) -> None:
        """What the agent printed at its end."""
        self._whole(text)
        self.evidence.match(text)

    # ------------------------------------------------------------ messages

    def _repeated(self, text: Text, number: int) -> bool:
        """Was this message said or sent before? Then it is history, where an answer had brought it."""
        assert text.turn is not None
        answer = self._answers.get(text.turn)
        if answer is not None:
            self.evidence.repeat(answer, self._again.setdefault(answer, _history(text.part)), number)
            return True
        sent = self._sent.get(text.turn)
        if sent is None:
            return False
        if sent.carries and sent.first.exchange != number:
            sent.again = sent.again or _history(text.part)
            self.evidence.repeat(sent.first, sent.again, number)
        return True

    def _new(self, text: Text) -> None:
        assert text.turn is not None
        carries = self._whole(text)
        carries |= self.evidence.match(text)
        if text.is_result:
            # Of a tool that runs in the agent, this is the first that is seen: it brings what nobody brought.
            self.evidence.brought(text, Held())
            carries = True
        else:
            self.evidence.own(text)
        self._sent[text.turn] = _Sent(text.part, carries)

    def _whole(self, text: Text) -> bool:
        """A tool's result: by the id of its call, and by a tool's answer that it repeats as a whole."""
        call = self._calls.get(text.call_id or "")
        if call is not None and text.call_id:
            self.evidence.add(call, text.part, "exact", "call id", text.call_id)
        for part, tool in reversed(self._wholes.get(text.raw, ()) if text.raw else ()):
            if len(text.raw) >= WHOLE or (tool is not None and f"`{tool}`" in text.part.name):
                self.evidence.add(part, text.part, "exact", "text", text.raw)
                return True
        return call is not None

    # ------------------------------------------------------------ calls

    def _carried_out(self, recorded: Recorded, sent: Iterable[Text]) -> None:
        """The call of a model that this request carries out: all its arguments stand in it, as they are."""
        leaves = {leaf for text in sent for leaf in text.leaves}
        whole = ("the body", "the text")
        target = next((text.part for text in sent if text.part.name in whole), None)
        for part, call in reversed(self._open):
            arguments = leaves_of(call.arguments)
            named = recorded.tool is not None and recorded.tool == call.name
            specific = named or (recorded.tool is None and any(len(one) >= LETTERS for one in arguments))
            if arguments and specific and leaves.issuperset(arguments):
                where = target or Part(recorded.number, "request", "the address")
                self.evidence.add(part, where, "exact", "call", call.arguments)
                return


def _history(part: Part) -> Part:
    return Part(part.exchange, "request", "the history", part.message, part.until)
