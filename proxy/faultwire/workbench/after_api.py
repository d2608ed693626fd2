"""The endpoints about earlier runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from faultwire.workbench.after import POLICY, analyses, analysis_of, compared, past, report_of
from faultwire.workbench.analyses import listed
from faultwire.workbench.assets import HEADERS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from starlette.requests import Request

    from faultwire.workbench.subject import Subject


class AfterEndpoints:
    """Runs below `base`; none where a tape is served by itself."""

    def __init__(self, subject: Subject, base: Path | None, json: Callable[[Any], Response]) -> None:
        self._subject, self._base, self._json = subject, base, json

    def routes(self) -> list[Route]:
        """All of them."""
        return [
            Route("/api/runs", self.runs, methods=["GET"]),
            Route("/api/runs/{ident}/comparison", self.comparison, methods=["GET"]),
            Route("/runs/{ident}/{name}", self.report, methods=["GET"]),
            Route("/analyses/{kind}/{ident}/{name}", self.analysis, methods=["GET"]),
        ]

    async def runs(self, _request: Request) -> Response:
        """Which there are, and which analyses of them."""
        base = self._base
        if base is None:
            return self._json({"runs": [], "analyses": [], "results": []})
        found = await run_in_threadpool(
            lambda: {
                "runs": past(base, self._subject.path),
                "analyses": analyses(base),
                "results": listed(base),
            }
        )
        return self._json(found)

    async def comparison(self, request: Request) -> Response:
        """The tape that is shown beside that of a run, call by call."""
        ident, base = str(request.path_params["ident"]), self._base
        known = [] if base is None else await run_in_threadpool(past, base)
        if not any(one["id"] == ident for one in known):
            raise HTTPException(404, "found no such run")
        return self._json(await run_in_threadpool(compared, self._subject.index.recorded, ident))

    async def report(self, request: Request) -> Response:
        """A report as it was written: the matrix, and each cell with its evidence."""
        ident, name = str(request.path_params["ident"]), str(request.path_params["name"])
        base = self._base
        body = None if base is None else await run_in_threadpool(report_of, base, ident, name)
        return _page(body)

    async def analysis(self, request: Request) -> Response:
        """The page of an analysis as it was written."""
        kind, ident, name = (str(request.path_params[one]) for one in ("kind", "ident", "name"))
        base = self._base
        body = None if base is None else await run_in_threadpool(analysis_of, base, kind, ident, name)
        return _page(body)


def _page(body: bytes | None) -> Response:
    """What was written for a browser, without scripts. Raises HTTPException where there is none."""
    if body is None:
        raise HTTPException(404, "found no such page")
    headers = {**HEADERS, "content-security-policy": POLICY}
    return Response(body, media_type="text/html; charset=utf-8", headers=headers)
