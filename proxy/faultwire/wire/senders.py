"""Who sends a request, by marks that the user declared: header fields, or the instructions of its model.

A request names its receiver and never its sender. So a sender is known only where exactly one declared agent
has all of its marks on a request. Where none fits, or several do, the sender is unknown, with the reason.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from faultwire import _core
from faultwire.errors import WireError
from faultwire.events import header
from faultwire.plugins.frozen import dataclass
from faultwire.wire.recognition import size_limit
from faultwire.wire.registry import protocols

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Protocol

    from faultwire.events import Kind, Recorded, Request, RequestView

    class Declared(Protocol):
        """An agent as a profile or a check declares it; `profile.model.AgentSite` is one."""

        @property
        def caller(self) -> Mapping[str, str] | None:
            """Header fields of its requests, each with a glob."""

        @property
        def instructions(self) -> str | tuple[str, ...] | None:
            """Globs over the system prompt of its requests to a model."""


@dataclass(frozen=True, slots=True)
class Mark:
    """By what the requests of one agent are known: all of its header fields, and one of `instructions`."""

    name: str
    headers: tuple[tuple[str, str], ...] = ()
    instructions: tuple[str, ...] = ()

    def on(self, headers: tuple[tuple[str, str], ...], instructions: str | None) -> bool:
        """Does a request bear it? `instructions` None: it is none to a model."""
        if self.instructions and not (
            instructions is not None
            and any(_core.glob_match(glob, instructions) for glob in self.instructions)
        ):
            return False
        return all(_like(glob, header(headers, name)) for name, glob in self.headers)


class Sender(NamedTuple):
    """Who sent a request; `name` None: unknown, and `why` says why."""

    name: str | None
    why: str = ""


NOBODY_DECLARED = "no agent is declared with marks of its requests"
NO_MARK = "no declared mark fits"


def marks_of(agents: Mapping[str, Declared]) -> tuple[Mark, ...]:
    """The marks of those agents that have any."""
    return tuple(
        Mark(name, tuple((one.caller or {}).items()), _globs(one.instructions))
        for name, one in agents.items()
        if one.caller or one.instructions
    )


def sender(marks: Iterable[Mark], recorded: Recorded) -> Sender:
    """Who sent this exchange's request."""
    return sender_of(marks, recorded.request, recorded.kind, recorded.protocol)


def sender_of(marks: Iterable[Mark], request: Request, kind: Kind, protocol: str | None) -> Sender:
    """The same of a request that nobody has recorded yet."""
    marks = tuple(marks)
    if not marks:
        return Sender(None, NOBODY_DECLARED)
    wanted = any(mark.instructions for mark in marks)
    instructions = _instructions(request, kind, protocol) if wanted else None
    found = [mark.name for mark in marks if mark.on(request.headers, instructions)]
    if len(found) == 1:
        return Sender(found[0])
    return Sender(None, f"the marks of {' and '.join(sorted(found))} fit" if found else NO_MARK)


def instructions_of(recorded: Recorded) -> str | None:
    """The system prompt of a request to a model; None where there is none that can be read."""
    return _instructions(recorded.request, recorded.kind, recorded.protocol)


def _instructions(request: Request, kind: Kind, protocol: str | None) -> str | None:
    body, spoken = request.body, protocols().get(protocol or "")
    if spoken is None or kind not in ("llm", "agent") or body is None or size_limit.is_heavy(body):
        return None
    try:
        view = spoken.view(request)
    except WireError:
        return None
    return None if view is None else instructions_in(view)


def instructions_in(view: RequestView) -> str | None:
    """The same of a request that was read."""
    leading = (turn.text for turn in view.turns if turn.role in ("system", "developer"))
    return view.system or next(leading, None)


def _globs(globs: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return (globs,) if isinstance(globs, str) else globs or ()


def _like(glob: str, value: str | None) -> bool:
    return value is not None and _core.glob_match(glob, value)
