"""What a tape knows of a value: which answer brought it, and what was recorded after that repeats it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.errors import TapeError
from faultwire.replay.answer import answer_of
from faultwire.replay.learned_ids import ids_in
from faultwire.tape.redact.content_coding import Opaque, unpack
from faultwire.tape.redact.headers import codings

if TYPE_CHECKING:
    from faultwire.events import Recorded
    from faultwire.replay.match import Entry, Index

AHEAD = 64
"""Exchanges after one in which a repetition is looked for."""
_REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class Uses:
    """The ids in one exchange: in what its `answer` says, in the `arguments` of the tools that it calls, and
    in its `request` where that goes to no model (one to a model repeats all that was said before)."""

    answer: frozenset[str]
    arguments: frozenset[str]
    request: frozenset[str]


class Repeated:
    """Reads the exchanges of an index when something is asked of them."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._known: OrderedDict[int, Uses] = OrderedDict()

    def after(self, entry: Entry, value: str, *, by_name: bool) -> bool:
        """Does what was recorded from this exchange's answer on repeat the value? With `by_name` a mention in
        an answer is not enough: a tool's arguments or a request must have it, as amounts seldom are."""
        for other in self._index.entries[entry.at : entry.at + AHEAD]:
            uses = self._uses(other)
            if value in uses.arguments or (other is not entry and value in uses.request):
                return True
            if not by_name and value in uses.answer:
                return True
        return False

    def not_given(self, entry: Entry, value: str) -> bool:
        """Did an answer that was recorded before this exchange bring the value, and has no call of this run
        got that answer? Then this run's own answer in its place brought another value."""
        before = self._index.entries[max(0, entry.at - AHEAD) : entry.at]
        brought = [other for other in before if value in self._uses(other).answer]
        return bool(brought) and not any(other.used for other in brought)

    def _uses(self, entry: Entry) -> Uses:
        found = self._known.get(entry.at)
        if found is None:
            found = self._known[entry.at] = _uses(entry.recorded)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return found


def _uses(recorded: Recorded) -> Uses:
    asked: set[str] = set()
    request = recorded.request
    if recorded.kind != "llm":
        asked = ids_in(request.path) | ids_in((request.body or b"").decode("latin-1"))
    transcript = wire.transcript_of(recorded) if recorded.kind == "llm" else None
    if transcript is not None and transcript.answer is not None:
        view = transcript.answer
        arguments = ids_in(" ".join(call.arguments for call in view.tool_calls))
        return Uses(frozenset(ids_in(view.text) | arguments), frozenset(arguments), frozenset(asked))
    return Uses(frozenset(ids_in(_text(recorded))), frozenset(), frozenset(asked))


def _text(recorded: Recorded) -> str:
    try:
        answer = answer_of(recorded)
    except TapeError:
        return ""
    body = b"".join(data for data, _ in answer.chunks)
    coded = codings([value for name, value in answer.headers if name.lower() == "content-encoding"])
    try:
        return (unpack(body, coded) if coded else body).decode("latin-1")
    except Opaque:
        return ""
