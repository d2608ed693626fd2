"""Who may ask, before every request: our own name, our own pages, somebody known, and for forms their word.

The body of a request that changes something is read here and nowhere else, so that none passes the word.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hmac import compare_digest
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from faultwire import clock, events
from faultwire._core import __version__
from faultwire.errors import FaultwireError
from faultwire.service.metrics import UNROUTED, Metrics
from faultwire.service.roles import Caller
from faultwire.store.tokens import look_up
from faultwire.text import safe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.service.audit import Audit
    from faultwire.service.browsers import Browser, Browsers
    from faultwire.store.database import Database
    from faultwire.store.tokens import Token

CSRF = "x-faultwire-csrf"
READING = ("GET", "HEAD")
LARGEST_RUN = 64 << 20
"""Bytes of a run that is pushed; of any other body `LARGEST`."""
LARGEST = 64 << 10
LARGEST_BLAME = 8 << 20
"""Bytes of what `faultwire blame` found."""
REFUSALS = 120
"""Refusals of unknown callers that the audit log keeps in a minute; the others are counted."""
CALLBACK = "/login/callback"
METRICS = "/metrics"
ADD_CHECKPOINT = "/add-checkpoint"
CHECKPOINT = "checkpoint"
"""The field that has its body: lines of text, neither JSON nor a form."""
OPEN = ("/login", "/login/oidc", CALLBACK, "/style.css", "/health", "/ready", "/api/exchange", METRICS)
"""What nobody needs to be known for; `/metrics` wants a token of its own."""
SHARED = "/shared/"
POLICY = (
    "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with `no-referrer` a form's `Origin` would be `null`
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Refused(FaultwireError):
    """Why a request is not answered, with its status."""

    def __init__(self, status: int, code: str, message: str, hint: str = "") -> None:
        super().__init__(message, code=code, hint=hint or None)
        self.status = status


class NotLetIn(FaultwireError):
    """Why an OpenID provider's answer lets nobody in."""

    def __init__(self, message: str, code: str = "oidc.refused") -> None:
        super().__init__(message, code=code)


@dataclass(frozen=True, slots=True)
class Gate:
    """What the rules look at. `hosts` are what a `Host` field may say, `origins` an `Origin` field."""

    engine: Database
    browsers: Browsers
    audit: Audit
    hosts: frozenset[str]
    origins: frozenset[str]
    metrics: Metrics = field(default_factory=lambda: Metrics(__version__))


class Guarded:
    """An ASGI application behind the rules; handlers find `caller`, `browser` and `fields` in the state."""

    def __init__(self, app: Any, gate: Gate, paths: Mapping[Any, str]) -> None:
        """`paths` is the template of each endpoint's path."""
        self._app, self._gate, self._paths = app, gate, paths
        self._minute, self._refused = 0, 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer, or refuse; either stands in the audit log where it says something."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        state = request.state
        state.caller, state.browser, state.fields, state.code = None, None, {}, ""
        sent, began = _Sending(send), clock.monotonic()
        self._gate.metrics.begun()
        try:
            await self._answer(request, receive, sent)
        finally:
            path = self._paths.get(scope.get("endpoint"), UNROUTED)
            took = clock.monotonic() - began
            self._gate.metrics.ended(path, request.method, sent.status, state.code, took)

    async def _answer(self, request: Request, receive: Any, sent: _Sending) -> None:
        scope, state = request.scope, request.state
        try:
            await self._let_in(request)
        except Refused as why:
            state.code = why.code
            await self._kept(request, why.status, why.code)
            await _refusal(request, why)(scope, receive, sent)
            return
        # What stands in the log is answered once its line is kept: the answer waits.
        held = _Held(sent)
        await self._app(scope, receive, held)
        path = request.url.path
        comes_in = path == CALLBACK or path.startswith(SHARED)
        matters = request.method not in READING or comes_in or held.status in (401, 403)
        if matters and not await self._kept(request, held.status, state.code):
            await _refusal(request, Refused(503, "service.audit", "the audit log cannot be written"))(
                scope, receive, sent
            )
            return
        await held.let_go()

    async def _let_in(self, request: Request) -> None:
        headers, gate = request.headers, self._gate
        if len(headers.getlist("host")) != 1 or headers["host"].lower() not in gate.hosts:
            raise Refused(421, "service.host", "the `Host` field names another service")
        origin = headers.get("origin")
        writes = request.method not in READING
        if origin is not None and writes and origin not in gate.origins:
            raise Refused(403, "service.origin", "the request comes from a page of another origin")
        if "\0" in request.scope["path"]:
            raise Refused(400, "service.request", "the path holds a NUL, which no name here does")
        path = request.url.path
        await self._identify(request)
        state = request.state
        is_open = path in OPEN or path.startswith(SHARED)
        if state.caller is None and not is_open:
            raise Refused(
                401,
                "service.unknown",
                "nobody known asks",
                "`Authorization: Bearer TOKEN`, or come in at /login",
            )
        if writes:
            pushes = path.endswith("/runs") and state.browser is None and state.caller is not None
            state.fields = await self._fields(request, pushes=pushes)
            _check_word(request, state.browser)

    async def _fields(self, request: Request, *, pushes: bool) -> dict[str, Any]:
        if request.url.path == ADD_CHECKPOINT:
            return {CHECKPOINT: await _body(request, LARGEST)}
        blames = request.url.path.endswith("/blame") and request.state.caller is not None
        most = LARGEST_RUN if pushes else LARGEST_BLAME if blames else LARGEST
        found, size = await _fields(request, most)
        if pushes:
            self._gate.metrics.count("faultwire_service_upload_bytes_total", size)
        return found

    async def _identify(self, request: Request) -> None:
        if request.url.path == METRICS:
            return  # its token is none of the store's
        given = request.headers.getlist("authorization")
        if given:
            kind, _, word = given[0].partition(" ")
            token = None
            if len(given) == 1 and kind.lower() == "bearer":
                token = await self._token(word.strip())
            if token is None or token.run is not None:
                raise Refused(401, "service.token", "this token is none, has expired, or was revoked")
            request.state.caller = Caller.of(token)
            return
        browser = self._gate.browsers.of(request.headers.get("cookie", ""))
        if browser is not None:
            request.state.browser, request.state.caller = browser, browser.caller

    async def _token(self, word: str) -> Token | None:
        try:
            return await run_in_threadpool(look_up, self._gate.engine, word)
        except FaultwireError as error:
            raise Refused(503, error.code, "the database does not answer", "ask again later") from error

    async def _kept(self, request: Request, status: int, code: str) -> bool:
        caller = request.state.caller
        if caller is None and status >= 400:
            minute = int(clock.monotonic() // 60)
            self._refused = self._refused + 1 if minute == self._minute else 1
            self._minute = minute
            if self._refused > REFUSALS:
                return True
        path = request.url.path
        project = request.path_params.get("project") if "path_params" in request.scope else None
        asked = events.Request(
            safe(request.method)[:20],
            request.url.scheme,
            "service",
            0,
            SHARED if path.startswith(SHARED) else safe(path)[:400],
        )
        known = caller is not None and project in caller.roles
        try:
            await self._gate.audit.add(
                asked, project if known else None, "" if caller is None else caller.name, status, code
            )
        except FaultwireError:
            self._gate.metrics.count("faultwire_service_audit_failures_total")
            return False
        return True


class _Sending:
    """Adds our headers to every answer; `status` is the one that was sent."""

    def __init__(self, send: Any) -> None:
        self._send, self.status = send, 500

    async def __call__(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given = {name for name, _ in message["headers"]}
            more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message["headers"] = [*message["headers"], *(pair for pair in more if pair[0] not in given)]
        await self._send(message)


class _Held:
    """An answer that waits for its line in the audit log."""

    def __init__(self, send: Any) -> None:
        self._send, self._messages, self.status = send, list[Any](), 500

    async def __call__(self, message: Any) -> None:
        self.status = message.get("status", self.status)
        self._messages.append(message)

    async def let_go(self) -> None:
        """Send it."""
        for message in self._messages:
            await self._send(message)


async def _body(request: Request, most: int) -> bytes:
    data = bytearray()
    try:
        async for piece in request.stream():
            data += piece
            if len(data) > most:
                raise Refused(413, "service.size", f"the body has more than {most} bytes")
    except ClientDisconnect:
        raise Refused(400, "service.body", "the client left before its body was there") from None
    return bytes(data)


async def _fields(request: Request, most: int) -> tuple[dict[str, Any], int]:
    """The JSON object or the form of a request, and its bytes. Raises Refused."""
    data = await _body(request, most)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if kind == "application/x-www-form-urlencoded":
            pairs = parse_qsl(data.decode("ascii"), max_num_fields=20, encoding="utf-8", errors="strict")
            # A form's lines end with CRLF (HTML, "normalize newlines").
            return {name: value.replace("\r\n", "\n") for name, value in pairs}, len(data)
        found = json.loads(data) if data else {}
    except (ValueError, RecursionError):
        raise Refused(400, "service.body", "the body is neither JSON nor a form") from None
    if not isinstance(found, dict):
        raise Refused(400, "service.body", "expected a JSON object")
    return found, len(data)


def _check_word(request: Request, browser: Browser | None) -> None:
    """A browser's request carries its page's word; a program has no cookie that others could use."""
    if browser is None:
        return
    given = request.headers.get(CSRF) or request.state.fields.pop("csrf", "")
    if not isinstance(given, str) or not compare_digest(given.encode(), browser.word.encode()):
        raise Refused(403, "service.csrf", "the request was not made by our page", "reload the page")


def _refusal(request: Request, why: Refused) -> Response:
    wants_page = why.status == 401 and request.method in READING and not request.url.path.startswith("/api/")
    if wants_page and "authorization" not in request.headers:
        return RedirectResponse("/login", 303)
    error = {"code": why.code, "message": why.message, "hint": why.hint or ""}
    return JSONResponse({"error": error}, why.status)
