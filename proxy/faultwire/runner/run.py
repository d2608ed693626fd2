"""Play a plan: start the agent once per invocation, each in a session of its own, and read what it did.

Invocations run one after another or a few at once. Each opens its own session on the engine, whose
name is the invocation's id; its history is read from the tape only after the engine acknowledged
that all of it is on disk.
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from faultwire.errors import CaptureError, FaultwireError
from faultwire.events import AgentResult, History

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from faultwire.contract.matrix import Invocation
    from faultwire.profile.model import Profile


class Agent(Protocol):
    """What a run asks of an agent."""

    def invoke(self, prompt: str, env: Mapping[str, str]) -> AgentResult:
        """Run it once. Raises AgentError where it does not start."""

    def stop(self) -> None:
        """End every running invocation."""


class Closed(Protocol):
    """What the engine says of a session that it closed."""

    @property
    def voids(self) -> Sequence[str]:
        """Why nothing was learned from it; empty where all went well."""


class Stage(Protocol):
    """What stands between the agent and its world: an engine with a tape. Called from many threads."""

    def open_session(self, name: str, profile: Profile, seed: int) -> Mapping[str, str]:
        """Open a session; the environment that sends a process's traffic through it."""

    def close_session(self, name: str) -> Closed:
        """End a session once all of it is on disk."""

    def history(self, name: str) -> History:
        """The traffic of a closed session."""


@dataclass(frozen=True, slots=True)
class Played:
    """An invocation and what became of it."""

    invocation: Invocation
    history: History


def play(
    plan: Sequence[Invocation],
    agent: Agent,
    stage: Stage,
    *,
    seed: int,
    concurrency: int = 1,
    progress: Callable[[Played], None] = lambda _: None,
) -> tuple[Played, ...]:
    """Play every invocation; results in the order of the plan, whatever ended first.

    Raises AgentError where the agent does not start, FaultwireError where a session is void, and
    CaptureError where no invocation at all sent anything through the proxy. Nothing is started
    after the first error.
    """
    done: dict[str, Played] = {}
    waiting = list(reversed(plan))
    with ThreadPoolExecutor(max(1, concurrency), thread_name_prefix="invocation") as pool:
        running: set[Future[Played]] = set()
        try:
            while waiting or running:
                while waiting and len(running) < max(1, concurrency):
                    running.add(pool.submit(_invocation, waiting.pop(), agent, stage, seed))
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    played = future.result()
                    done[played.invocation.id] = played
                    progress(played)
        except BaseException:
            agent.stop()
            raise
    results = tuple(done[invocation.id] for invocation in plan)
    if results and not any(played.history.exchanges for played in results):
        raise _silent(results)
    return results


def _invocation(invocation: Invocation, agent: Agent, stage: Stage, seed: int) -> Played:
    name = invocation.id
    env = stage.open_session(name, invocation.scenario.profile, seed)
    try:
        result = agent.invoke(invocation.prompt.text, env)
    finally:
        closed = stage.close_session(name)
    if closed.voids:
        raise FaultwireError(
            f"the session `{name}` is void: {'; '.join(closed.voids)}",
            code="run.void",
            hint="nothing was learned; what our engine says of it is in `engine.log` in the run folder",
        )
    return Played(invocation, replace(stage.history(name), agent=result))


def _silent(results: Sequence[Played]) -> CaptureError:
    agent = results[0].history.agent
    last = next((line for line in reversed((agent.stderr if agent else "").splitlines()) if line.strip()), "")
    said = f"; it said `{last.strip()[:200]}`" if last else ""
    return CaptureError(
        f"the agent ran {len(results)} times and sent nothing through the proxy{said}",
        hint="its runtime must honour HTTPS_PROXY and the CA file; `faultwire doctor -- CMD` says more",
    )
