"""The pages: rendered here, without a script, from the same answers as `/api/`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import PackageLoader, TemplateError
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from faultwire.errors import UsageError
from faultwire.report.comparison import trend_part
from faultwire.report.html import environment, render
from faultwire.report.page import spark
from faultwire.report.text import line
from faultwire.service.acts import UNSHAPED
from faultwire.service.api import allowed, text
from faultwire.service.blame import by_session
from faultwire.service.guard import HEADERS, Refused
from faultwire.service.roles import Caller
from faultwire.store import team, tokens
from faultwire.store.blamed import blame_of
from faultwire.store.dashboards import MOST, changing
from faultwire.store.tapes import kept
from faultwire.workbench.after import POLICY
from faultwire.workbench.assets import REPORT_STYLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from jinja2 import Environment
    from starlette.requests import Request

    from faultwire.service.acts import Acts
    from faultwire.service.browsers import Browsers
    from faultwire.service.oidc import Oidc
    from faultwire.store.objects import Objects

STATE = "faultwire-oidc"
AGENTS = 5
"""Agents whose trend is drawn."""


def routes(
    acts: Acts, browsers: Browsers, objects: Objects | None, oidc: Oidc | None, base: str
) -> list[Route]:
    """All pages. `base` is how browsers reach the service."""
    return _Pages(acts, browsers, objects, oidc, base).routes()


class _Pages:
    def __init__(
        self, acts: Acts, browsers: Browsers, objects: Objects | None, oidc: Oidc | None, base: str
    ) -> None:
        self._acts, self._browsers, self._objects = acts, browsers, objects
        self._oidc, self._callback = oidc, f"{base}/login/callback"

    def routes(self) -> list[Route]:
        """The paths."""
        run = "/projects/{project}/runs/{run}"
        return [
            Route("/style.css", self.style),
            Route("/", self.home),
            Route("/login", self.login),
            Route("/login", self.come_in, methods=["POST"]),
            Route("/login/oidc", self.to_provider),
            Route("/login/callback", self.from_provider),
            Route("/logout", self.leave, methods=["POST"]),
            Route("/shared/{token}", self.shared),
            Route("/projects/{project}", self.project),
            Route(run, self.run),
            Route(f"{run}/{{phase}}.html", self.report),
            Route(f"{run}/comments", self.comment, methods=["POST"]),
            Route(f"{run}/shares", self.share, methods=["POST"]),
            Route(f"{run}/baseline", self.promote, methods=["POST"]),
        ]

    # ------------------------------------------------------------ coming in

    async def style(self, _request: Request) -> Response:
        own = templates().get_template("service.css").render()
        return Response(REPORT_STYLE.read_text() + own, media_type="text/css")

    async def login(self, request: Request) -> Response:
        return _page(request, "login.html.j2", provider=self._oidc is not None)

    async def come_in(self, request: Request) -> Response:
        found = await run_in_threadpool(tokens.look_up, self._acts.engine, text(request, "token"))
        if found is None or found.run is not None:
            request.state.code = "service.token"
            return _page(request, "login.html.j2", 401, provider=self._oidc is not None, wrong=True)
        return self._opened(request, Caller.of(found), "/")

    async def to_provider(self, _request: Request) -> Response:
        place, state = await run_in_threadpool(self._provider().begin, self._callback)
        answer = RedirectResponse(place, 303)
        # The provider's answer comes from another site: a strict cookie would stay behind.
        answer.set_cookie(
            STATE, state, max_age=600, httponly=True, samesite="lax", path="/login", secure=self._browsers.tls
        )
        return answer

    async def from_provider(self, request: Request) -> Response:
        query = request.query_params
        given = (query.get("state", ""), request.cookies.get(STATE, ""), query.get("code", ""))
        caller = await run_in_threadpool(self._provider().finish, *given, self._callback)
        if not caller.roles:
            raise Refused(403, "service.role", "your account has no role in any project here")
        answer = self._opened(request, caller, "/")
        answer.delete_cookie(STATE, path="/login")
        return answer

    async def leave(self, request: Request) -> Response:
        if request.state.browser is not None:
            self._browsers.end(request.state.browser)
        return RedirectResponse("/login", 303)

    async def shared(self, request: Request) -> Response:
        found = await run_in_threadpool(tokens.look_up, self._acts.engine, request.path_params["token"])
        if found is None or found.run is None:
            raise Refused(404, "service.link", "this link is none, has expired, or was revoked")
        return self._opened(request, Caller.of(found), f"/projects/{found.project}/runs/{found.run}")

    def _opened(self, request: Request, caller: Caller, onward: str) -> Response:
        """A page that goes on by itself: a strict cookie is not sent along a redirect from elsewhere."""
        request.state.caller = caller
        answer = _page(request, "onward.html.j2", onward=onward)
        value = self._browsers.opened(caller)
        answer.set_cookie(
            self._browsers.cookie,
            value,
            httponly=True,
            samesite="strict",
            path="/",
            secure=self._browsers.tls,
        )
        return answer

    def _provider(self) -> Oidc:
        if self._oidc is None:
            raise Refused(404, "service.no_oidc", "this service has no OpenID provider")
        return self._oidc

    # ------------------------------------------------------------ looking

    async def home(self, request: Request) -> Response:
        caller = request.state.caller
        if caller.shared is not None:
            return RedirectResponse("/projects/{}/runs/{}".format(*caller.shared), 303)
        if len(caller.roles) == 1:
            return RedirectResponse(f"/projects/{next(iter(caller.roles))}", 303)
        return _page(request, "home.html.j2", roles=sorted(caller.roles.items()))

    async def project(self, request: Request) -> Response:
        name = allowed(request, "read")
        runs = await run_in_threadpool(self._acts.runs, name, MOST)
        base = await run_in_threadpool(team.baseline, self._acts.engine, name)
        tapes = [] if self._objects is None else await run_in_threadpool(kept, self._objects, name)
        about: dict[str, Any] = {
            "runs": runs[::-1],
            "baseline": base,
            "tapes": tapes,
            "agents": _agents(runs),
        }
        return _page(request, "project.html.j2", project=name, **about)

    async def run(self, request: Request) -> Response:
        name, run = allowed(request, "read"), str(request.path_params["run"])
        about = await run_in_threadpool(self._about, name, run)
        may = {act: request.state.caller.may(act, name, run) for act in ("comment", "share", "promote")}
        return _page(request, "run.html.j2", project=name, may=may, link=None, **about)

    def _about(self, project: str, run: str) -> dict[str, Any]:
        engine = self._acts.engine
        base, compared, problem = team.baseline(engine, project), None, None
        found = self._acts.run(project, run)
        if base is not None and base["run"] != run:
            try:
                compared = self._acts.compare(project, run, base["run"])
            except UsageError as error:
                problem = error.message
        return {
            "run": found, "baseline": base, "compared": compared, "problem": problem,
            "comments": team.comments_on(engine, project, run), "changing": changing(engine, project, run),
            "blame": by_session(blame_of(engine, project, run)),
        }  # fmt: skip

    async def report(self, request: Request) -> Response:
        name, params = allowed(request, "read"), request.path_params
        document = await run_in_threadpool(self._acts.report, name, params["run"], params["phase"])
        try:
            made = await run_in_threadpool(render, document)
        except (*UNSHAPED, TemplateError) as error:  # what is missing, jinja names by an error of its own
            raise Refused(
                422, "service.report", f"this report cannot be shown: {type(error).__name__}"
            ) from None
        return HTMLResponse(made, headers={**HEADERS, "content-security-policy": POLICY})

    # ------------------------------------------------------------ adding

    async def comment(self, request: Request) -> Response:
        name, run = allowed(request, "comment"), str(request.path_params["run"])
        given = (run, request.state.caller.name, text(request, "text", team.LONGEST))
        await run_in_threadpool(team.comment, self._acts.engine, name, *given)
        return RedirectResponse(f"/projects/{name}/runs/{run}#comments", 303)

    async def share(self, request: Request) -> Response:
        name, run = allowed(request, "share"), str(request.path_params["run"])
        about: dict[str, Any] = {"made_by": request.state.caller.name, "days": 7, "run": run}
        secret, made = await run_in_threadpool(
            lambda: tokens.make(self._acts.engine, name, "link", "viewer", **about)
        )
        found = await run_in_threadpool(self._about, name, run)
        may = {act: request.state.caller.may(act, name, run) for act in ("comment", "share", "promote")}
        link = {
            "url": f"{self._callback.removesuffix('/login/callback')}/shared/{secret}",
            "until": made.expires_at,
        }
        return _page(request, "run.html.j2", 201, project=name, may=may, link=link, **found)

    async def promote(self, request: Request) -> Response:
        name, run = allowed(request, "promote"), str(request.path_params["run"])
        given = (run, request.state.caller.name, text(request, "reason", 400))
        await run_in_threadpool(team.promote, self._acts.engine, name, *given)
        return RedirectResponse(f"/projects/{name}", 303)


def _agents(runs: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The latest runs by agent, each with its trend; the agent that ran last comes first."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for run in runs:
        found.setdefault(str(run["agent_digest"] or ""), []).append(run)
    latest = sorted(found.items(), key=lambda pair: str(pair[1][-1]["started_at"]), reverse=True)
    return [
        {
            "agent": agent, "count": len(mine), "commits": len({run["commit_id"] for run in mine} - {None}),
            "spark": spark(trend_part(map(_in_percent, mine), {})), "last": mine[-1],
        }
        for agent, mine in latest[:AGENTS]
    ]  # fmt: skip


def _in_percent(run: Mapping[str, Any]) -> dict[str, Any]:
    """A trend's scores go to 100, those of a run to 1."""
    return {**run, "score": None if run["score"] is None else 100 * run["score"]}


@cache
def templates() -> Environment:
    """The templates of this room in the environment of reports, whose values are inert."""
    made = environment().overlay(loader=PackageLoader("faultwire.service"))
    made.filters = {**made.filters, "instant": _instant}
    return made


def _instant(text: str) -> str:
    """An instant in UTC as people read it; what is none stays one harmless line."""
    found = text.replace("+00:00", "Z")
    if len(found) >= 20 and found[10] == "T" and found.endswith("Z"):
        return line(f"{found[:10]} {found[11:16]} UTC")
    return line(text)


def _page(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    state = request.state
    word = state.browser.word if state.browser is not None else ""
    made = (
        templates()
        .get_template(template)
        .render(who=state.caller, csrf=word, **{"wrong": False, "provider": False, **values})
    )
    return HTMLResponse(made, status)
