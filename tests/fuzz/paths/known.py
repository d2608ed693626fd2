"""Differences between the paths that are known, each with its reason.

A reason says what it takes for the same: where two outcomes differ in nothing else, they differ for it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.fuzz.paths.drivers import HALF
from tests.fuzz.paths.outcomes import Outcome, differences

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fuzz.paths.cases import Case

_REFUSAL = re.compile(rb'\{"error": \{"message": "(?:[^"\\]|\\.)*", "type": "(faultwire_[a-z]+)"\}\}')
_LENGTH = re.compile(rb"\r\ncontent-length: \d+\r\nconnection: close")


def _words(data: bytes) -> bytes:
    """Bytes in which our refusals say nothing but their type."""
    if not _REFUSAL.search(data):
        return data
    return _LENGTH.sub(b"", _REFUSAL.sub(rb"\1", data))


def _of_tape(recorded: dict[str, Any], change: Callable[[bytes], bytes]) -> dict[str, Any]:
    delivered, ending = recorded["delivered"], recorded["ending"]
    found = dict(recorded, down=change(recorded["down"]))
    if delivered is not None and _REFUSAL.search(delivered.body or b""):
        headers = tuple(pair for pair in delivered.headers if pair[0] != "content-length")
        found["delivered"] = replace(delivered, body=change(delivered.body), headers=headers)
    if ending is not None and ending[1] is not None:
        found["ending"] = (ending[0], re.split(r"malformed: |HTTP/1 protocol error: ", ending[1])[0])
    return found


def wording(one: Outcome) -> Outcome:
    """The text about a message that cannot be read, by the reader's own words and by its first flaw."""
    tape = [_of_tape(recorded, _words) for recorded in one.tape]
    return replace(one, client=[_words(data) for data in one.client], tape=tape)


def largeness(one: Outcome) -> Outcome:
    """Status and type of the refusal of a request head that is both over 64 KiB and malformed."""
    refused = b"HTTP/1.1 431 Request Header Fields Too Large"
    told = [data.replace(refused, b"HTTP/1.1 400 Bad Request") for data in one.client]
    told = [data.replace(b"faultwire_refused", b"faultwire_malformed") for data in told]
    return replace(one, client=told)


def handed_back(one: Outcome) -> Outcome:
    """The connections to servers of a client of the proxy itself, which are ended when it is handed back."""
    return replace(one, server_ends=["" for _ in one.server_ends])


_OF_MESSAGES: dict[str, Callable[[Outcome], Outcome]] = {
    "the words for a message that cannot be read": wording,
    "a head that is both too large and malformed": lambda one: largeness(wording(one)),
}
REASONS: dict[str, Callable[[Outcome], Outcome]] = _OF_MESSAGES | {
    "a half-close of mitmproxy's": lambda one: half_closed(wording(one)),
    "a connection to a server on which nothing more is asked": lambda one: left(half_closed(wording(one))),
}


def in_turn(one: Outcome) -> Outcome:
    """Which of its connections to servers carries a request: the native path has one at a time."""
    asked = sorted(message for messages in one.servers for message in messages)
    return handed_back(replace(one, servers=[asked], server_ends=[]))


def half_closed(one: Outcome) -> Outcome:
    """mitmproxy ends its side towards a server that has begun, before it has the whole request, an answer
    that only the end of the connection ends."""
    return replace(one, server_ends=[end.removesuffix(HALF) for end in one.server_ends])


def left(one: Outcome) -> Outcome:
    """The ends of all connections to servers but the newest: mitmproxy keeps them until the client leaves."""
    ends = one.server_ends
    return replace(one, server_ends=["" for _ in ends[:-1]] + ends[-1:])


FOLLOWS = frozenset(("client", "client_end", "servers", "server_ends", "counters"))


def _begins(here: list[bytes], there: list[bytes]) -> bool:
    """Are these messages the first of those, the last perhaps only in part?"""
    if not here:
        return True
    *whole, last = here
    begun = last.partition(b"|cut|")[0]
    return whole == there[: len(whole)] and any(one.startswith(begun) for one in there[len(whole) :][:1])


def refused_at_once(one: Outcome, other: Outcome) -> bool:
    """Has the native path refused a body that mitmproxy's takes, or of which it waits for more? What passed
    before is the same."""
    if "body" not in other.flaws or len(other.servers) > len(one.servers):
        return False
    if other.client[:-1] != one.client[: len(other.client[:-1])]:
        return False
    if not all(_begins(here, there) for here, there in zip(other.servers, one.servers, strict=False)):
        return False
    last = f"tape.{len(other.tape) - 1}."
    return all(name in FOLLOWS or name.startswith(last) for name in differences(one, other))


EARLY = "the lines of a body in chunks, which the native path reads more strictly, and at once"
OF_THE_PROXY: dict[str, Callable[[Outcome], Outcome]] = {
    "a client of the proxy itself that is handed back": lambda one: handed_back(largeness(wording(one))),
    "servers that a client of the proxy itself asks in turn": lambda one: in_turn(largeness(wording(one))),
}
"""Reasons that there are only outside of tunnels."""


def reason(case: Case, one: Outcome, other: Outcome) -> str | None:
    """The reason of all differences; empty where there are none, None where one is not known."""
    if not differences(one, other):
        return ""
    for name, change in (_OF_MESSAGES | OF_THE_PROXY | REASONS if case.plain else REASONS).items():
        if not differences(change(one), change(other)):
            return name
    return EARLY if refused_at_once(one, other) else None
