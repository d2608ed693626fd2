"""The endpoints by which the page holds, edits and arms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route

from faultwire.errors import UsageError
from faultwire.faults._describe import describe
from faultwire.faults._registry import find, registry
from faultwire.profile.dump import dump
from faultwire.profile.entry_model import Entry, On, Trigger
from faultwire.profile.model import Profile
from faultwire.workbench.on_filter import parse
from faultwire.workbench.spoken import spoken

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from faultwire.workbench.controls import Controls

    Body = Callable[[Request], Awaitable[dict[str, Any]]]
    Json = Callable[[Any], Response]

NONE: dict[str, Any] = {"engine": None, "held": [], "interventions": [], "lost": 0}
"""What is said of a tape that no engine writes."""
TEXT = 2_000


class ControlEndpoints:
    """What is said to the engine, if there is one."""

    def __init__(self, controls: Controls | None, body: Body, json: Json) -> None:
        self._controls, self._body, self._json = controls, body, json

    def routes(self) -> list[Route]:
        """All of them."""
        return [
            Route("/api/control", self.state, methods=["GET"]),
            Route("/api/faults", self.faults, methods=["GET"]),
            Route("/api/breaks", self.set_break, methods=["POST"]),
            Route("/api/interventions", self.arm, methods=["POST"]),
            Route("/api/interventions/{ident}", self.end, methods=["DELETE"]),
            Route("/api/held/{ident}", self.look, methods=["GET"]),
            Route("/api/held/{ident}", self.decide, methods=["POST"]),
        ]

    @property
    def engine(self) -> Controls:
        """The engine. Raises UsageError where the tape has none."""
        if self._controls is None:
            raise UsageError(
                "no engine writes this tape, so nothing can be held or armed", code="control.none"
            )
        return self._controls

    async def state(self, _request: Request) -> Response:
        """What is held and armed now."""
        return self._json(NONE if self._controls is None else self._controls.now)

    async def faults(self, _request: Request) -> Response:
        """Every fault that can be armed, with the schema of its settings."""
        return self._json({"faults": await run_in_threadpool(catalogue)})

    async def set_break(self, request: Request) -> Response:
        """A breakpoint."""
        message = break_of(await self._body(request))
        return self._json(await run_in_threadpool(lambda: self.engine.set_break(**message)))

    async def arm(self, request: Request) -> Response:
        """A fault by hand."""
        given = await self._body(request)
        message = await run_in_threadpool(intervention_of, given)
        return self._json(await run_in_threadpool(lambda: self.engine.hold(op="arm", **message)))

    async def end(self, request: Request) -> Response:
        """Disarm faults, or end a breakpoint: what it holds goes on."""
        ident = str(request.path_params["ident"])
        return self._json(
            await run_in_threadpool(
                lambda: self.engine.ask(op="disarm", id=ident, why="ended on the page of the workbench")
            )
        )

    async def look(self, request: Request) -> Response:
        """One hold, with what may be edited."""
        ident = str(request.path_params["ident"])
        return self._json(await run_in_threadpool(lambda: self.engine.ask(op="look", held=ident)))

    async def decide(self, request: Request) -> Response:
        """Go on."""
        ident, given = str(request.path_params["ident"]), await self._body(request)
        return self._json(await run_in_threadpool(self._decided, ident, given))

    def _decided(self, ident: str, given: dict[str, Any]) -> dict[str, Any]:
        if given.get("do") == "answer" and isinstance(given.get("say"), str):
            shown = self.engine.ask(op="look", held=ident)["shown"]
            made = spoken(shown, given.pop("say"))
            given |= {**made, "headers": list(made["headers"].items())}
        return self.engine.ask(**{**given, "op": "decide", "held": ident})


def catalogue() -> list[dict[str, Any]]:
    """The faults that act on calls; those of connections cannot be armed."""
    found = []
    for name in registry():
        kind = find(name)
        if "connection" not in kind.moments:
            about = describe(kind)
            schema = kind.model_json_schema()
            found.append({"name": name, "site": about.site, "summary": about.summary, "schema": schema})
    return found


def break_of(given: dict[str, Any]) -> dict[str, Any]:
    """The message for a breakpoint from what the form says. Raises UsageError, ProfileError."""
    message: dict[str, Any] = {"at": str(given.get("at", "")), "on": _on(given)}
    if given.get("event"):
        message["event"] = given["event"]
    if given.get("times"):
        message["trigger"] = {"max_times": given["times"], "attempts": "first"}
    return {**message, **_sessions(given)}


def intervention_of(given: dict[str, Any]) -> dict[str, Any]:
    """The message for a fault. `scope` is `next` (one call), `session` or `all`. Raises UsageError."""
    kind = find(str(given.get("fault", ""))[:TEXT])
    try:
        fault = kind.model_validate(given.get("settings") or {})
        trigger = Trigger.model_validate(given.get("trigger") or {})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or kind.name
        raise UsageError(f"`{where}`: {first['msg']}", code="control.settings") from None
    radius: dict[str, Any] = {}
    if given.get("scope") == "next":
        trigger = trigger.model_copy(update={"max_times": 1})
        radius = {"calls": 1}
    entry = Entry(id=kind.name, fault=fault, on=On.model_validate(_on(given)), trigger=trigger)
    profile = dump(Profile(name="by hand", entries=(entry,)))
    for_s = given.get("for_s") or 600
    return {"profile": profile, "radius": radius, "for_s": for_s, **_sessions(given)}


def _on(given: dict[str, Any]) -> dict[str, Any]:
    found = parse(str(given.get("on") or ""))
    return {} if found is None else found.model_dump(mode="json", exclude_defaults=True)


def _sessions(given: dict[str, Any]) -> dict[str, Any]:
    session = str(given.get("session") or "").strip()
    return {"sessions": [session[:TEXT]]} if session else {}
