"""What became of a session's recorded answers, and whether what happened was the incident at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.faults.tool.recorded_response import RecordedResponse

if TYPE_CHECKING:
    from faultwire.events import History
    from faultwire.profile.entry_model import Entry
    from faultwire.profile.model import Profile

NAMED = 8
"""Tools that a message names."""
MISS = "diverged: "
"""How the error of an exchange begins that a replayed tape had no answer to."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One tool of a session: how many answers are recorded, and how often it was called."""

    tool: str
    recorded: int
    calls: int
    none_left: str

    @property
    def left(self) -> int:
        """Recorded answers that nobody asked for."""
        return max(0, self.recorded - self.calls)

    @property
    def beyond(self) -> int:
        """Calls that found no recorded answer."""
        return max(0, self.calls - self.recorded)

    def notes(self) -> tuple[str, ...]:
        """The notes on it, if there are any."""
        lines = []
        if self.left:
            one = "answer" if self.recorded == 1 else "answers"
            lines.append(f"{self.left} of {self.recorded} recorded {one} of `{self.tool}` not requested")
        if self.beyond:
            did = {"refuse": "refused", "pass": "passed on", "repeat": "given the last one again"}
            one = "call" if self.beyond == 1 else "calls"
            lines.append(
                f"{self.beyond} {one} of `{self.tool}` found no recorded answer left: {did[self.none_left]}"
            )
        return tuple(lines)


def answered(profile: Profile, history: History) -> tuple[Answered, ...]:
    """What became of the recorded answers of each tool, in the session's order."""
    return tuple(
        Answered(_tool(entry), len(entry.fault.responses), _calls(entry, history), entry.fault.none_left)
        for entry in profile.entries
        if isinstance(entry.fault, RecordedResponse)
    )


def notes_on(profile: Profile, history: History) -> tuple[str, ...]:
    """The notes on a session's recorded answers: those left over, and calls that found none."""
    return tuple(note for one in answered(profile, history) for note in one.notes())


def not_reproduced(profile: Profile, history: History) -> str | None:
    """Why what happened is not what the scenario is about, or None where nothing speaks against it.

    That is where a tape had no answer to a call, and where a fault that is required never fired.
    """
    missed = [exchange for exchange in history.exchanges if (exchange.error or "").startswith(MISS)]
    if missed:
        first = missed[0]
        why = (first.error or "").removeprefix(MISS)
        calls = "call" if len(missed) == 1 else "calls"
        return (
            f"the tape had no answer to {len(missed)} {calls}, first to exchange {first.number}: {why} "
            "(`on_miss: live` asks the model, and without `tape` all calls go live)"
        )
    for entry in profile.entries:
        if entry.fault.required and not _calls(entry, history):
            seen = tools_seen(history)
            named = f"seen were `{'`, `'.join(seen[:NAMED])}`" if seen else "no tool was seen at all"
            more = f" and {len(seen) - NAMED} more" if len(seen) > NAMED else ""
            return f"tool `{_tool(entry)}` of `{profile.name}` was never called ({named}{more})"
    return None


def tools_seen(history: History) -> tuple[str, ...]:
    """The tools that were called, by the names that they have where they are seen, in order."""
    seen: dict[str, None] = {}
    for exchange in history.exchanges:
        if exchange.tool is not None:
            seen[exchange.tool] = None
        transcript = wire.transcript_of(exchange) if exchange.kind == "llm" else None
        if transcript is None:
            continue
        if transcript.request is not None:
            seen.update({result.name: None for result in transcript.request.results if result.name})
        if transcript.answer is not None:
            seen.update({call.name: None for call in transcript.answer.tool_calls if call.name})
    return tuple(seen)


def _calls(entry: Entry, history: History) -> int:
    """How often an entry was asked for an answer: each time is one line of the ledger."""
    lines = (line for exchange in history.exchanges for line in exchange.faults if line.id == entry.id)
    return sum(line.outcome in ("fired", "no_effect") for line in lines)


def _tool(entry: Entry) -> str:
    names = entry.on.tool or entry.id
    return names if isinstance(names, str) else names[0]
