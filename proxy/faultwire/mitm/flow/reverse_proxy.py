"""Base-URL mode: an agent that uses no proxy calls us as if we were its provider.

The path says whose call it is and where it goes: `/<session's token>/<route>/…`. Only declared routes
lead anywhere. What an agent asks is turned into the upstream request before anything of ours looks at
it, and links in the answer are turned back behind the tape, so that profiles, tapes and protocols
know nothing of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from faultwire.errors import WireError
from faultwire.wire.a2a import card as a2a_card

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mitmproxy import http

    from faultwire.mitm.compat.outgoing import ChangedAnswers

BODY_LIMIT = 1024 * 1024
"""Bytes of a body that may be held to turn its links."""

_ALIASES: Mapping[str, tuple[str, str]] = {"api.anthropic.com": ("/messages", "/v1/messages")}
"""Paths that one SDK writes without the version that all others write (Vercel's AI SDK)."""


@dataclass(frozen=True, slots=True)
class Route:
    """A declared upstream. `path` is put before what is asked, without a slash at its end."""

    name: str
    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def of(cls, name: str, url: str) -> Route:
        """The route to a base URL."""
        scheme, host, port, path = _place(url)
        return cls(name, scheme, host, port, path.rstrip("/"))

    def target(self, rest: str) -> str:
        """The upstream path of what stands behind the route's name."""
        short, whole = _ALIASES.get(self.host, ("", ""))
        if short and rest.partition("?")[0] == short:
            rest = whole + rest[len(short) :]
        return self.path + rest or "/"


class Rewriter(Protocol):
    """Turns the links in one kind of document. `ours` gives our URL for one of a declared upstream's,
    and None for all others."""

    def wants(self, path: str) -> bool:
        """Is it about the document at this upstream path (without query)?"""

    def rewrite(self, body: bytes, ours: Callable[[str], str | None]) -> bytes:
        """The document with its links turned; unchanged where it cannot be read."""


class AgentCard:
    """The card that says where an A2A agent is called (A2A §8.2)."""

    _PLACES = ("/.well-known/agent-card.json", "/.well-known/agent.json")

    def wants(self, path: str) -> bool:
        """Is it where cards are found?"""
        return path.endswith(self._PLACES)

    def rewrite(self, body: bytes, ours: Callable[[str], str | None]) -> bytes:
        """Turn every address; no other byte changes."""
        try:
            return a2a_card.rewritten(body, ours).body
        except WireError:
            return body


REWRITERS: tuple[Rewriter, ...] = (AgentCard(),)


class ReverseProxy:
    """The declared routes of one engine."""

    def __init__(self, declared: Mapping[str, str]) -> None:
        self.routes = {name: Route.of(name, url) for name, url in declared.items()}
        self._rewriters: dict[str, ResponseRewriter] = {}
        """By client: how it is answered."""

    def __bool__(self) -> bool:
        return bool(self.routes)

    @property
    def names(self) -> list[str]:
        """Their names."""
        return sorted(self.routes)

    def find(self, name: str) -> Route | None:
        """The route of that name."""
        return self.routes.get(name)

    def split(self, request: http.Request, client: str) -> tuple[str, str, str] | None:
        """Token, route and rest of the path of a client's next request; None where it has no such path."""
        self.close(client)
        return split(request.path)

    def enter(self, request: http.Request, client: str, token: str, target: str, route: Route) -> None:
        """Turn a request by base URL into the upstream request for `target`, and be ready to answer it."""
        base = f"http://{request.host_header}/{token}"
        request.scheme, request.port, request.host = route.scheme, route.port, route.host
        request.path = target
        request.headers.pop("proxy-authorization", None)
        self._rewriters[client] = ResponseRewriter(self, base, route, request)

    def rewriter(self, client: str) -> ResponseRewriter | None:
        """Who changes the answer to a client's request at hand, if anybody does."""
        return self._rewriters.get(client)

    def changed_answers(self, client: str) -> ChangedAnswers | None:
        """What becomes of a client's answers, where routes are declared."""
        if not self.routes:
            return None
        from faultwire.mitm.compat.outgoing import ChangedAnswers

        return ChangedAnswers(partial(self.rewriter, client))

    def close(self, client: str) -> None:
        """That request is over."""
        self._rewriters.pop(client, None)

    def ours(self, url: str, base: str) -> str | None:
        """Our URL below `base` for one of a declared upstream; the most exact route wins."""
        place = _place_or_none(url)
        if place is None:
            return None
        scheme, host, port, path = place
        fitting = [
            route
            for route in self.routes.values()
            if (route.scheme, route.host, route.port) == (scheme, host, port)
            and (path == route.path or path.startswith((f"{route.path}/", f"{route.path}?")))
        ]
        best = max(fitting, key=lambda route: len(route.path), default=None)
        return None if best is None else f"{base}/{best.name}{path[len(best.path) :]}"


class ResponseRewriter:
    """Rewrites the answers to one client in base-URL mode, so that their links lead back to us."""

    def __init__(self, reverse: ReverseProxy, base: str, route: Route, request: http.Request) -> None:
        self._reverse = reverse
        self._base = base
        self._origin = f"{route.scheme}://{_authority(route)}"
        self._path = request.path.partition("?")[0]
        self._bodiless = request.method == "HEAD"

    def head(self, response: http.Response) -> bool:
        """Turn where it points to; True where the body holds links."""
        for name in ("location", "content-location"):
            value = response.headers.get(name)
            if value is not None:
                turned = self.ours(f"{self._origin}{value}" if value.startswith("/") else value)
                response.headers[name] = turned or value
        return self._holds_links(response) and self._rewriter() is not None

    def body(self, response: http.Response, body: bytes) -> bytes:
        """The body with its links turned."""
        rewriter = self._rewriter()
        return body if rewriter is None else rewriter.rewrite(body, self.ours)

    def ours(self, url: str) -> str | None:
        """Our URL for one of a declared upstream."""
        return self._reverse.ours(url, self._base)

    def _rewriter(self) -> Rewriter | None:
        return next((each for each in REWRITERS if each.wants(self._path)), None)

    def _holds_links(self, response: http.Response) -> bool:
        headers = response.headers
        length = headers.get("content-length", "0")
        return (
            not self._bodiless
            and response.status_code == 200
            and "json" in headers.get("content-type", "").lower()
            and headers.get("content-encoding", "identity").lower() == "identity"
            and length.isdigit()
            and int(length) <= BODY_LIMIT
        )


def split(path: str) -> tuple[str, str, str] | None:
    """Token, route's name and the rest (with its slash, or empty) of a path; None for other paths."""
    bare, mark, query = path.partition("?")
    parts = bare.split("/", 3)
    if len(parts) < 3 or parts[0]:
        return None
    rest = f"/{parts[3]}" if len(parts) == 4 else ""
    return parts[1], parts[2], f"{rest}{mark}{query}"


def _place(url: str) -> tuple[str, str, int, str]:
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    return parts.scheme, (parts.hostname or "").lower(), port, path


def _place_or_none(url: str) -> tuple[str, str, int, str] | None:
    try:
        place = _place(url)
    except ValueError:
        return None
    return place if place[0] in ("http", "https") and place[1] else None


def _authority(route: Route) -> str:
    host = f"[{route.host}]" if ":" in route.host else route.host
    return f"{host}:{route.port}"
