"""A tape that answers: requests in, recorded answers out, and a record of every difference."""

from __future__ import annotations

from collections import Counter
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from faultwire.events import Request
from faultwire.replay.answer import answer_of, with_answer
from faultwire.replay.explain_miss import (
    Difference,
    Divergence,
    content,
    counted,
    diagnose,
    differences,
    dotted,
    excerpts,
    name,
    name_of,
    near,
)
from faultwire.replay.match import Missed
from faultwire.replay.placeholders import altered
from faultwire.replay.repeated import Repeated
from faultwire.replay.request_key import clean
from faultwire.replay.script import Script

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from faultwire.events import Message, Recorded
    from faultwire.replay.answer import Answer
    from faultwire.replay.learned_ids import Pair
    from faultwire.replay.match import Entry, Index
    from faultwire.replay.rebind import Rebinder
    from faultwire.replay.request_key import RequestKey
    from faultwire.replay.settings import GivenAnswer
    from faultwire.tape.redact.redactor import Redactor

LISTED = 50
"""Misses and leftovers that a report lists; all are counted."""


class Player:
    """The answers of a tape for one session. Used by one thread at a time.

    `upstream` gives the servers' answers, not those that the agent got: faults act on them anew. `live`
    lets calls that the tape does not have go to their servers. `given` are answers in place of the recorded
    ones, by the numbers of their exchanges.
    """

    def __init__(
        self,
        index: Index,
        redactor: Redactor,
        rebinder: Rebinder | None = None,
        *,
        upstream: bool = False,
        live: bool = False,
        given: Mapping[int, GivenAnswer] | None = None,
    ) -> None:
        self._index = index
        self._repeated = Repeated(index)
        self._goes_live = live
        self._redactor = redactor
        self._rebinder = rebinder
        self._upstream = upstream
        self._others = dict(given or {})
        self._answered: dict[int, Entry] = {}
        self._late: set[int] = set()
        """Places of entries whose call went to its server, because it was not their turn."""
        self._misses: list[Divergence] = []
        self._classes: Counter[str] = Counter()
        self.served = 0
        self._redacted: list[dict[str, Any]] = []
        self._redacted_count: Counter[str] = Counter()
        """Answers with placeholders: in their `body` (or messages), or in `headers` only."""

    def arrive(self, request: Request, number: int) -> bool:
        """A request is whole; `number` is its exchange's in this session. Is it for a fork's fault?"""
        return False

    def play(self, request: Request, number: int = 0) -> Answer | Divergence | None:
        """The recorded answer to a request, its body whole; or why there is none; or None where it is to
        go to its server.

        Raises TapeError where the tape is damaged.
        """
        found = self._take(request)
        if isinstance(found, Missed):
            if self._goes_live and found.why == "order" and found.like is not None:
                self._late.add(found.like.at)
            divergence = self._diverge(found, number)
            return None if self._goes_live else divergence
        if self._goes_live:
            self._answered[number] = found
        other = self._others.get(found.recorded.number)
        if other is not None:
            return self._serve(with_answer(found.recorded, other), given=True)
        return self._serve(found.recorded)

    def _serve(self, recorded: Recorded, *, given: bool = False) -> Answer:
        """The answer of an exchange; `given` where the user has put another in its place."""
        self.served += 1
        answer = answer_of(recorded, self._rebinder, upstream=self._upstream)
        self._note_placeholders(recorded, answer, given=given)
        return answer

    def _note_placeholders(self, recorded: Recorded, answer: Answer, *, given: bool) -> None:
        found = altered(answer)
        # An answer that the user has changed differs from the recorded one in more than its header fields.
        if found is None or (given and not found.body):
            return
        self._redacted_count["body" if found.body else "headers"] += 1
        if len(self._redacted) < LISTED and (found.body or self._redacted_count["headers"] < LISTED // 2):
            one = {"call": name_of(recorded), "body": list(found.body), "headers": list(found.headers)}
            self._redacted.append(one)

    def _diverge(self, missed: Missed, number: int) -> Divergence:
        divergence = diagnose(self._index, missed, number)
        self._miss(divergence)
        return divergence

    def script(self, messages: tuple[Message, ...]) -> Script:
        """The dialogue of a recorded WebSocket."""
        return Script(messages, self._cleaned, self._strayed, upstream=self._upstream)

    def _cleaned(self, data: bytes) -> bytes:
        return clean(Request("GET", "ws", "", 0, "", (), data), self._redactor).body or b""

    def _strayed(self, sent: bytes, expected: bytes | None) -> str:
        """A message that was not recorded counts as a call that was not."""
        wanted, old = content(sent, ""), content(expected, "") if expected is not None else None
        places = differences(old, wanted) if old is not None else []
        shown = tuple(Difference(dotted(path), *excerpts(one, other)) for path, one, other in places[:5])
        reason = f"a message differs in `{shown[0].path}`" if shown else "a message was not recorded"
        self._miss(
            Divergence("changed prompt" if shown else "new call", "GET", "websocket", reason, None, shown)
        )
        return reason[:100]

    def _miss(self, divergence: Divergence) -> None:
        self._classes[divergence.kind] += 1
        if len(self._misses) < LISTED:
            self._misses.append(divergence)

    def pass_over(self, request: Request, number: int = 0) -> None:
        """A fault answered this request, and no server was asked: what is recorded for it is not missing,
        and answers the call when it is made again."""
        found = self._take(request)
        if not isinstance(found, Missed):
            self._index.give_back(found)

    def _take(self, request: Request) -> Entry | Missed:
        if self._rebinder is None or not self._rebinder.bound:
            same = self._index.ask_again(request, sha256(request.body or b"").digest())
            if same is not None:
                if self._rebinder is not None:
                    self._rebinder.observe(live=request.body, recorded=request.body)
                return self._index.take(same)
        plain = clean(request, self._redactor)
        wanted = self._index.ask(self._rebinder.recorded(plain) if self._rebinder else plain)
        found = self._index.take(wanted)
        if self._rebinder is None:
            return found
        if isinstance(found, Missed):
            found = self._rebound(wanted, found) if found.why == "unknown" else found
        elif sha256(plain.body or b"").digest() == found.body:
            self._rebinder.observe(live=plain.body, recorded=plain.body)
            return found
        else:
            theirs = found.recorded.request
            old, new = (content(one.body, one.path) for one in (theirs, wanted.request))
            self._rebinder.bind(self._rebinder.masked(differences(old, new)))
        if not isinstance(found, Missed):
            self._rebinder.observe(live=plain.body, recorded=found.recorded.request.body)
        return found

    def _rebound(self, wanted: RequestKey, missed: Missed) -> Entry | Missed:
        """An exchange that differs only in values that were minted."""
        assert self._rebinder is not None
        for entry, places in near(self._index, wanted):
            if entry.used:
                continue
            minted = partial(self._is_minted, entry)
            made = self._rebinder.allows(wanted, counted(wanted, places), minted)
            if made is None:
                continue
            made += self._rebinder.masked(places)
            if self._index.is_early(entry):
                return Missed(wanted, "order", entry)
            self._index.use(entry)
            self._rebinder.bind(made)
            return entry
        return missed

    def _is_minted(self, entry: Entry, pair: Pair, in_result: bool) -> bool:
        """Does the tape show that an answer brought this value of a recorded request as an id?"""
        if in_result:
            return self._repeated.after(entry, pair.recorded, by_name=pair.weak)
        return self._repeated.not_given(entry, pair.recorded)

    @property
    def _left(self) -> list[Entry]:
        """What is recorded and was not asked for, although it should have been."""
        return self._index.left

    def report(self) -> dict[str, Any]:
        """What was served and what was not, for reports; texts are redacted."""
        left = self._left
        classes = Counter(self._classes)
        if left:
            classes["missing call"] = len(left)
        counts = self._redacted_count
        rebound = self._rebinder.rewritten if self._rebinder is not None else 0
        missed = sum(self._classes.values())
        as_recorded = self.served == len(self._index.entries) and not (missed or left)
        return {
            "exact": as_recorded and not (self._upstream or counts or rebound or self._others),
            "recorded": len(self._index.entries),
            "served": self.served,
            "missed": missed,
            "misses": [miss.as_json() for miss in self._misses],
            "left": len(left),
            "leftovers": [name(entry) for entry in left[:LISTED]],
            "classes": dict(classes),
            "redacted": {"answers": counts["body"], "heads": counts["headers"], "calls": self._redacted},
            "rebound": rebound,
            **(self._kept if self._goes_live else {}),
        }

    @property
    def _kept(self) -> dict[str, Any]:
        """What a tape that is to hold this run's calls as well is made with."""
        unasked = (one for one in self._index.entries if not one.used and one.at not in self._late)
        recorded = {number: entry.recorded for number, entry in self._answered.items()}
        return {
            "unasked": _numbers(unasked),
            "answered": {str(number): [one.session, one.number] for number, one in recorded.items()},
        }


def _numbers(entries: Iterable[Entry]) -> dict[str, list[int]]:
    """All of them, by the tape's sessions."""
    found: dict[str, list[int]] = {}
    for entry in entries:
        found.setdefault(entry.recorded.session, []).append(entry.recorded.number)
    return found
