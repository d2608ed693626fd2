"""Where the exchanges of some hosts go instead: to the mock, or to a server that stands for a provider."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from faultwire import _core
from faultwire.mitm.messages import error_responses
from faultwire.mitm.network.egress_guard import covers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mitmproxy import http

    from faultwire.mitm.messages.error_responses import Refusal
    from faultwire.mitm.network.egress_guard import Guard
    from faultwire.mitm.network.upstream_proxy import UpstreamProxies, UpstreamProxy


class Routes:
    """Hosts, by name or pattern, and the base URL that each goes to; those that are `kept` stay."""

    def __init__(self, routes: Mapping[str, str], kept: Iterable[str] = ()) -> None:
        self._kept = tuple(kept)
        self._routes: dict[str, SplitResult] = {host: urlsplit(target) for host, target in routes.items()}
        self.proxies: UpstreamProxies | None = None
        self._globs = [(host, route) for host, route in self._routes.items() if "*" in host]

    def find(self, host: str) -> SplitResult | None:
        """Where a host's exchanges go, by its name, else by the first pattern that covers it."""
        if not self._routes:
            return None
        name = host.lower()
        if covers(self._kept, name):
            return None
        patterns = (route for glob, route in self._globs if _core.glob_match(glob, name))
        return self._routes.get(name) or next(patterns, None)

    def refusal(self, host: str, port: int, guard: Guard) -> Refusal | None:
        """Why a request may not go to a host, if it may not; where a route leads was named by the user."""
        if self._routes and self.find(host) is not None:
            return None
        remote = guard.check_remote(host)
        why = remote or guard.check_literal(host, port)
        if why is None:
            return None
        return error_responses.not_mocked(host, why) if remote else error_responses.not_allowed(why)

    def proxy(self, host: str, port: int, *, tls: bool) -> UpstreamProxy | None:
        """The user's proxy that a connection goes through, if one does."""
        return self.proxies.find(host, port, tls=tls) if self.proxies is not None else None

    def destination(self, request: http.Request) -> tuple[tuple[str, int], bool]:
        """Address and TLS of where a request goes; its path is put below a route's path."""
        route = self.find(request.host) if self._routes else None
        if route is None:
            return (request.host, request.port), request.scheme == "https"
        if route.path.rstrip("/"):
            request.path = route.path.rstrip("/") + request.path
        tls = route.scheme == "https"
        return (route.hostname or "", route.port or (443 if tls else 80)), tls
