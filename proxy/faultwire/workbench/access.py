"""Who may use the workbench: decisions on requests, without a socket.

A page in the same browser may send requests to any local port, under any name that resolves to it (DNS
rebinding), and with our cookie, since cookies know no ports. So a request must name us by our own address,
come from our own page, carry the cookie that the one-time token was exchanged for and, to change anything, a
word that only our page knows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING

from faultwire import clock
from faultwire.dice import token

if TYPE_CHECKING:
    from collections.abc import Mapping

SESSIONS = 16
"""Browsers that may be logged in at once; the oldest is logged out."""
SHARES = 16
"""Links to share that may wait to be opened; the oldest goes."""
SHARE_S = 3600.0
"""Seconds in which a link to share must be opened."""
CSRF = "x-faultwire-csrf"
"""The header that carries the word of the page."""
READING = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not answered: status, a stable code, and what to do."""

    status: int
    code: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked at of a request; header names in lower case."""

    method: str
    headers: Mapping[str, str]
    open_to_all: bool = False
    """Is it one of our own files, which say nothing, or the exchange of the token?"""
    leaving: bool = False
    """Does it end its own session?"""


@dataclass(frozen=True, slots=True)
class _Browser:
    """One that is logged in: the word of its page, and whether it may only read."""

    word: str
    reads: bool


@dataclass(slots=True)
class Access:
    """The rules of one server. `hosts` are what a `Host` header may say, in lower case and with the port."""

    hosts: frozenset[str]
    port: int
    tls: bool = False
    link: str = field(default_factory=lambda: token(32))
    """The one-time token of the link."""
    program: str | None = None
    """A token for programs, which may be used any number of times; None where there is none."""
    _used: bool = False
    _shares: dict[str, float] = field(default_factory=dict)
    _sessions: dict[str, _Browser] = field(default_factory=dict)

    @property
    def cookie(self) -> str:
        """The cookie's name: browsers send it to every port of an address, so each port has its own."""
        return f"{'__Host-' if self.tls else ''}faultwire-{self.port}"

    def refusal(self, asked: Asked) -> Refusal | None:
        """Why a request is refused, or None."""
        return (
            self._wrong_host(asked)
            or self._foreign(asked)
            or self._unknown(asked)
            or self._forged(asked)
            or self._writing(asked)
        )

    def exchange(self, given: str) -> tuple[str, str] | Refusal:
        """A new session's cookie and CSRF word for the one-time token, that of the first link or of one to
        share, whose session may only read."""
        if not compare_digest(given.encode(), self.link.encode()):
            return self._shared(given)
        if self._used:
            return Refusal(
                403,
                "ui.token_used",
                "this link was used before",
                "a link works once: go on in the browser in which it was opened, or start the command again",
            )
        self._used = True
        return self._opened(reads=False)

    def share(self) -> str:
        """A new one-time token; who opens it within `SHARE_S` may only read."""
        while len(self._shares) >= SHARES:
            del self._shares[next(iter(self._shares))]
        made = token(32)
        self._shares[made] = clock.monotonic() + SHARE_S
        return made

    def _shared(self, given: str) -> tuple[str, str] | Refusal:
        found = next((one for one in self._shares if compare_digest(given.encode(), one.encode())), None)
        if found is None:
            return Refusal(
                403,
                "ui.token",
                "this link is not one of this server, or it was opened before",
                "use the link that it printed, or ask for a new one",
            )
        if self._shares.pop(found) < clock.monotonic():
            minutes = round(SHARE_S / 60)
            return Refusal(
                403, "ui.share_old", f"this link is older than {minutes} minutes", "ask for a new one"
            )
        return self._opened(reads=True)

    def _opened(self, *, reads: bool) -> tuple[str, str]:
        while len(self._sessions) >= SESSIONS:
            # Those with whom a page was shared log nobody out who may do more.
            readers = (one for one, browser in self._sessions.items() if browser.reads)
            del self._sessions[next(readers, next(iter(self._sessions)))]
        session, word = token(32), token(16)
        self._sessions[session] = _Browser(word, reads)
        return session, word

    def word_of(self, asked: Asked) -> str | None:
        """The CSRF word of a request's session, None without one."""
        found = self._browser(asked)
        return None if found is None else found.word

    def reads_only(self, asked: Asked) -> bool:
        """Is it the request of one with whom the page was shared?"""
        found = self._browser(asked)
        return found is not None and found.reads and not self._is_program(asked)

    def _browser(self, asked: Asked) -> _Browser | None:
        given = _cookie(asked.headers.get("cookie", ""), self.cookie)
        return None if given is None else self._sessions.get(given)

    def end(self, asked: Asked) -> None:
        """Forget a request's session."""
        given = _cookie(asked.headers.get("cookie", ""), self.cookie)
        if given is not None:
            self._sessions.pop(given, None)

    # ------------------------------------------------------------ the rules

    def _wrong_host(self, asked: Asked) -> Refusal | None:
        host = asked.headers.get("host", "").lower()
        if host in self.hosts:
            return None
        names = ", ".join(f"`{name}`" for name in sorted(self.hosts))
        return Refusal(
            421, "ui.host", "the request is for another host", f"this server answers to {names} only"
        )

    def _foreign(self, asked: Asked) -> Refusal | None:
        origin, site = asked.headers.get("origin"), asked.headers.get("sec-fetch-site")
        ours = f"{'https' if self.tls else 'http'}://{asked.headers.get('host', '').lower()}"
        good_site = site is None or site == "same-origin" or (site == "none" and asked.method in READING)
        if (origin is None or origin.lower() == ours) and good_site:
            return None
        return Refusal(
            403,
            "ui.origin",
            "the request comes from a page of another origin",
            "open the printed link itself",
        )

    def _unknown(self, asked: Asked) -> Refusal | None:
        if asked.open_to_all or self._is_program(asked) or self.word_of(asked) is not None:
            return None
        return Refusal(
            401, "ui.no_session", "this browser has no session here", "open the link that was printed"
        )

    def _forged(self, asked: Asked) -> Refusal | None:
        if asked.method in READING or asked.open_to_all or self._is_program(asked):
            return None
        word = self.word_of(asked)
        if word is not None and compare_digest(asked.headers.get(CSRF, "").encode(), word.encode()):
            return None
        return Refusal(403, "ui.csrf", "the request was not made by the page", "reload the page")

    def _writing(self, asked: Asked) -> Refusal | None:
        if asked.method in READING or asked.open_to_all or asked.leaving or not self.reads_only(asked):
            return None
        return Refusal(
            403,
            "ui.read_only",
            "this page was shared to be read",
            "who shared it can set, arm, decide and verify",
        )

    def _is_program(self, asked: Asked) -> bool:
        kind, _, given = asked.headers.get("authorization", "").partition(" ")
        return (
            self.program is not None
            and kind.lower() == "bearer"
            and compare_digest(given.strip().encode(), self.program.encode())
        )


def _cookie(header: str, name: str) -> str | None:
    try:
        found = SimpleCookie(header).get(name)
    except CookieError:
        return None
    return None if found is None else found.value
