"""The endpoints about results of searches, and about mutants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from faultwire.workbench.analyses import VIEWS, Analysis, result_of, tape_of
from faultwire.workbench.evidence import exchanges_of, view_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from starlette.requests import Request

    from faultwire.workbench.subject import Subject


class AnalysisEndpoints:
    """Results below `base`; none where a tape is served by itself."""

    def __init__(self, subject: Subject, base: Path | None, json: Callable[[Any], Response]) -> None:
        self._subject, self._base, self._json = subject, base, json

    def routes(self) -> list[Route]:
        """All of them."""
        one = "/api/analyses/{kind}/{ident}"
        return [
            Route(one, self.result, methods=["GET"]),
            Route(f"{one}/exchanges", self.exchanges, methods=["GET"]),
            Route(f"{one}/exchanges/{{number:int}}", self.exchange, methods=["GET"]),
        ]

    async def result(self, request: Request) -> Response:
        """One result as its command wrote it."""
        found = await self._found(request)
        shown = await run_in_threadpool(VIEWS[found.kind], found.path)
        return self._json({"kind": found.kind, **shown})

    async def exchanges(self, request: Request) -> Response:
        """The exchanges that show it; `open` says whether their tape is the one that the page shows."""
        tape = await self._tape(request)
        session = request.query_params.get("session")
        listed = await run_in_threadpool(exchanges_of, tape, session)
        same = tape.resolve() == self._subject.path.resolve()
        return self._json({**listed, "open": same})

    async def exchange(self, request: Request) -> Response:
        """One of them as markup, escaped."""
        tape = await self._tape(request)
        session = request.query_params.get("session", "")
        markup = await run_in_threadpool(view_of, tape, session, int(request.path_params["number"]))
        return Response(str(markup), media_type="text/html; charset=utf-8")

    async def _found(self, request: Request) -> Analysis:
        kind, ident = (str(request.path_params[one]) for one in ("kind", "ident"))
        base = self._base
        found = None if base is None else await run_in_threadpool(result_of, base, kind, ident)
        if found is None:
            raise HTTPException(404, "found no such result")
        return found

    async def _tape(self, request: Request) -> Path:
        found, number = await self._found(request), request.query_params.get("repro", "0")
        if not (number.isascii() and number.isdigit() and len(number) < 6):
            raise HTTPException(400, "expected a number for `repro`")
        tape = await run_in_threadpool(tape_of, found, int(number))
        if tape is None:
            raise HTTPException(404, "found no tape with its exchanges")
        return tape
