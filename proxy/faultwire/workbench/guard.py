"""The rules of `access` before every request, and the headers of every response."""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse

from faultwire.mitm.network import peer_user
from faultwire.mitm.sessions.access import is_loopback
from faultwire.text import safe
from faultwire.workbench.access import Asked, Refusal
from faultwire.workbench.assets import HEADERS

if TYPE_CHECKING:
    from faultwire.workbench.access import Access

LOGIN = "/api/session"
REMEMBERED = 50
"""Refusals that are remembered for the page."""
_OTHER_USER = Refusal(
    403,
    "ui.user",
    "the request comes from a process of another user",
    "open the link as the user that started it",
)


class Guarded:
    """An ASGI application that answers only what may be answered."""

    def __init__(self, app: Any, access: Access, open_to_all: frozenset[str]) -> None:
        self._app, self._access, self._open = app, access, open_to_all
        self.refusals: deque[str] = deque(maxlen=REMEMBERED)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, or refuse."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        method, path = scope["method"], scope["path"]
        leaving = method == "DELETE" and path == LOGIN
        asked = Asked(method, _once(scope["headers"]), self._is_open(method, path), leaving)
        refusal = _other_user(scope) or self._access.refusal(asked)
        if refusal is not None:
            self.refusals.append(f"{safe(method)} {safe(path[:200])}: {refusal.code}")
            error = {"code": refusal.code, "message": refusal.message, "hint": refusal.hint}
            await JSONResponse({"error": error}, refusal.status, dict(HEADERS))(scope, receive, send)
            return
        request.state.asked = asked
        await self._app(scope, receive, _with_headers(send))

    def _is_open(self, method: str, path: str) -> bool:
        if path == LOGIN and method == "POST":
            return True
        return method in ("GET", "HEAD") and path in self._open


def _other_user(scope: Any) -> Refusal | None:
    """On loopback Linux says whose process is at the other end; where it does not, the token decides."""
    client, server = scope.get("client"), scope.get("server")
    if not peer_user.KNOWN or not client or not server or not is_loopback(client[0]):
        return None
    try:
        user = peer_user.user_of((client[0], client[1]), (server[0], server[1]))
    except OSError:
        return None
    return None if user in (None, os.getuid(), 0) else _OTHER_USER


def _once(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Header fields by name; of one that comes more than once none, so that nobody may choose."""
    found: dict[str, str] = {}
    for name, value in headers:
        key = name.decode("latin-1").lower()
        found[key] = "" if key in found else value.decode("latin-1")
    return found


def _with_headers(send: Any) -> Any:
    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            given = {name for name, _ in message["headers"]}
            more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message["headers"] = [*message["headers"], *(pair for pair in more if pair[0] not in given)]
        await send(message)

    return sending
