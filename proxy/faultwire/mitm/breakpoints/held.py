"""One exchange that is held at a breakpoint, and what may be decided about it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from faultwire.events import header

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.events import Exchange, Headers
    from faultwire.mitm.compat.hooks import Pause
    from faultwire.mitm.settings import DecisionSettings

ALIVE = b": held by faultwire\n"
"""A comment of an event stream (WHATWG HTML §9.2.6). Of one line: a blank one would end an event of nothing,
which some SDKs take for one without data."""
ALIVE_IN = frozenset(("anthropic", "openai_chat", "openai_responses"))
"""Protocols whose official SDKs pass over such comments."""
WAITS = (
    ("x-stainless-read-timeout", False),
    ("x-stainless-timeout", False),
    ("x-server-timeout", True),
    ("grpc-timeout", True),
)
"""Header fields in which SDKs say how long they wait, and whether that is for the whole call; else it is for
the next piece."""
_GRPC = {"H": 3600.0, "M": 60.0, "S": 1.0, "m": 1e-3, "u": 1e-6, "n": 1e-9}
_NUMBER = re.compile(r"([0-9]{1,8}(?:\.[0-9]{1,6})?)([HMSmun]?)")


class Exchanging(Protocol):
    """The exchange under way."""

    ended: bool
    pause: Pause | None


@dataclass(frozen=True, slots=True)
class Waits:
    """How long the client waits, where it says so. `whole`: for all of the call."""

    seconds: float
    field: str
    whole: bool


@dataclass(slots=True, eq=False)
class Held:
    """One hold. `shown` is what is to be seen, without secrets; `edits` names what of it may be changed,
    `may` what may be decided. `apply` makes a decision's edit and gives it in words; it raises UsageError,
    WireError."""

    ident: str
    breakpoint: str
    exchange: Exchange
    at: str
    shown: dict[str, Any]
    edits: tuple[str, ...]
    may: tuple[str, ...]
    apply: Callable[[DecisionSettings], str]
    alive: bool
    """Is the client kept waiting by comments?"""
    since: float
    last_sent: float
    """The instant at which the client last got something, or asked."""
    waits: Waits | None
    under_way: Exchanging | None = None
    done: str | None = None
    """What was decided, in words."""
    do: str | None = None

    @property
    def decided(self) -> bool:
        """Does it go on?"""
        return self.do is not None

    @property
    def gone(self) -> bool:
        """Has the exchange ended while it was held?"""
        return self.under_way is not None and self.under_way.ended

    def as_json(self, now: float) -> dict[str, Any]:
        """The hold in short."""
        exchange, waits = self.exchange, self.waits
        left = None
        if waits is not None:
            left = waits.seconds - (now - (self.since if waits.whole else self.last_sent))
        return {
            "id": self.ident,
            "breakpoint": self.breakpoint,
            "session": exchange.session,
            "number": exchange.number,
            "at": self.at,
            "kind": exchange.kind,
            "protocol": exchange.protocol,
            "provider": exchange.provider,
            "model": exchange.view.model if exchange.view else None,
            "tool": exchange.tool,
            "held_s": round(now - self.since, 3),
            "client_waits_s": None if waits is None else waits.seconds,
            "client_left_s": None if left is None else round(left, 3),
            "client_says": None if waits is None else waits.field,
            "kept_alive": self.alive,
            "may": list(self.may),
            "edits": list(self.edits),
        }


def client_waits(headers: Headers) -> Waits | None:
    """How long the client says that it waits."""
    for name, whole in WAITS:
        found = _NUMBER.fullmatch(header(headers, name, "") or "")
        if found is None or bool(found[2]) != (name == "grpc-timeout"):
            continue
        seconds = float(found[1]) * _GRPC.get(found[2], 1.0)
        if seconds > 0:
            return Waits(seconds, name, whole)
    return None
