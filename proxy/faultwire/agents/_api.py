"""What an agent is to a run: something that is asked, in a session's environment, and answers."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from faultwire.events import AgentResult
    from faultwire.mutations._request import RequestChange

    Watch = Callable[[int], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class Asked:
    """What one invocation asks: a prompt, or the user's turns of one conversation in order.

    `session` is the name of the session: the invocation's id, or that of its second try. `request` is how the
    HTTP request that carries the (last) turn is changed; only agents that are `network` get one. `watch` is
    to be open, with its process id, while a process of the agent works on this.
    """

    turns: tuple[str, ...]
    session: str = ""
    request: RequestChange | None = None
    watch: Watch = field(default=nullcontext, compare=False, repr=False)

    @property
    def text(self) -> str:
        """The last turn."""
        return self.turns[-1]


class Agent(Protocol):
    """What a run asks of an agent. Called from several threads where it is `concurrent`."""

    @property
    def label(self) -> str:
        """In words, for reports; holds no secret."""

    @property
    def concurrent(self) -> bool:
        """May invocations of different sessions run beside each other?"""

    @property
    def network(self) -> bool:
        """Is it reached by HTTP, so that a `RequestChange` can be performed?"""

    @property
    def resets(self) -> bool:
        """Is it made to forget before each invocation?"""

    def reset(self, env: Mapping[str, str]) -> None:
        """Make it forget. Raises AgentError where that fails: the cell is void then."""

    def invoke(self, asked: Asked, env: Mapping[str, str]) -> AgentResult:
        """Ask once, in a session's environment. Raises AgentError where it does not start."""

    def stop(self) -> None:
        """End every running invocation; their `invoke` calls return."""
