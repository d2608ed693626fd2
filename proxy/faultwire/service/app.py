"""The service as a web application: pages and endpoints behind the guard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response

from faultwire.errors import FaultwireError, UsageError
from faultwire.service import api, operations, pages, witnessing
from faultwire.service.guard import Gate, Guarded, NotLetIn, Refused

if TYPE_CHECKING:
    from starlette.requests import Request

    from faultwire.certificate.witness import Witness
    from faultwire.service.acts import Acts
    from faultwire.service.oidc import Oidc
    from faultwire.store.objects import Objects

STATUS = {"store.no_run": 404, "store.no_token": 404, "service.no_baseline": 404, "store.changed": 409}
"""Of our errors; others are 400."""


def application(
    acts: Acts, gate: Gate, objects: Objects | None, oidc: Oidc | None, base: str, scraper: str | None = None,
    witness: Witness | None = None,
) -> Any:  # fmt: skip
    """Everything that the service answers. `base` is its own address; who scrapes it shows `scraper`."""
    handlers: dict[Any, Any] = {HTTPException: _http_error, FaultwireError: _our_error}
    routes = [
        *operations.routes(gate, scraper),
        *witnessing.routes(witness),
        *api.routes(acts, objects, oidc),
        *pages.routes(acts, gate.browsers, objects, oidc, base),
    ]
    made = Starlette(routes=routes, exception_handlers=handlers)
    return Guarded(made, gate, {route.endpoint: route.path for route in routes})


async def _http_error(request: Request, error: HTTPException) -> Response:
    return _answer(request, error.status_code, "service.request", error.detail)


async def _our_error(request: Request, error: FaultwireError) -> Response:
    if isinstance(error, Refused):
        status = error.status
    elif isinstance(error, NotLetIn):
        status = 502 if error.code == "oidc.provider" else 401
    else:
        status = STATUS.get(error.code, 400) if isinstance(error, UsageError) else 503
    return _answer(request, status, error.code, error.message, error.hint or "")


def _answer(request: Request, status: int, code: str, message: str, hint: str = "") -> Response:
    request.state.code = code
    if request.url.path.startswith("/api/") or "authorization" in request.headers:
        return JSONResponse({"error": {"code": code, "message": message, "hint": hint}}, status)
    page = pages.templates().get_template("error.html.j2")
    return HTMLResponse(
        page.render(who=request.state.caller, csrf="", status=status, message=message, hint=hint), status
    )
