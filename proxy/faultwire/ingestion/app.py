"""The HTTP interface: `POST /v1/ingest`, `GET /v1/sessions`, `GET /v1/sessions/ID/export`, `GET /health`."""

from __future__ import annotations

import asyncio
import hmac
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from faultwire import _core
from faultwire.clock import iso, wall_ms
from faultwire.ingestion.batch import MAX_BODY, batch_of
from faultwire.ingestion.refusal import Refused
from faultwire.mitm.network import peer_user
from faultwire.mitm.sessions.access import is_loopback

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from faultwire.ingestion.store import Store

BODY_S = 30
"""Seconds in which a request's body must be there."""
AT_ONCE = 16
"""Bodies that are held at one time; others wait."""
SAFE = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


@dataclass(frozen=True, slots=True)
class Door:
    """Who may come in: `hosts` are the values that a `Host` field may have (a page of another origin that
    rebinds its name has none of them), `token` is what a bearer token must be, `user` is whose processes may
    come over loopback without one."""

    hosts: frozenset[str]
    token: str | None
    user: int | None

    def check(self, request: Request) -> None:
        """Raise Refused where a request may not be answered."""
        if request.headers.get("host", "").lower() not in self.hosts:
            raise Refused(421, "WRONG_HOST", "the `Host` field names another service")
        if "origin" in request.headers:
            raise Refused(403, "FROM_A_PAGE", "the request comes from a page in a browser, expected an SDK")
        if self.token is not None:
            given = request.headers.get("authorization", "").removeprefix("Bearer ")
            if not hmac.compare_digest(given.encode(), self.token.encode()):
                raise Refused(
                    401, "UNAUTHORIZED", "expected `Authorization: Bearer` with the service's token"
                )
        elif not self._same_user(request.scope):
            raise Refused(403, "OTHER_USER", "the request comes from a process of another user")

    def _same_user(self, scope: Any) -> bool:
        client, server = scope.get("client"), scope.get("server")
        if self.user is None or not peer_user.KNOWN or not client or not server or not is_loopback(client[0]):
            return True
        try:
            found = peer_user.user_of((client[0], client[1]), (server[0], server[1]))
        except OSError:
            return True
        return found in (None, self.user, 0)


def application(store: Store, door: Door) -> Starlette:
    """The service over a store."""
    held = asyncio.Semaphore(AT_ONCE)

    async def ingest(request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, "INVALID_PAYLOAD", "expected `Content-Type: application/json`")
        async with held:
            batch = batch_of(await _body(request))
            return JSONResponse(await store.add(batch), 201)

    async def export(request: Request) -> Response:
        session = request.path_params["session"]
        if session not in store.chains:
            raise Refused(404, "SESSION_NOT_FOUND", "no session of this name was received")
        form = request.query_params.get("format", "jsonl")
        if form not in ("jsonl", "json"):
            raise Refused(400, "INVALID_PAYLOAD", "expected `format=jsonl` or `format=json`")
        if form == "json":
            text = await asyncio.get_running_loop().run_in_executor(None, _document, store, session)
            return Response(text, media_type="application/json")
        return StreamingResponse(store.lines(session), media_type="application/x-ndjson")

    async def sessions(_: Request) -> Response:
        return JSONResponse({"sessions": store.sessions()})

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    routes = [
        Route("/v1/ingest", _answered(ingest, door), methods=["POST"]),
        Route("/v1/sessions", _answered(sessions, door)),
        Route("/v1/sessions/{session}/export", _answered(export, door)),
        Route("/health", health),
    ]
    return Starlette(routes=routes)


def _answered(
    endpoint: Callable[[Request], Awaitable[Response]], door: Door
) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            door.check(request)
            response = await endpoint(request)
        except Refused as why:
            headers = {"retry-after": "1"} if why.status == 503 else {}
            response = JSONResponse(why.document(), why.status, headers)
        response.headers.update(SAFE)
        return response

    return answer


async def _body(request: Request) -> bytes:
    kept: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(BODY_S):
            async for piece in request.stream():
                size += len(piece)
                if size > MAX_BODY:
                    raise Refused(413, "BATCH_TOO_LARGE", f"the body has more than {MAX_BODY} bytes")
                kept.append(piece)
    except TimeoutError:
        raise Refused(408, "INVALID_PAYLOAD", f"the body did not come within {BODY_S} s") from None
    except ClientDisconnect:
        raise Refused(400, "INVALID_PAYLOAD", "the client left before its body was there") from None
    return b"".join(kept)


def _document(store: Store, session: str) -> bytes:
    """An export as one JSON document, in the canonical form of RFC 8785."""
    events = [json.loads(line) for line in store.lines(session)]
    chain = store.chains[session]
    seal = chain.seal["payload"] if chain.seal else None
    found = {
        "export_version": "1.0",
        "export_timestamp": iso(wall_ms()),
        "session_id": session,
        "evidence_class": chain.evidence_class,
        "chain_authority": "SERVER",
        "session_metadata": {"event_count": chain.count, "total_drops": chain.drops},
        "seal": seal,
        "events": events,
        "chain_of_custody": {"canonical_format": "RFC 8785 (JCS)"},
    }
    return bytes(_core.jcs(json.dumps(found).encode()))
