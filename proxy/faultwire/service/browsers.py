"""Browsers that have come in: a cookie each, and a word that their pages' forms carry."""

from __future__ import annotations

from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING

from faultwire import clock
from faultwire.dice import token

if TYPE_CHECKING:
    from faultwire.service.roles import Caller

MOST = 1_000
"""Browsers at once; the one that came first is sent away."""
LASTS_S = 8 * 3600.0


@dataclass(frozen=True, slots=True)
class Browser:
    """One that came in, until when, and the word of its forms."""

    caller: Caller
    word: str
    until_s: float


@dataclass(slots=True)
class Browsers:
    """Those of one service. In memory: after a restart everybody comes in again."""

    tls: bool
    _known: dict[str, Browser] = field(default_factory=dict)

    @property
    def cookie(self) -> str:
        """The cookie's name."""
        return "__Host-faultwire" if self.tls else "faultwire-service"

    @property
    def count(self) -> int:
        """How many have come in and are kept."""
        return len(self._known)

    def opened(self, caller: Caller) -> str:
        """A new cookie's value."""
        while len(self._known) >= MOST:
            del self._known[next(iter(self._known))]
        made = token(32)
        self._known[made] = Browser(caller, token(32), clock.monotonic() + LASTS_S)
        return made

    def of(self, header: str) -> Browser | None:
        """Whose `Cookie` field this is."""
        try:
            found = SimpleCookie(header).get(self.cookie)
        except CookieError:
            return None
        known = None if found is None else self._known.get(found.value)
        return None if known is None or known.until_s <= clock.monotonic() else known

    def end(self, browser: Browser) -> None:
        """Send it away."""
        for value, known in list(self._known.items()):
            if known is browser:
                del self._known[value]
