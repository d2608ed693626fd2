"""The endpoints for programs: JSON over `/api/`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from faultwire.service.guard import Refused
from faultwire.store import team, tokens
from faultwire.store.blamed import blame_of
from faultwire.store.dashboards import MOST, changing
from faultwire.store.tapes import kept

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from faultwire.service.acts import Acts
    from faultwire.service.oidc import Oidc
    from faultwire.service.roles import Act
    from faultwire.store.objects import Objects

MOST_RUNS = 200
SHARE_DAYS = 30.0
"""How long a link to share lasts at most."""
EXCHANGED_DAYS = 1 / 24
"""How long a token lasts that was given for an ID token."""


def allowed(request: Request, act: Act) -> str:
    """The project that is asked for, where the caller may do this there. Raises Refused.

    A project that is not the caller's and one that does not exist are refused alike.
    """
    project, run = str(request.path_params["project"]), request.path_params.get("run")
    if not request.state.caller.may(act, project, run):
        raise Refused(403, "service.role", f"your role does not let you {act} here")
    return project


def routes(acts: Acts, objects: Objects | None, oidc: Oidc | None) -> list[Route]:
    """All endpoints of `/api/`."""
    return _Endpoints(acts, objects, oidc).routes()


class _Endpoints:
    def __init__(self, acts: Acts, objects: Objects | None, oidc: Oidc | None) -> None:
        self._acts, self._objects, self._oidc = acts, objects, oidc

    def routes(self) -> list[Route]:
        """The paths."""
        run = "/api/projects/{project}/runs/{run}"
        return [
            Route("/api/me", self.me),
            Route("/api/exchange", self.exchange, methods=["POST"]),
            Route("/api/projects/{project}/runs", self.runs),
            Route("/api/projects/{project}/runs", self.push, methods=["POST"]),
            Route(run, self.run),
            Route(f"{run}/reports/{{phase}}", self.report),
            Route(f"{run}/comparison", self.comparison),
            Route(f"{run}/changing", self.changing),
            Route(f"{run}/blame", self.blame),
            Route(f"{run}/blame", self.add_blame, methods=["POST"]),
            Route(f"{run}/comments", self.comments),
            Route(f"{run}/comments", self.comment, methods=["POST"]),
            Route(f"{run}/shares", self.share, methods=["POST"]),
            Route("/api/projects/{project}/baseline", self.baseline),
            Route("/api/projects/{project}/baseline", self.promote, methods=["POST"]),
            Route("/api/projects/{project}/tapes", self.tapes),
            Route("/api/projects/{project}/tokens", self.tokens),
            Route("/api/projects/{project}/tokens", self.make_token, methods=["POST"]),
            Route("/api/projects/{project}/tokens/{ident}", self.revoke, methods=["DELETE"]),
        ]

    # ------------------------------------------------------------ who is there

    async def me(self, request: Request) -> Response:
        caller = request.state.caller
        return JSONResponse({"name": caller.name, "roles": dict(caller.roles)})

    async def exchange(self, request: Request) -> Response:
        """A token of an hour for an ID token: so a pipeline needs no secret."""
        if self._oidc is None:
            raise Refused(404, "service.no_oidc", "this service has no OpenID provider")
        project = text(request, "project")
        caller = await run_in_threadpool(self._oidc.caller, text(request, "id_token"))
        role = caller.roles.get(project)
        if role is None:
            raise Refused(403, "service.role", "this ID token has no role in the project")
        about: dict[str, Any] = {"made_by": caller.name, "days": EXCHANGED_DAYS}
        request.state.caller = caller
        secret, made = await self._run(tokens.make, project, caller.name[:100], role, **about)
        return JSONResponse({"token": secret, "expires_at": made.expires_at, "role": role}, 201)

    # ------------------------------------------------------------ runs

    async def runs(self, request: Request) -> Response:
        project = allowed(request, "read")
        given = request.query_params.get("most", str(MOST))
        if not (given.isascii() and given.isdigit() and 0 < int(given[:6]) <= MOST_RUNS):
            raise Refused(400, "service.request", f"expected 1 to {MOST_RUNS} for `most`")
        return JSONResponse({"runs": await run_in_threadpool(self._acts.runs, project, int(given))})

    async def push(self, request: Request) -> Response:
        project = allowed(request, "push")
        taken = await run_in_threadpool(
            self._acts.take, project, request.state.fields, request.state.caller.name
        )
        return JSONResponse(asdict(taken), 201 if taken.added else 200)

    async def run(self, request: Request) -> Response:
        project = allowed(request, "read")
        return JSONResponse(await run_in_threadpool(self._acts.run, project, request.path_params["run"]))

    async def report(self, request: Request) -> Response:
        project, params = allowed(request, "read"), request.path_params
        return JSONResponse(
            await run_in_threadpool(self._acts.report, project, params["run"], params["phase"])
        )

    async def comparison(self, request: Request) -> Response:
        project = allowed(request, "read")
        found = await run_in_threadpool(self._acts.compare, project, request.path_params["run"])
        drops = [{**asdict(drop), "text": drop.text} for drop in found.drops]
        return JSONResponse({"drops": drops, "phases": dict(found.parts), "missing": list(found.missing)})

    async def changing(self, request: Request) -> Response:
        project = allowed(request, "read")
        found = await self._run(changing, project, request.path_params["run"])
        return JSONResponse({"cells": [asdict(cell) for cell in found]})

    async def blame(self, request: Request) -> Response:
        project = allowed(request, "read")
        found = await self._run(blame_of, project, request.path_params["run"])
        return JSONResponse({"blame": [asdict(one) for one in found]})

    async def add_blame(self, request: Request) -> Response:
        project = allowed(request, "push")
        given = (request.path_params["run"], request.state.fields, request.state.caller.name)
        added = await run_in_threadpool(self._acts.take_blame, project, *given)
        return JSONResponse({"run": request.path_params["run"], "added": added}, 201 if added else 200)

    # ------------------------------------------------------------ what a team adds

    async def comments(self, request: Request) -> Response:
        project = allowed(request, "read")
        found = await self._run(team.comments_on, project, request.path_params["run"])
        return JSONResponse({"comments": found})

    async def comment(self, request: Request) -> Response:
        project = allowed(request, "comment")
        given = (request.path_params["run"], request.state.caller.name, text(request, "text", team.LONGEST))
        return JSONResponse(await self._run(team.comment, project, *given), 201)

    async def share(self, request: Request) -> Response:
        project = allowed(request, "share")
        days = request.state.fields.get("days", 7)
        if isinstance(days, bool) or not isinstance(days, int | float) or not 0 < days <= SHARE_DAYS:
            raise Refused(
                400, "service.request", f"expected more than 0 and at most {SHARE_DAYS:g} for `days`"
            )
        about: dict[str, Any] = {
            "made_by": request.state.caller.name,
            "days": days,
            "run": request.path_params["run"],
        }
        secret, made = await self._run(tokens.make, project, "link", "viewer", **about)
        return JSONResponse({"path": f"/shared/{secret}", "id": made.id, "expires_at": made.expires_at}, 201)

    async def baseline(self, request: Request) -> Response:
        project = allowed(request, "read")
        return JSONResponse({"baseline": await self._run(team.baseline, project)})

    async def promote(self, request: Request) -> Response:
        project = allowed(request, "promote")
        given = (text(request, "run"), request.state.caller.name, text(request, "reason", 400))
        return JSONResponse(await self._run(team.promote, project, *given), 201)

    async def tapes(self, request: Request) -> Response:
        project = allowed(request, "read")
        found = [] if self._objects is None else await run_in_threadpool(kept, self._objects, project)
        return JSONResponse({"tapes": found})

    # ------------------------------------------------------------ who may come in

    async def tokens(self, request: Request) -> Response:
        project = allowed(request, "members")
        return JSONResponse({"tokens": [one.as_json() for one in await self._run(tokens.listed, project)]})

    async def make_token(self, request: Request) -> Response:
        project, days = allowed(request, "members"), request.state.fields.get("days", 90)
        role: Any = text(request, "role")
        if role not in tokens.ROLES or isinstance(days, bool) or not isinstance(days, int | float):
            raise Refused(
                400, "service.request", "expected `role` viewer, runner or admin, and a number of `days`"
            )
        about: dict[str, Any] = {"made_by": request.state.caller.name, "days": days}
        secret, made = await self._run(tokens.make, project, text(request, "name", 100), role, **about)
        return JSONResponse({"token": secret, **made.as_json()}, 201)

    async def revoke(self, request: Request) -> Response:
        project = allowed(request, "members")
        await self._run(tokens.revoke, project, request.path_params["ident"])
        return JSONResponse({"revoked": request.path_params["ident"]})

    async def _run(self, call: Callable[..., Any], *given: Any, **named: Any) -> Any:
        return await run_in_threadpool(call, self._acts.engine, *given, **named)


def text(request: Request, name: str, most: int = 8192) -> str:
    """A text of the request's body. Raises Refused."""
    found = request.state.fields.get(name)
    if not isinstance(found, str) or not found or len(found) > most or "\0" in found:
        raise Refused(400, "service.request", f"expected a text of 1 to {most} characters for `{name}`")
    return found
