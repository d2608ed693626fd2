"""`POST /add-checkpoint` of C2SP tlog-witness: the service witnesses its members' logs of certificates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from faultwire.certificate.cosignature import SIZE_TYPE, RefusedError
from faultwire.service.guard import ADD_CHECKPOINT, CHECKPOINT, Refused

if TYPE_CHECKING:
    from starlette.requests import Request

    from faultwire.certificate.witness import Witness


def routes(witness: Witness | None) -> list[Route]:
    """The one endpoint; without a witness it answers 404."""

    async def add(request: Request) -> Response:
        if witness is None:
            raise Refused(404, "service.witness", "this service was started without `--witness-log`")
        caller = request.state.caller
        if not any(caller.may("push", project) for project in caller.roles):
            raise Refused(403, "service.role", "your role does not let you add a checkpoint")
        try:
            text = await run_in_threadpool(witness.add, request.state.fields[CHECKPOINT])
        except RefusedError as why:
            request.state.code = "witness.refused"
            kind = SIZE_TYPE if why.status == 409 else "text/plain"
            return Response(why.text, why.status, media_type=kind)
        return PlainTextResponse(text)

    return [Route(ADD_CHECKPOINT, add, methods=["POST"])]
