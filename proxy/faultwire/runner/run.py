"""Play a plan: start the agent once per invocation, each in a session of its own, and read what it did.

Invocations run one after another or a few at once. Each opens its own session on the engine, whose
name is the invocation's id; its history is read from the tape only after the engine acknowledged
that all of it is on disk. One that is void is a result like the others: it proves nothing, and takes
nothing from what the others prove.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from faultwire import wire
from faultwire.agents._api import Asked
from faultwire.capture.bypass_watch import BypassWatch
from faultwire.errors import AgentError, FaultwireError, TapeError
from faultwire.events import History
from faultwire.replay.incident_outcome import notes_on
from faultwire.replay.placeholders import remarks as replay_remarks
from faultwire.runner.setup import clean, flaw
from faultwire.runner.workers import Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from faultwire.agents._api import Agent
    from faultwire.capture.bypass_watch import InvocationWatch
    from faultwire.contract.cells import Invocation
    from faultwire.events import Bypass
    from faultwire.profile.model import Profile

USAGE = 2
"""The exit code of errors that the user can fix; they end a run."""
REASONS, NAMED = 3, 3
"""How many reasons of void invocations, and invocations of each, a summary names."""


class Closed(Protocol):
    """What the engine says of a session that it closed."""

    @property
    def voids(self) -> Sequence[str]:
        """Why the invocation is inconclusive; empty otherwise."""

    @property
    def notes(self) -> Sequence[str]:
        """Traffic outside exchanges."""

    @property
    def replay(self) -> Mapping[str, Any] | None:
        """What was replayed, where a tape answered."""


class Stage(Protocol):
    """What stands between the agent and its world: an engine with a tape. Called from many threads."""

    def open_session(self, name: str, profile: Profile, seed: int) -> Mapping[str, str]:
        """Open a session; the environment that sends a process's traffic through it."""

    def close_session(self, name: str, bypassed: Sequence[Bypass] = (), more: int = 0) -> Closed:
        """End a session once all of it is on disk; its agent was seen connected to these addresses (and so
        many `more`), the proxy's own among them."""

    def history(self, name: str) -> History:
        """The traffic of a closed session."""


@dataclass(frozen=True, slots=True)
class Played:
    """An invocation and what became of it."""

    invocation: Invocation
    history: History


def plainly(invocation: Invocation) -> Asked:
    """What an invocation asks where nothing is changed on the way: its prompt, turn by turn."""
    return Asked(invocation.prompt.asked, invocation.id)


def play(
    plan: Sequence[Invocation],
    agent: Agent,
    stage: Stage,
    *,
    seed: int,
    concurrency: int = 1,
    retries: int = 0,
    progress: Callable[[Played], None] = lambda _: None,
    ask: Callable[[Invocation], Asked] = plainly,
) -> tuple[Played, ...]:
    """Play every invocation; results in the order of the plan, whatever ended first.

    Where our own part fails, or the agent cannot be made to forget, an invocation is void and its
    history says why; it is played up to `retries` times more until it is not. An agent that can only
    be asked one thing after another is. Raises AgentError where the agent does not start, CaptureError
    where no invocation at all sent anything through the proxy, and ConfigError where none of the answers
    stood where the configuration says. Nothing is started after the first error.
    """
    lookout = BypassWatch()

    def run(invocation: Invocation) -> Played:
        return _tried(invocation, ask(invocation), agent, stage, seed, retries, lookout)

    # Loaded when they are first asked for; several threads that ask at once would each load all of them.
    wire.protocols()
    done: dict[str, Played] = {}
    most = max(1, concurrency) if agent.concurrent else 1
    with Workers(plan, run, most=most, stop=agent.stop) as ended:
        for played in ended:
            done[played.invocation.id] = played
            progress(played)
    results = tuple(done[invocation.id] for invocation in plan)
    error = flaw([(played.invocation, played.history) for played in results], agent)
    if error is not None:
        raise error
    return results


def void(results: Sequence[Played]) -> FaultwireError | None:
    """The error about inconclusive invocations; None if there are none."""
    reasons: dict[str, list[str]] = {}
    for played in results:
        if played.history.voids:
            reasons.setdefault("; ".join(played.history.voids), []).append(played.invocation.id)
    if not reasons:
        return None
    count = sum(map(len, reasons.values()))
    each = [f"{_named(ids)}: {reason}" for reason, ids in list(reasons.items())[:REASONS]]
    left = len(reasons) - REASONS
    more = f"; and {left} more reason{'s' * (left != 1)}" if left > 0 else ""
    remainder = (
        "the other invocations are in the report"
        if count < len(results)
        else "no invocation is left to judge"
    )
    return FaultwireError(
        # A reason may quote the agent's output, and this goes to a terminal and into `run.json`.
        clean(
            f"{count} of {len(results)} invocation{'s' * (len(results) != 1)} {_are(count)} inconclusive "
            f"({'; '.join(each)}{more})"
        ),
        code="run.void",
        hint=f"{remainder}; the details are in `engine.log` in the run folder",
    )


def _named(ids: Sequence[str]) -> str:
    """The first few, and how many more."""
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    return f"`{'`, `'.join(ids[:NAMED])}`{more}"


def _tried(
    invocation: Invocation,
    asked: Asked,
    agent: Agent,
    stage: Stage,
    seed: int,
    retries: int,
    lookout: BypassWatch,
) -> Played:
    """Play an invocation until it is not void, each time in a session of its own."""
    played = invoked(invocation, asked, agent, stage, seed, invocation.id, lookout.watch())
    for again in range(2, retries + 2):
        if not played.history.voids:
            break
        name = f"{invocation.id}~{again}"
        played = invoked(invocation, asked, agent, stage, seed, name, lookout.watch())
    return played


def invoked(
    invocation: Invocation,
    asked: Asked,
    agent: Agent,
    stage: Stage,
    seed: int,
    name: str,
    watch: InvocationWatch,
) -> Played:
    """Play an invocation once, in a session of this name."""
    try:
        env = stage.open_session(name, invocation.scenario.profile, seed)
    except FaultwireError as error:
        return Played(invocation, History(name, (), voids=(_ours(error),)))
    result = None
    why: tuple[str, ...] = ()
    try:
        why = _reset(agent, env)
        if not why:
            result = agent.invoke(replace(asked, session=name, watch=watch), env)
    finally:
        voids, notes, remarks = _closed(stage, name, watch)
    try:
        history = stage.history(name)
    except TapeError as error:
        history, voids = History(name, ()), voids or (_ours(error),)
    remarks = (*notes_on(invocation.scenario.profile, history), *remarks)
    history = replace(
        history, agent=result, voids=(*why, *voids), notes=(*history.notes, *notes), remarks=remarks
    )
    return Played(invocation, history)


def _reset(agent: Agent, env: Mapping[str, str]) -> tuple[str, ...]:
    """Reset the agent; returns why the invocation is inconclusive if that fails."""
    if not agent.resets:
        return ()
    try:
        agent.reset(env)
    except AgentError as error:
        return (error.message,)
    return ()


def _closed(stage: Stage, name: str, watch: InvocationWatch) -> tuple[tuple[str, ...], ...]:
    """Close a session: why it is void, what became no exchange, and remarks on its replay."""
    try:
        closed = stage.close_session(name, watch.found, watch.more)
    except FaultwireError as error:
        return (_ours(error),), (), ()
    return tuple(closed.voids), tuple(closed.notes), replay_remarks(closed.replay)


def _ours(error: FaultwireError) -> str:
    """The message of an internal error; usage errors are re-raised."""
    if error.exit_code == USAGE:
        raise error
    return error.message


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
