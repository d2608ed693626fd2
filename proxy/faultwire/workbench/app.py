"""The workbench as a web application: our files, and one tape as JSON, as markup and as a live stream."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from faultwire.errors import FaultwireError, TapeError
from faultwire.workbench.access import SHARE_S, Asked, Refusal
from faultwire.workbench.after_api import AfterEndpoints
from faultwire.workbench.analyses_api import AnalysisEndpoints
from faultwire.workbench.assets import HEADERS, Asset, assets
from faultwire.workbench.control_api import NONE, ControlEndpoints
from faultwire.workbench.exchange_view import sections
from faultwire.workbench.guard import Guarded
from faultwire.workbench.live import stream
from faultwire.workbench.metrics import CONTENT_TYPE
from faultwire.workbench.on_filter import matching, parse
from faultwire.workbench.searches import Searches

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request

    from faultwire.workbench.access import Access
    from faultwire.workbench.subject import Subject

ROWS = 2_000
"""Rows that one answer holds at most."""
NEWEST, ASKED = 100, 500
"""Rows at the end of the list that a page is sent, and rows that it asks for, at most, at once."""
LARGEST_BODY = 2_000_000
"""Bytes of a request that are read: an answer that was edited by hand."""
LARGEST_LOGIN = 10_000
"""The same of one who has no session yet."""


def application(subject: Subject, access: Access, base: Path | None = None) -> Any:
    """The application, behind the rules of `access`; the runs are those below `base`."""
    pages = assets()
    made = Starlette(
        routes=[
            *(Route(path, _file(asset)) for path, asset in pages.items()),
            *_Endpoints(subject, access, Searches(base)).routes(),
            *AfterEndpoints(subject, base, _json).routes(),
            *AnalysisEndpoints(subject, base, _json).routes(),
            *ControlEndpoints(subject.controls, _body, _json).routes(),
        ],
        exception_handlers={HTTPException: _http_error, FaultwireError: _our_error},  # type: ignore[dict-item]
    )
    return Guarded(made, access, open_to_all=frozenset(pages))


class _Endpoints:
    """What is said of one tape."""

    def __init__(self, subject: Subject, access: Access, searches: Searches) -> None:
        self._subject, self._access, self._searches = subject, access, searches

    def routes(self) -> list[Route]:
        return [
            Route("/api/session", self.session, methods=["GET"]),
            Route("/api/session", self.log_in, methods=["POST"]),
            Route("/api/session", self.log_out, methods=["DELETE"]),
            Route("/api/shares", self.share, methods=["POST"]),
            Route("/api/start", self.start, methods=["GET"]),
            Route("/api/tape", self.tape, methods=["GET"]),
            Route("/api/verification", self.verification, methods=["GET"]),
            Route("/api/verification", self.verify, methods=["POST"]),
            Route("/api/exchanges", self.exchanges, methods=["GET"]),
            Route("/api/news", self.news, methods=["GET"]),
            Route("/api/rows", self.rows, methods=["GET"]),
            Route("/api/place", self.place, methods=["GET"]),
            Route("/api/matches", self.matches, methods=["GET"]),
            Route("/api/live", self.live, methods=["GET"]),
            Route("/api/searches", self.searches, methods=["GET"]),
            Route("/api/ledger", self.ledger, methods=["GET"]),
            Route("/metrics", self.metrics, methods=["GET"]),
            Route("/api/exchanges/{at:int}", self.exchange, methods=["GET"]),
            Route("/api/exchanges/{at:int}/events", self.events, methods=["GET"]),
            Route("/api/exchanges/{at:int}/lineage", self.lineage, methods=["GET"]),
            Route("/api/exchanges/{at:int}/view", self.view, methods=["GET"]),
        ]

    # ------------------------------------------------------------ who is there

    async def session(self, request: Request) -> Response:
        asked = request.state.asked
        return _json({"csrf": self._access.word_of(asked), "read_only": self._access.reads_only(asked)})

    async def log_in(self, request: Request) -> Response:
        given = await _body(request, LARGEST_LOGIN)
        token = given.get("token")
        found = self._access.exchange(token if isinstance(token, str) else "")
        if isinstance(found, Refusal):
            return refused(found)
        session, word = found
        reads = self._access.reads_only(Asked("GET", {"cookie": f"{self._access.cookie}={session}"}))
        response = _json({"csrf": word, "read_only": reads})
        response.set_cookie(
            self._access.cookie, session, httponly=True, samesite="strict", path="/", secure=self._access.tls
        )
        return response

    async def log_out(self, request: Request) -> Response:
        self._access.end(request.state.asked)
        return _json({"csrf": None})

    async def share(self, _request: Request) -> Response:
        return _json({"token": self._access.share(), "seconds": int(SHARE_S)})

    # ------------------------------------------------------------ the tape

    async def start(self, request: Request) -> Response:
        """All that a page shows first, at once."""
        newest, subject = min(_number(request, "newest", NEWEST), ROWS), self._subject
        found = {
            "news": await run_in_threadpool(subject.index.news, 0, newest),
            "tape": subject.about(),
            "verification": subject.verification,
            "control": NONE if subject.controls is None else subject.controls.now,
        }
        return _json(found)

    async def tape(self, request: Request) -> Response:
        return _json(self._subject.about())

    async def verification(self, request: Request) -> Response:
        return _json(self._subject.verification)

    async def verify(self, request: Request) -> Response:
        return _json(await run_in_threadpool(self._subject.verify))

    async def exchanges(self, request: Request) -> Response:
        after = _number(request, "after", 0)
        most = min(_number(request, "most", ROWS), ROWS)
        revision, rows = await run_in_threadpool(self._subject.index.since, after, most)
        return _json({"revision": revision, "rows": rows, "more": revision < self._subject.index.revision})

    async def news(self, request: Request) -> Response:
        after, newest = _number(request, "after", 0), min(_number(request, "newest", NEWEST), ROWS)
        return _json(await run_in_threadpool(self._subject.index.news, after, newest))

    async def rows(self, request: Request) -> Response:
        places = _numbers(request, "at")
        rows, count = self._subject.index.rows, len(self._subject.index.rows)
        asked = [at for at in places if at < count]
        return _json({"rows": await run_in_threadpool(lambda: [rows[at] for at in asked])})

    async def place(self, request: Request) -> Response:
        session, number = request.query_params.get("session", ""), _number(request, "number", 0)
        return _json({"at": await run_in_threadpool(self._subject.index.places.find, session, number)})

    async def matches(self, request: Request) -> Response:
        on = parse(request.query_params.get("on", ""))
        if on is None:
            return _json({"places": None})
        first = _number(request, "from", 0)
        exchanges = enumerate(self._subject.index.recorded[first:], first)
        return _json({"places": await run_in_threadpool(matching, on, exchanges)})

    async def live(self, request: Request) -> Response:
        after = _number(request, "after", 0)
        newest = _number(request, "newest", 0) or None
        acts = not self._access.reads_only(request.state.asked)
        page: dict[str, Any] = {"newest": newest and min(newest, ROWS), "searches": self._searches}
        events = stream(self._subject, after, acts=acts, **page)
        return StreamingResponse(events, media_type="text/event-stream")

    async def searches(self, _request: Request) -> Response:
        return _json({"searches": await run_in_threadpool(self._searches.look)})

    async def ledger(self, request: Request) -> Response:
        return _json({"lines": await run_in_threadpool(self._subject.ledger)})

    async def metrics(self, request: Request) -> Response:
        controls = self._subject.controls
        now = NONE if controls is None else controls.now
        armed = sum(one["state"] == "armed" for one in now["interventions"])
        text = self._subject.metrics.text(len(now["held"]), armed)
        return Response(text, media_type=CONTENT_TYPE)

    # ------------------------------------------------------------ one exchange

    async def exchange(self, request: Request) -> Response:
        return _json(await self._view(request))

    async def events(self, request: Request) -> Response:
        view = await self._view(request)
        return _json({"events": view["events"], "messages": view["messages"]})

    async def lineage(self, request: Request) -> Response:
        at = int(request.path_params["at"])
        return _json(await run_in_threadpool(self._subject.lineage, at))

    async def view(self, request: Request) -> Response:
        view = await self._view(request)
        markup = await run_in_threadpool(sections, view, "x")
        return Response(str(markup), media_type="text/html; charset=utf-8")

    async def _view(self, request: Request) -> dict[str, Any]:
        return await run_in_threadpool(self._subject.view, int(request.path_params["at"]))


def refused(refusal: Refusal) -> Response:
    """A refusal as the page and programs read it."""
    error = {"code": refusal.code, "message": refusal.message, "hint": refusal.hint}
    return _json({"error": error}, refusal.status)


def _file(asset: Asset) -> Any:
    async def endpoint(_request: Request) -> Response:
        return Response(asset.body, media_type=asset.media_type)

    return endpoint


def _json(value: Any, status: int = 200) -> JSONResponse:
    return JSONResponse(value, status, dict(HEADERS))


async def _body(request: Request, most: int = LARGEST_BODY) -> dict[str, Any]:
    """The JSON object of a request. Raises HTTPException."""
    data = b""
    async for piece in request.stream():
        data += piece
        if len(data) > most:
            raise HTTPException(413, "found a request that is too long")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise HTTPException(400, "found no JSON") from None
    if not isinstance(value, dict):
        raise HTTPException(400, "expected a JSON object")
    return value


def _number(request: Request, name: str, default: int) -> int:
    given = request.query_params.get(name, "")
    if not given:
        return default
    if not (given.isascii() and given.isdigit() and len(given) < 16):
        raise HTTPException(400, f"expected a number for `{name}`")
    return int(given)


def _numbers(request: Request, name: str) -> list[int]:
    words = request.query_params.get(name, "").split(",")
    if len(words) > ASKED or not all(one.isascii() and one.isdigit() and len(one) < 16 for one in words):
        raise HTTPException(400, f"expected up to {ASKED} numbers for `{name}`")
    return [int(one) for one in words]


async def _http_error(_request: Request, error: HTTPException) -> Response:
    return _json({"error": {"code": "ui.request", "message": error.detail, "hint": ""}}, error.status_code)


async def _our_error(_request: Request, error: FaultwireError) -> Response:
    """What is wrong with a filter, or with the tape where it was read."""
    text = "; ".join(one.message for one in (error, *error.also))
    body = {"error": {"code": error.code, "message": text, "hint": error.hint or ""}}
    return _json(body, 422 if isinstance(error, TapeError) else 400)
