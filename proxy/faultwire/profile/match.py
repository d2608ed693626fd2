"""Does an exchange match what an entry is about? Pure string work, no session, no chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire._core import glob_match
from faultwire.events import header
from faultwire.profile import jsonpath

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from faultwire.events import Exchange, Request, RequestView
    from faultwire.profile.entry_model import Globs, On

    class HasCallers(Protocol):
        """What names the agents of a session: a profile."""

        @property
        def callers(self) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
            """The agents that are known by what they send, with it."""


def like(globs: Globs, value: str | None) -> bool:
    """Does a text look like one of these?"""
    if value is None:
        return False
    return any(glob_match(glob, value) for glob in ((globs,) if isinstance(globs, str) else globs))


TEXTS: dict[str, Callable[[Exchange], str | None]] = {
    "provider": lambda exchange: exchange.provider,
    "model": lambda exchange: exchange.view.model if exchange.view else None,
    "host": lambda exchange: exchange.request.host,
    "method": lambda exchange: exchange.request.method,
    "path": lambda exchange: exchange.request.path.split("?", 1)[0],
    "url": lambda exchange: exchange.request.url,
    "session": lambda exchange: exchange.session,
    "tool": lambda exchange: exchange.tool,
    "agent": lambda exchange: exchange.agent,
}
ON_THE_HEAD = frozenset({"host", "method", "path", "url", "session"})


def mismatch(
    on: On, exchange: Exchange, *, tool: str | None = None, protocols: tuple[str, ...] = ()
) -> str | None:
    """The first key of `on` that the request does not match, or None where all match.

    Keys on the response are left to `decide_head`. `tool` is the name of a result's tool; `protocols` are
    those that the fault is about, whatever the kind.
    """
    view = exchange.view
    named = on.named or exchange.protocol in protocols
    if on.kind is None and exchange.kind == "other" and not named:
        return "kind"
    if on.kinds is not None and exchange.kind not in on.kinds:
        return "kind"
    if on.stream is not None and (view is None or view.stream != on.stream):
        return "stream"
    for name, globs in on.globs:
        value = tool if name == "tool" and tool is not None else TEXTS[name](exchange)
        if not like(globs, value):
            return name
    if on.edge is not None and not _on_edge(on, exchange):
        return "edge"
    for name, glob in (on.header or {}).items():
        if not like(glob, header(exchange.request.headers, name)):
            return f"header {name}"
    if on.turn is None and on.text is None and on.body is None:
        return None
    return _talk_mismatch(on, view) or _body_mismatch(on, exchange)


def _on_edge(on: On, exchange: Exchange) -> bool:
    """Where nothing tells who calls, it is whom the session is named after."""
    caller = exchange.caller or exchange.session
    return any(like(one, caller) and like(other, exchange.agent) for one, other in on.edges)


def caller(profile: HasCallers, request: Request) -> str | None:
    """The agent that sends a request, where the profile says how its requests are recognised."""
    for name, fields in profile.callers:
        if all(like(glob, header(request.headers, field)) for field, glob in fields):
            return name
    return None


def _talk_mismatch(on: On, view: RequestView | None) -> str | None:
    """`turn` counts the user's messages; `text` searches the last message of the user or a tool."""
    if on.turn is not None:
        user_turns = sum(1 for turn in view.turns if turn.role == "user" and turn.text) if view else 0
        if user_turns not in ((on.turn,) if isinstance(on.turn, int) else on.turn):
            return "turn"
    if on.text is not None:
        texts = _texts(view) if view else None
        globs = (on.text,) if isinstance(on.text, str) else on.text
        if not like(tuple(f"*{glob}*" for glob in globs), texts):
            return "text"
    return None


def _texts(view: RequestView) -> str | None:
    for turn in reversed(view.turns):
        if turn.tool_results or turn.role in ("user", "tool"):
            return "\n".join((turn.text, *(result.text for result in turn.tool_results)))
    return None


def _body_mismatch(on: On, exchange: Exchange) -> str | None:
    path = jsonpath.mismatch(exchange.request.body, on.body) if on.body else None
    return None if path is None else f"body {path}"


def may_match(on: On, exchange: Exchange, *, protocols: tuple[str, ...] = ()) -> bool:
    """Could this entry match once the body is known? Judged from the request head alone."""
    named = on.named or exchange.protocol in protocols
    kinds = on.kinds
    if exchange.kind == "other" and "other" not in (kinds or ()) and not named:
        return False
    if kinds is not None and exchange.kind not in (*kinds, "other"):
        return False
    return all(like(globs, TEXTS[name](exchange)) for name, globs in on.globs if name in ON_THE_HEAD)


def needs_response(on: On) -> bool:
    """Can this only be decided once the response head is there?"""
    return on.status is not None


def response_mismatch(on: On, exchange: Exchange) -> str | None:
    """The first response key that does not match; None where all do or there is no response yet."""
    if on.status is None or exchange.response is None:
        return None
    wanted = (on.status,) if isinstance(on.status, int) else on.status
    return None if exchange.response.status in wanted else "status"
