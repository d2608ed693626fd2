"""A witness over HTTP: `POST /add-checkpoint` of C2SP tlog-witness."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from faultwire.certificate.cosignature import MAX_BODY, SIZE_TYPE, RefusedError
from faultwire.errors import FaultwireError

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.certificate.witness import Witness

BODY_S = 30
"""Seconds in which a request's body must be there."""
SAFE = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


def application(witness: Witness, admitted: Callable[[Request], Response | None]) -> Starlette:
    """The service of a witness. `admitted` answers requests that may not come in."""

    async def add(request: Request) -> Response:
        refused = admitted(request)
        if refused is not None:
            return refused
        loop = asyncio.get_running_loop()
        try:
            text = await loop.run_in_executor(None, witness.add, await _body(request))
        except RefusedError as why:
            kind = SIZE_TYPE if why.status == 409 else "text/plain"
            return Response(why.text, why.status, SAFE, media_type=kind)
        except FaultwireError as error:
            return PlainTextResponse(f"{error.message}\n", 503, SAFE)
        return PlainTextResponse(text, 200, SAFE)

    return Starlette(routes=[Route("/add-checkpoint", add, methods=["POST"])])


async def _body(request: Request) -> bytes:
    kept = bytearray()
    try:
        async with asyncio.timeout(BODY_S):
            async for piece in request.stream():
                kept += piece
                if len(kept) > MAX_BODY:
                    raise RefusedError(413, f"the body has more than {MAX_BODY} bytes\n")
    except TimeoutError:
        raise RefusedError(408, f"the body did not come within {BODY_S} s\n") from None
    except ClientDisconnect:
        raise RefusedError(400, "the client left before its body was there\n") from None
    return bytes(kept)
