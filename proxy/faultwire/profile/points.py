"""What is known of an exchange at each point at which faults act: the table that entries are held against.

A fault declares when it acts (`moments`), on which kinds, and on which protocols. A protocol declares of
which kinds its exchanges are, and whether anybody can read them (`roles`, `views`). A key of `on` that has
no value at any such point never matches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from faultwire import wire

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.events import Kind
    from faultwire.faults._api import Fault, Moment
    from faultwire.wire.protocol import Protocol

_HEAD = frozenset({"host", "method", "path", "url", "header", "session"})
"""Of every request."""
_WHOLE = _HEAD | {"body"}
_TALK = frozenset({"stream", "turn", "text"})
_VIEW = _TALK | {"model"}
"""What is read in a request to a model, or to an agent."""


class Point(NamedTuple):
    """Exchanges of a kind at a moment. `keys` are those of `on`, beside `kind` and `site`, for which there
    may be a value. `site` is the site of a tool, where this is one."""

    moment: Moment
    kind: Kind
    keys: frozenset[str]
    site: str | None = None


_LLM = _WHOLE | _VIEW | {"provider"}
POINTS: tuple[Point, ...] = (
    Point("connection", "llm", frozenset({"host", "session", "provider"})),
    Point("connection", "other", frozenset({"host", "session", "provider"})),
    Point("exchange", "llm", _LLM | {"status"}),
    Point("exchange", "tool", _WHOLE | {"tool", "status"}, "http"),
    Point("exchange", "tool", _WHOLE | {"tool", "provider", "status"}, "mcp"),
    # An agent that the user names may speak any protocol, a model's as well.
    Point("exchange", "agent", _LLM | {"agent", "edge", "status"}),
    Point("exchange", "agent", (_WHOLE - _VIEW) | {"provider", "agent", "edge", "status"}, "mcp"),
    Point("exchange", "other", _WHOLE | {"provider", "status"}),
    # What is said by MCP around the calls of tools.
    Point("exchange", "other", _WHOLE | {"provider", "status"}, "mcp"),
    Point("request", "llm", _LLM),
    Point("call", "tool", _WHOLE | {"tool"}, "http"),
    Point("call", "tool", _WHOLE | {"tool", "provider"}, "mcp"),
    Point("result", "llm", _LLM | {"tool"}, "result"),
)


def points(fault: Fault) -> tuple[Point, ...]:
    """The points at which a fault may act, by what it declares."""
    return tuple(_points(fault))


def _points(fault: Fault) -> Iterator[Point]:
    spoken = [wire.protocol(name) for name in fault.protocols if name in wire.protocols()]
    for point in POINTS:
        if point.moment not in fault.moments or (fault.kinds and point.kind not in fault.kinds):
            continue
        if not spoken:
            yield point
        elif any(point.kind in kinds_of(one) for one in spoken) and point.site != "http":
            yield point if any(one.views for one in spoken) else point._replace(keys=point.keys - _VIEW)


def kinds_of(protocol: Protocol | None) -> frozenset[Kind]:
    """What exchanges of a protocol, or of none, may be; `agent` where the user names the address."""
    if protocol is None:
        return frozenset(("tool", "agent", "other"))
    return frozenset((protocol.kind, *protocol.roles, "agent"))


def methods(point: Point, fault: Fault) -> frozenset[str] | None:
    """The methods of requests at a point, None where any may be used: only a protocol's own are recognised
    as calls to a model."""
    if point.kind != "llm" or point.moment == "connection":
        return None
    known = wire.protocols().values()
    spoken = [one for one in known if not fault.protocols or one.name in fault.protocols]
    return frozenset(name for one in spoken if "llm" in (one.kind, *one.roles) for name in one.methods)
