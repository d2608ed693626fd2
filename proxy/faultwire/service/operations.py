"""What those ask who run the service: does it live, does it take traffic, and what has it counted."""

from __future__ import annotations

from hmac import compare_digest
from typing import TYPE_CHECKING

import anyio.to_thread
import psutil
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from faultwire.errors import FaultwireError
from faultwire.service.guard import METRICS, Refused
from faultwire.service.metrics import Now
from faultwire.store.database import answers
from faultwire.workbench.metrics import CONTENT_TYPE

if TYPE_CHECKING:
    from starlette.requests import Request

    from faultwire.service.guard import Gate


def routes(gate: Gate, scraper: str | None) -> list[Route]:
    """`/health`, `/ready` and `/metrics`."""
    made = _Operations(gate, scraper)
    return [
        Route("/health", made.health),
        Route("/ready", made.ready),
        Route(METRICS, made.metrics),
    ]


class _Operations:
    def __init__(self, gate: Gate, scraper: str | None) -> None:
        self._gate, self._scraper = gate, scraper
        self._process = psutil.Process()

    async def health(self, _request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(self, request: Request) -> Response:
        """200 while the database answers. Why it does not is for the operator's log, not for strangers."""
        try:
            await run_in_threadpool(answers, self._gate.engine)
        except FaultwireError as error:
            request.state.code = error.code
            return JSONResponse({"status": "the database does not answer"}, 503)
        return JSONResponse({"status": "ok"})

    async def metrics(self, request: Request) -> Response:
        if self._scraper is None:
            raise Refused(404, "service.metrics", "this service was started without `--metrics-token`")
        kind, _, word = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not compare_digest(word.strip().encode(), self._scraper.encode()):
            raise Refused(401, "service.metrics", "this is not the token of `--metrics-token`")
        return PlainTextResponse(self._gate.metrics.text(self._now()), media_type=CONTENT_TYPE)

    def _now(self) -> Now:
        pool = self._gate.engine.pool
        taken = getattr(pool, "checkedout", lambda: 0)()
        free = getattr(pool, "checkedin", lambda: 0)()
        threads = anyio.to_thread.current_default_thread_limiter().statistics()
        times = self._process.cpu_times()
        return Now(
            threads.tasks_waiting, self._gate.browsers.count, {"free": free, "taken": taken},
            self._process.memory_info().rss, times.user + times.system,
        )  # fmt: skip
