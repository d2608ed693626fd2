"""What a session must remember between exchanges so that the same traffic meets the same faults.

Written only through the methods here, by the one engine that the session lives on. All memory is
bounded: a session of a million exchanges holds no more than its last `KEPT` calls.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from faultwire import _core
from faultwire.exchange.conversation import RewrittenTexts
from faultwire.exchange.logical_call import LogicalCall
from faultwire.plugins.frozen import dataclass
from faultwire.wire.conversation_history import ConversationHistory
from faultwire.wire.recognition.peers import Peers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire._core import WaitingEntries
    from faultwire.events import Exchange, FaultFired, RequestView, ToolCall, ToolResult
    from faultwire.wire.tool_sites import Own
    from faultwire.wire.types import Rewrite

KEPT = 4096
"""Distinct calls, decisions and tool-call ids that are remembered, each."""

K = TypeVar("K")
V = TypeVar("V")
Verb = Literal["fire", "skip", "inapplicable"]
Judgement = tuple[Verb, str, float | None]
"""Verb, reason, and the roll where one was made."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a decision is about: an exchange, or one tool result inside it (`name` is its tool)."""

    key: str
    n: int
    attempt: int
    name: str | None = None


@dataclass(frozen=True, slots=True)
class PlantedCanary:
    """Who planted a canary: the entry and its fault, and the exchange in which it went out."""

    entry: str
    fault: str
    site: str
    number: int


@dataclass(slots=True)
class SessionState:
    """Counts, attempts and remembered rewrites of one session."""

    rewrites: OrderedDict[str, Rewrite | None] = field(default_factory=OrderedDict)
    """A tool result's key to what it was replaced with; None where it was let through."""
    replaced_by: OrderedDict[str, tuple[FaultFired, int]] = field(default_factory=OrderedDict)
    """The key of a replaced result to the ledger's line about it, and the exchange that it came with."""
    inboxes: OrderedDict[str, None] = field(default_factory=OrderedDict)
    """Addresses whose answers come in another exchange's stream, which is open (`deferred_replies`)."""
    owed: OrderedDict[tuple[str, bytes], Any] = field(default_factory=OrderedDict)
    """Such an address and a request's id to the faults that wait for its answer (an `ExpectedReply`)."""
    unread_lines: dict[str, FaultFired] = field(default_factory=dict)
    """A tool result's key to the ledger's line about its fault, until a model has answered a request
    that carried it: only then has the fault fired."""
    tools: OrderedDict[str, ToolCall] = field(default_factory=OrderedDict)
    """Tool-call id to the call, from responses of providers that keep the conversation themselves."""
    rewritten_texts: RewrittenTexts = field(default_factory=RewrittenTexts)
    """The texts that attacks changed, by conversation."""
    conversations: ConversationHistory = field(default_factory=ConversationHistory, compare=False, repr=False)
    """What the last requests held, so that what they have in common with the next is read once."""
    peers: Peers = field(default_factory=Peers)
    """Agents whose cards were seen."""
    canaries: OrderedDict[str, PlantedCanary] = field(default_factory=OrderedDict)
    """Words that were planted, by whom."""
    only: int | None = None
    """The one exchange on which faults act, by number; 0 while it has not come, None where all may."""
    _last_results: OrderedDict[str, str] = field(default_factory=OrderedDict)
    _sites: OrderedDict[str, Own] = field(default_factory=OrderedDict)
    _memories: dict[str, dict[str, Any]] = field(default_factory=dict)
    triggers: _core.TriggerCounts = field(default_factory=_core.TriggerCounts)
    """The calls that each entry has seen and fired on."""
    gates: OrderedDict[int, Any] = field(default_factory=OrderedDict, compare=False, repr=False)
    """Each an `exchange.gate.EntryGate`, by the identity of the entries that it is of."""
    _calls: OrderedDict[str, LogicalCall] = field(default_factory=OrderedDict)
    _decided: OrderedDict[tuple[str, int], dict[str, Judgement] | WaitingEntries] = field(
        default_factory=OrderedDict
    )
    """By logical call, the judgements on it by entry; of the oldest calls they are forgotten together."""
    _judgements: int = 0
    """How many there are."""
    _outcomes: OrderedDict[tuple[str, str, int], bool] = field(default_factory=OrderedDict)
    """Of a decision to fire whose exchange is over: did the fault fire?"""
    _number: int = 0

    def number(self) -> int:
        """The ordinal of the next exchange, from 1."""
        self._number += 1
        return self._number

    def identify(self, exchange: Exchange, *, declared: int | None = None) -> Exchange:
        """Number a logical call and its attempts.

        A retry is recognised by the SDK's own counter (`declared`, as `wire.attempt` reads it); where none is
        sent, or nobody had looked at the request, by the same one again right after a fault failed it.
        """
        n, tried = self.numbered(exchange.key, declared)
        return replace(exchange, n=n, attempt=tried)

    def numbered(self, key: str, declared: int | None) -> tuple[int, int]:
        """The number of a logical call with that key, and of its attempt; as `identify`."""
        call = self._call(key)
        n = call.retried(declared)
        if n is None:
            n = call.begin()
        else:
            call.attempts[n] += 1
            call.broken.pop(n, None)
        call.stated[n] = declared
        return n, call.attempts[n]

    def occurrence(self, key: str) -> int:
        """How often a tool result's key came before in the session."""
        call = self._call(key)
        call.n += 1
        return call.n

    def mark_failed(self, key: str, n: int, *, seen: bool = True) -> None:
        """A fault ended this attempt, so that the same request again is its retry; even with the SDK's count
        unchanged, where its client was told that nobody has `seen` it."""
        call = self._call(key)
        if n in call.attempts:
            call.broken[n] = seen

    def counts(self, entry: str) -> tuple[int, int]:
        """Logical calls that an entry has seen, and those on which it fired or is about to."""
        return self.triggers.counts(entry)

    def decided(self, entry: str, subject: Subject) -> Judgement | None:
        """The judgement on an earlier attempt of the same logical call."""
        group = self._decided.get((subject.key, subject.n)) if subject.attempt else None
        return None if group is None else group.get(entry)

    def begun(self, entry: str) -> tuple[int, float] | None:
        """The logical call on which an entry first fired, from 1, and its instant; None before."""
        return self.triggers.begun(entry)

    def note(self, entry: str, subject: Subject, judgement: Judgement, at_s: float = 0.0) -> None:
        """Count a decision; the attempts of one logical call count once."""
        if not subject.attempt or self.decided(entry, subject) is None:
            self.triggers.note(entry, at_s, judgement[0] == "fire")
            self._keep(entry, subject, judgement)
        elif judgement[0] == "fire" and self.slot_released(entry, subject):
            del self._outcomes[entry, subject.key, subject.n]
            self.triggers.take(entry, 1)

    def is_decided(self, call: tuple[str, int]) -> bool:
        """Is there a judgement on a logical call, by key and number?"""
        return call in self._decided

    def note_waiting(self, call: tuple[str, int], waiting: WaitingEntries) -> None:
        """Keep the judgements on a logical call on which nothing is decided yet; they are counted."""
        if len(waiting):
            self._decided[call] = waiting
            self._judgements += len(waiting)
            self._forget()

    def _keep(self, entry: str, subject: Subject, judgement: Judgement) -> None:
        call = (subject.key, subject.n)
        group = self._decided.get(call)
        if not isinstance(group, dict):
            group = self._decided[call] = dict(group.items() if group is not None else ())
        if entry not in group:
            self._judgements += 1
        group[entry] = judgement
        self._forget()

    def _forget(self) -> None:
        while self._judgements > KEPT and len(self._decided) > 1:
            _, forgotten = self._decided.popitem(last=False)
            self._judgements -= len(forgotten)

    def record_outcome(self, entry: str, subject: Subject, *, fired: bool) -> None:
        """Record a decision's outcome. If the fault fired in no attempt of its call, it gives its
        place among `max_times` back; in whichever order attempts that were under way at once end."""
        decision = (entry, subject.key, subject.n)
        before = self._outcomes.get(decision)
        if before is None and not fired:
            self.triggers.take(entry, -1)
        elif before is False and fired:
            self.triggers.take(entry, 1)
        if not before:
            _bounded(self._outcomes, decision, fired)

    def slot_released(self, entry: str, subject: Subject) -> bool:
        """Has this decision no place among `max_times` any more?"""
        return self._outcomes.get((entry, subject.key, subject.n)) is False

    def learn(self, calls: Iterable[ToolCall]) -> None:
        """Keep the calls of a response whose conversation the provider keeps."""
        for call in calls:
            if call.id:
                _bounded(self.tools, call.id, call)

    def with_tool_names(self, view: RequestView) -> RequestView:
        """The view with the tools named that only an earlier response named."""
        if not self.tools or all(result.name for result in view.results):
            return view
        turns = tuple(
            replace(turn, tool_results=tuple(self._with_tool_name(result) for result in turn.tool_results))
            for turn in view.turns
        )
        return replace(view, turns=turns)

    def _with_tool_name(self, result: ToolResult) -> ToolResult:
        call = None if result.name else self.tools.get(result.call_id)
        return replace(result, name=call.name, arguments=call.arguments) if call else result

    def remember(self, key: str, rewrite: Rewrite | None, by: tuple[FaultFired, int] | None = None) -> None:
        """Keep what was done to a tool's result, and by what, to do the same in every later request."""
        _bounded(self.rewrites, key, rewrite)
        if by is not None:
            _bounded(self.replaced_by, key, by)

    def plant(self, canary: str, planted: PlantedCanary) -> None:
        """Look out for a word in all that the agent sends from now on."""
        if canary not in self.canaries:
            _bounded(self.canaries, canary, planted)

    def swap_result(self, tool: str, text: str) -> str | None:
        """Take note of a tool's result; returns the one before it."""
        before = self._last_results.get(tool)
        _bounded(self._last_results, tool, text)
        return before

    def open_replies(self, address: str) -> None:
        """A stream has begun in which the answers to this address come."""
        _bounded(self.inboxes, address, None)

    def close_replies(self, address: str) -> list[Any]:
        """It has ended; what was still owed in it."""
        self.inboxes.pop(address, None)
        return [self.owed.pop(key) for key in [key for key in self.owed if key[0] == address]]

    def expect(self, key: tuple[str, bytes], reply: Any) -> None:
        """Let faults wait for the answer to a request."""
        _bounded(self.owed, key, reply)

    def note_call(self, tool: str, at: Own) -> None:
        """Note that a tool was called at a site of its own; the first one stays."""
        if tool not in self._sites:
            _bounded(self._sites, tool, at)

    def seen_at(self, tool: str) -> Own | None:
        """The outermost site of its own at which a tool was called, None where none was seen.

        Agents that talk to several servers give a tool's name as `mcp__SERVER__TOOL` to the model.
        """
        found = self._sites.get(tool)
        if found is None and tool.startswith("mcp__"):
            found = self._sites.get(tool.partition("__")[2].partition("__")[2])
        return found

    def memory(self, entry: str) -> dict[str, Any]:
        """What the faults of one entry keep between exchanges."""
        return self._memories.setdefault(entry, {})

    def _call(self, key: str) -> LogicalCall:
        found = self._calls.get(key)
        if found is None:
            found = LogicalCall()
        _bounded(self._calls, key, found)
        return found


def _bounded(memory: OrderedDict[K, V], key: K, value: V) -> None:
    memory[key] = value
    memory.move_to_end(key)
    while len(memory) > KEPT:
        memory.popitem(last=False)
