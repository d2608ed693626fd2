"""Values that are minted anew in every run, and what the tape has in their place.

An agent mints ids and instants: for its tool calls, in what its tools return, in what it asks of servers.
The first time that a live request has such a value where the recorded one has another, and both are
fresh (they occurred nowhere before, in this run or on the tape), the two belong together from then on: later
requests are compared with the recorded value, and later recorded answers say the live one.
"""

from __future__ import annotations

import re  # noqa: TID251 - fixed patterns, and values quoted
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from faultwire.errors import WireError
from faultwire.replay.learned_ids import id_pairs, ids_in
from faultwire.replay.volatile_values import MINTED, pairs
from faultwire.tape.redact.redactor import moved
from faultwire.tape.redact.stream import text_pieces, texts_by_member
from faultwire.tape.redact.text import unescape

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.events import Path, Request
    from faultwire.replay.learned_ids import Pair
    from faultwire.replay.request_key import RequestKey

_ESCAPE = re.compile(r"\\+(?:[nrtbf\"/]|u[0-9A-Fa-f]{4})")
_ESCAPED = r"(?<=\\u[0-9A-Fa-f]{4})"
"""Behind an escaped character, as a quotation mark in ASCII is: its digits are no part of a value."""


UNREAD = 16 * 1024 * 1024
"""Bytes that are kept to be looked into later: in a run that does not differ nobody needs to."""


class Rebinder:
    """Which live value stands for which recorded one, in one session."""

    def __init__(self) -> None:
        self._to_recorded: dict[str, str] = {}
        self._to_live: dict[str, str] = {}
        self._seen_live: set[str] = set()
        self._seen_recorded: set[str] = set()
        self._unread: list[tuple[bytes | None, bytes | None]] = []
        self._unread_size = 0
        self.rewritten = 0
        """Recorded answers in which live values were put."""

    @property
    def bound(self) -> bool:
        """Does any value stand for another?"""
        return bool(self._to_recorded)

    # ------------------------------------------------------------ requests

    def recorded(self, request: Request) -> Request:
        """A live request with the tape's values in place of the live ones."""
        if not self._to_recorded:
            return request
        path = _replaced(request.path, self._to_recorded)
        body = request.body
        if body:
            body = _replaced(body.decode("latin-1"), self._to_recorded).encode("latin-1")
        return replace(request, path=path, body=body)

    def allows(
        self,
        wanted: RequestKey,
        places: list[tuple[Path, Any, Any]],
        minted: Callable[[Pair, bool], bool] | None = None,
    ) -> list[tuple[str, str]] | None:
        """The pairs (recorded, live) to bind so that two requests are the same; None where they are not.

        Values that are ids by their shape are bound in tools' results and in requests that go to no model.
        `minted` says of other pairs, and whether they stand in a tool's result, if the tape shows that they
        are ids.
        """
        found: dict[str, str] = {}
        back: dict[str, str] = {}
        minting = _minting(wanted)
        for path, old, new in places:
            inside = path[:1] == ("$",) and any(path[1 : 1 + len(one)] == one for one in minting)
            made = pairs(old, new) if inside or wanted.kind != "llm" else None
            if made is None and minted is not None and (inside or wanted.kind != "llm"):
                key = next((part for part in reversed(path) if isinstance(part, str)), "")
                made = self._learned(id_pairs(old, new, key), minted, in_result=inside)
            if made is None:
                return None
            for one, other in made:
                if not self._fresh(one, other) or found.setdefault(one, other) != other:
                    return None
                if back.setdefault(other, one) != one:
                    return None
        return list(found.items())

    def _learned(
        self, found: list[Pair] | None, minted: Callable[[Pair, bool], bool], *, in_result: bool
    ) -> tuple[tuple[str, str], ...] | None:
        if found is None:
            return None
        for pair in found:
            bound = self._to_live.get(pair.recorded) == pair.live
            if not (pair.shaped or bound or minted(pair, in_result)):
                return None
        return tuple((pair.recorded, pair.live) for pair in found)

    def _fresh(self, recorded: str, live: str) -> bool:
        known = self._to_live.get(recorded)
        if known is not None:
            return known == live
        self._look()
        return (
            live not in self._seen_live
            and recorded not in self._seen_recorded
            and live not in self._to_recorded
            and not (
                live in self._to_live and MINTED.fullmatch(live)
            )  # a bound one, as the tape has it by now
        )

    def masked(self, places: list[tuple[Path, Any, Any]]) -> list[tuple[str, str]]:
        """The pairs that differ between two requests that count as the same."""
        made = [pair for _, old, new in places for pair in pairs(old, new) or ()]
        return [(old, new) for old, new in made if self._fresh(old, new)]

    def bind(self, found: list[tuple[str, str]]) -> None:
        """From now on these belong together."""
        for recorded, live in found:
            self._to_live[recorded] = live
            self._to_recorded[live] = recorded

    def observe(self, *, live: bytes | None = None, recorded: bytes | None = None) -> None:
        """Note a text of this run and of the tape; it is searched only when that is needed."""
        self._unread.append((live, recorded))
        self._unread_size += len(live or b"") + (len(recorded or b"") if recorded is not live else 0)
        if self._unread_size > UNREAD:
            self._look()

    def _look(self) -> None:
        for live, recorded in self._unread:
            found = _volatile(live)
            self._seen_live |= found
            self._seen_recorded |= found if recorded is live else _volatile(recorded)
        self._unread.clear()
        self._unread_size = 0

    # ------------------------------------------------------------ answers

    def live(self, body: bytes, ends: list[int]) -> tuple[bytes, list[int]]:
        """A recorded answer with live values in place of the tape's, and where its chunks end then.

        Models send a few letters per event: a value may stand in several of them.
        """
        if not self._to_live or not body:
            return body, ends
        text = body.decode("latin-1")
        edits = [
            (start, end, self._to_live[value])
            for value in self._to_live
            for start, end in _found(text, value)
        ]
        edits += self._across(text)
        edits.sort(key=lambda edit: (edit[0], -edit[1]))  # the longest of those that begin at one place
        self.rewritten += bool(edits)
        out: list[str] = []
        moves: list[tuple[int, int, int]] = []
        at = 0
        for start, end, new in edits:
            if start < at:
                continue
            out += [text[at:start], new]
            moves.append((start, end, len(new)))
            at = end
        out.append(text[at:])
        return "".join(out).encode("latin-1"), moved(ends, moves)

    def _across(self, text: str) -> list[tuple[int, int, str]]:
        """Edits for values that stand in what a stream says, in one piece of it or in several."""
        out: list[tuple[int, int, str]] = []
        by_name: dict[str, list[Any]] = {}
        for piece in text_pieces(text):
            by_name.setdefault(piece.name, []).append(piece)
        for pieces in by_name.values():
            joined, starts, ends, owners = "", list[int](), list[int](), list[int]()
            for owner, piece in enumerate(pieces):
                inner = unescape(text, piece.start, piece.end)
                joined += inner.text
                starts += inner.starts[:-1]
                ends += inner.starts[1:]
                owners += [owner] * len(inner.text)
            for value, live in self._to_live.items():
                for start, end in _found(joined, value):
                    out += _split(range(start, end), starts, ends, owners, live)
        return out


def _volatile(data: bytes | None) -> set[str]:
    if not data:
        return set()
    text = data.decode("latin-1")
    plain = _ESCAPE.sub(" ", text)
    found = {one[0] for one in MINTED.finditer(plain)} | ids_in(plain)
    if b"data:" in data:  # a model says an id a few letters per event
        for joined in texts_by_member(text).values():
            found |= ids_in(joined)
    return found


def _split(
    span: range, starts: list[int], ends: list[int], owners: list[int], live: str
) -> list[tuple[int, int, str]]:
    """One value in pieces: each piece keeps its share, the last one takes what is left."""
    out: list[tuple[int, int, str]] = []
    rest = live
    at = span.start
    while at < span.stop:
        till = at
        while till < span.stop and owners[till] == owners[at]:
            till += 1
        share = rest if till == span.stop else rest[: till - at]
        rest = rest[len(share) :]
        out.append((starts[at], ends[till - 1], share))
        at = till
    return out


def _minting(wanted: RequestKey) -> list[Path]:
    """Where in a request to a model stands what the agent's own code made: the results of its tools."""
    if wanted.protocol is None:
        return []
    try:
        view = wanted.protocol.view(wanted.request)
    except WireError:
        return []
    return [result.path for result in view.results]


def _pattern(value: str) -> re.Pattern[str]:
    """A value, not as a part of a longer number, nor of a longer word where it is one itself."""
    return re.compile(_bordered(value))


def _bordered(value: str) -> str:
    if value.isdigit():
        return rf"(?:(?<![0-9.])|{_ESCAPED}){value}(?!\.?[0-9])"
    if value[0].isdigit():
        return rf"(?:(?<![0-9.])|{_ESCAPED}){re.escape(value)}(?![0-9])"
    # The `n` of an escaped line break is no letter of a word.
    return rf"(?:(?<![0-9A-Za-z])|(?<=\\[nrtbf])|{_ESCAPED}){re.escape(value)}(?![0-9A-Za-z])"


def _found(text: str, value: str) -> list[tuple[int, int]]:
    return [found.span() for found in _pattern(value).finditer(text)] if value in text else []


def _replaced(text: str, known: dict[str, str]) -> str:
    """All at once: serial numbers of one run are those of another, moved on by some."""
    here = [value for value in known if value in text]
    if not here:
        return text
    either = "|".join(f"(?:{_bordered(value)})" for value in sorted(here, key=len, reverse=True))
    return re.sub(either, lambda found: known[found[0]], text)
