"""Why an entry can never fire: found from what its fault declares and from what its conditions need.

Nothing here knows a fault by its name. Where a fault has conditions of its own (`Fault.inapplicable`), it is
asked about exchanges that are as the entry wants them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.faults._api import RequestFault, ResultFault
from faultwire.profile.entry_model import On
from faultwire.profile.never_asked import KEYS, refusal
from faultwire.profile.never_matched import value_problems
from faultwire.profile.never_triggered import trigger_problems
from faultwire.profile.overlap import literal, overlap
from faultwire.profile.points import POINTS, Point, methods, points
from faultwire.profile.words import each, listed, names_of
from faultwire.wire import provider_of
from faultwire.wire.mcp.http import Mcp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.faults._api import Fault, Moment
    from faultwire.profile.entry_model import Trigger
    from faultwire.profile.words import Problem

_WHEN: dict[Moment, str] = {
    "connection": "when a connection is made, before there is a request",
    "request": "before there is an answer",
    "call": "before there is an answer",
    "result": "before there is an answer",
    "exchange": "on exchanges",
}
MCP = Mcp.name
"""What stands for the provider of a tool that is called by MCP."""
_NOT_KEYS = ("kind", "site")
"""What points have beside their keys."""


_TOGETHER = "which no exchange has together"
_OTHER_FAULT = "remove `{}`, or choose another fault"
_FEW = 6
"""Keys that are listed in a hint."""


def never_fires(fault: Fault, on: On, trigger: Trigger) -> Iterator[Problem]:
    """Everything that makes an entry pointless, but for a chance of 0 (`whole.check`)."""
    yield from trigger_problems(trigger)
    if trigger.no_sdk_retry and not fault.answers:
        message = f"found `no_sdk_retry` for `{fault.name}`, which gives no answer of its own"
        yield "trigger.no_sdk_retry", message, "remove `no_sdk_retry`"
    values = list(value_problems(on))
    problem = None if values else _Entry(fault, on).problem()
    yield from values if problem is None else (problem,)


class _Entry:
    """The conditions of one entry against the points at which its fault acts."""

    def __init__(self, fault: Fault, on: On) -> None:
        self.fault, self.on = fault, on
        self.points = points(fault)
        self.given = [key for key in On.model_fields if getattr(on, key) is not None and key not in _NOT_KEYS]
        self.left = self._left(*self.given)

    def problem(self) -> Problem | None:
        """The first reason why no exchange at any of the points matches, or None."""
        unplaced = self._kind() or self._site() or self._unknown() or self._apart()
        return unplaced or self._method() or self._provider() or self._signed() or self._refused()

    def _left(self, *keys: str) -> list[Point]:
        """The points that the entry may match, by these of its keys."""
        kinds, sites = self.on.kinds, self.on.sites
        return [
            point
            for point in self.points
            if (kinds is None or point.kind in kinds)
            and (sites is None or point.site in sites)
            and point.keys.issuperset(keys)
        ]

    def _kind(self) -> Problem | None:
        """Kinds on which the fault does not act, or that nobody has named."""
        name, kinds = self.fault.name, self.on.kinds
        acts = names_of(dict.fromkeys(point.kind for point in self.points), "or")
        if kinds is not None and not any(point.kind in kinds for point in self.points):
            message = f"found `kind: {listed(self.on.kind)}` for `{name}`, which acts on {acts} only"
            return "on.kind", message, _OTHER_FAULT.format("kind")
        unnamed = kinds is None and not self.on.named and not self.fault.protocols
        if unnamed and all(point.kind == "other" for point in self.points):
            message = f"found nothing that names exchanges for `{name}`, which acts on {acts} only"
            return "on", message, "add `kind: other`, or `host`, `path`, `url` or `method`"
        return None

    def _site(self) -> Problem | None:
        """Sites of tools at which the fault does not act, or that exchanges of this kind do not have."""
        sites, fault = self.on.sites, self.fault
        found = f"found `site: {listed(self.on.site)}`"
        if sites is not None and not any(point.site in sites for point in self.points):
            why = f"acts on {names_of(fault.kinds, 'or')} only" if fault.kinds else f"acts {self._when()}"
            why = "does not act on results" if sites == ("result",) else why
            return "on.site", f"{found} for `{fault.name}`, which {why}", _OTHER_FAULT.format("site")
        if sites is not None and not self._left():
            message = f"{found} with `kind: {listed(self.on.kind)}`, {_TOGETHER}"
            return "on.site", message, "remove `site` or `kind`"
        return None

    def _unknown(self) -> Problem | None:
        """A key for which there is no value at any point of the fault."""
        for key in self.given:
            if any(key in point.keys for point in self.points):
                continue
            found = f"found `{key}` for `{self.fault.name}`, which acts"
            if not any(key in point.keys for point in POINTS if point.moment in self.fault.moments):
                known = [name for name in On.model_fields if any(name in one.keys for one in self.points)]
                hint = f"remove `{key}`"
                if len(known) < _FEW:
                    hint = f"match it with {names_of(('kind', *known), 'or')}"
                return f"on.{key}", f"{found} {self._when()}", hint
            acts = names_of(self.fault.protocols or self.fault.kinds, "or")
            return f"on.{key}", f"{found} on {acts} only", _OTHER_FAULT.format(key)
        return None

    def _apart(self) -> Problem | None:
        """Keys that no exchange has together, or not with this kind or at this site."""
        if self.left:
            return None
        for key in self.given:
            if not self._left(key):
                return self._without(key)
        pairs = ((one, other) for at, one in enumerate(self.given) for other in self.given[at + 1 :])
        for one, other in pairs:
            if not self._left(one, other):
                first, second = (other, one) if other in ("tool", "agent", "edge") else (one, other)
                message = f"found `{first}` with `{second}`, {_TOGETHER}"
                return f"on.{first}", message, f"remove `{first}` or `{second}`"
        message = f"found {names_of(self.given, 'and')}, {_TOGETHER}"
        return f"on.{self.given[0]}", message, "remove one of them"

    def _without(self, key: str) -> Problem:
        """A key that nothing of this kind, or at this site, has."""
        acts = [point for point in POINTS if point.moment in self.fault.moments]
        kinds = dict.fromkeys(point.kind for point in acts if key in point.keys)
        holder, only = "site", _TOGETHER
        if self.on.kinds is not None:
            holder = "kind"
            if not any(kind in kinds for kind in self.on.kinds):
                only = f"which only {names_of(kinds, 'and')} exchanges have"
        message = f"found `{key}` with `{holder}: {listed(getattr(self.on, holder))}`, {only}"
        return f"on.{key}", message, f"remove `{key}` or `{holder}`"

    def _method(self) -> Problem | None:
        """Methods with which nothing at the fault's points is called."""
        wanted = each(self.on.method)
        allowed = [methods(point, self.fault) for point in self.left]
        if not wanted or any(some is None or overlap(wanted, some) for some in allowed):
            return None
        known = sorted({name for some in allowed for name in some or ()})
        message = (
            f"found `method: {listed(self.on.method)}`, but models are called with {names_of(known, 'or')}"
        )
        return "on.method", message, "remove `method`"

    def _provider(self) -> Problem | None:
        """A provider that nothing at the fault's points has, or that runs none of the hosts."""
        on, wanted = self.on, each(self.on.provider)
        if not wanted or any(point.kind in ("agent", "other") for point in self.left):
            return None
        if any(point.site == "mcp" and overlap(wanted, (MCP,)) for point in self.left):
            return None
        found = f"found `provider: {listed(on.provider)}` with"
        if all(point.kind != "llm" for point in self.left):
            message = f"{found} a tool, whose provider is `{MCP}` or none"
            return "on.provider", message, "remove `provider`"
        runs = [provider_of(host) if literal(host) else None for host in each(on.host)]
        if not runs or any(name is None or overlap(wanted, (name,)) for name in runs):
            return None
        known = names_of([name for name in runs if name], "and")
        message = f"{found} `host: {listed(on.host)}`, which is known for {known}"
        return "on.provider", message, "remove `provider` or `host`"

    def _signed(self) -> Problem | None:
        """Requests that cannot be changed, because their provider has them signed."""
        fault, on = self.fault, self.on
        if not isinstance(fault, ResultFault | RequestFault) or each(on.provider) != ("aws",):
            return None
        named = ((name.lower(), glob) for name, glob in (on.header or {}).items())
        if next((glob for name, glob in named if name == "authorization"), "").lower().startswith("bearer"):
            return None
        message = (
            f"found `provider: aws` for `{fault.name}`, which changes requests: theirs are signed (SigV4), "
            "and a changed one would be refused"
        )
        return "on.provider", message, 'with bearer tokens add `header: {authorization: "Bearer *"}`'

    def _refused(self) -> Problem | None:
        """A form of exchange in which the fault itself does not act."""
        keys = [key for key in KEYS if getattr(self.on, key) is not None]
        refused = refusal(self.fault, self.on, self.left) if keys else None
        if refused is None:
            return None
        key = keys[0]
        if refused.why is None:
            message = f"found {names_of(keys, 'and')} for `{self.fault.name}`, {_TOGETHER}"
            return f"on.{key}", message, "remove one of them"
        value = getattr(self.on, key)
        found = f"`{key}`" if isinstance(value, dict) else f"`{key}: {listed(value)}`"
        message = f"found {found} for `{self.fault.name}`, which does not act there: {refused.why}"
        return f"on.{key}", message, _OTHER_FAULT.format(key)

    def _when(self) -> str:
        return next(iter(dict.fromkeys(_WHEN[moment] for moment in self.fault.moments)))
