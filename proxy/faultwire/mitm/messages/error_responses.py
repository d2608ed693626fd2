"""The answers that the proxy itself gives in place of an upstream one: JSON with a reason."""

from __future__ import annotations

import json
import traceback
from typing import TYPE_CHECKING

from faultwire.events import Response

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Headers

REASONS = {
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    407: "Proxy Authentication Required",
    408: "Request Timeout",
    431: "Request Header Fields Too Large",
    501: "Not Implemented",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}


class Refusal(Exception):
    """An exchange is not let through; `void` where that means that the run proves nothing. `unsent`: only
    sending it is refused, so that a fault which needs no server may act before; the ledger's reason of those
    that cannot."""

    def __init__(
        self,
        status: int,
        kind: str,
        message: str,
        *,
        headers: Headers = (),
        void: str | None = None,
        unsent: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        self.message = message
        self.headers = headers
        self.void = void
        self.unsent = unsent

    def response(self) -> Response:
        """The answer that the agent gets; the connection is closed after it."""
        body = json.dumps({"error": {"message": self.message, "type": self.kind}}).encode()
        return Response(
            status=self.status,
            reason=REASONS.get(self.status, ""),
            headers=(
                ("content-type", "application/json"),
                ("content-length", str(len(body))),
                ("connection", "close"),
                *self.headers,
            ),
            body=body,
        )


_NO_RETRY: Headers = (("x-should-retry", "false"),)


def unknown_user() -> Refusal:
    """Traffic that belongs to no session."""
    return Refusal(
        407,
        "faultwire_session",
        "this proxy user belongs to no session of faultwire; start the agent with `faultwire exec`, "
        "or take the proxy URL from `faultwire env`",
        headers=(("proxy-authenticate", 'Basic realm="faultwire"'), *_NO_RETRY),
    )


def no_session(why: str) -> Refusal:
    """A call of a process that serves several sessions, which belongs to none of them."""
    return Refusal(403, "faultwire_session", why, headers=_NO_RETRY)


def unknown_route(name: str, known: Iterable[str]) -> Refusal:
    """A call in base-URL mode that leads to nowhere that was declared."""
    return Refusal(
        404,
        "faultwire_route",
        f"`{name}` is no route of this proxy, expected one of {', '.join(f'`{each}`' for each in known)}; "
        "declare others with `--reverse NAME=URL`",
        headers=_NO_RETRY,
    )


def not_allowed(why: str) -> Refusal:
    """A target that the guard refuses."""
    return Refusal(403, "faultwire_refused", why, headers=_NO_RETRY)


def not_covered(host: str, hosts: Iterable[str]) -> Refusal:
    """A tunnel to a host that the project's authority cannot vouch for."""
    return Refusal(
        403,
        "faultwire_refused",
        f"this project's certificate authority is limited to {', '.join(f'`{one}`' for one in hosts)}, which "
        f"`{host}` is not; `faultwire ca renew` makes one for other hosts, or for all",
        headers=_NO_RETRY,
    )


def not_mocked(host: str, why: str) -> Refusal:
    """A host that the mock does not answer for, where no other server may be called."""
    unsent = f"the mock does not answer for `{host}`"
    return Refusal(501, "faultwire_mock", why, headers=_NO_RETRY, unsent=unsent)


def upstream_failed(why: str) -> Refusal:
    """Upstream was not reached, or did not speak as it should."""
    return Refusal(502, "faultwire_upstream", why)


def upstream_slow(why: str) -> Refusal:
    """Upstream took longer than it may."""
    return Refusal(504, "faultwire_timeout", why)


def request_slow(why: str) -> Refusal:
    """A client took longer over its request body than it may."""
    return Refusal(408, "faultwire_timeout", why)


def crowded(source: str, limit: int) -> Refusal:
    """One source has more connections than it may."""
    return Refusal(
        503,
        "faultwire_busy",
        f"{source} has `{limit}` connections to this engine already, and may have no more",
        headers=(("retry-after", "1"),),
    )


def busy(limit: int) -> Refusal:
    """More in flight than this engine takes."""
    return Refusal(
        503,
        "faultwire_busy",
        f"`{limit}` exchanges are in flight already, and this engine takes no more at once",
        headers=(("retry-after", "1"),),
    )


def draining() -> Refusal:
    """The engine is about to end."""
    return Refusal(503, "faultwire_stopping", "faultwire is stopping", headers=_NO_RETRY)


def tape_failed(why: str) -> Refusal:
    """What cannot be recorded does not pass."""
    return Refusal(
        503,
        "faultwire_tape",
        f"the tape cannot be written: {why}",
        headers=_NO_RETRY,
        void=f"the tape cannot be written: {why}",
    )


def internal(error: BaseException) -> Refusal:
    """Our own code failed in the path; only the error's class is sent, since its text may hold traffic."""
    what = f"faultwire failed on this exchange (`{type(error).__name__}`); the run proves nothing"
    return Refusal(502, "faultwire_internal", what, headers=_NO_RETRY, void=what)


def places(error: BaseException) -> str:
    """Where an error was raised, innermost frame first. Never its text: that may quote traffic."""
    frames = traceback.extract_tb(error.__traceback__)
    return " < ".join(f"{frame.filename}:{frame.lineno} {frame.name}" for frame in reversed(frames))
