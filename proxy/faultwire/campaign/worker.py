"""Plays a batch of cells: what `faultwire worker` does, in a process of its own, wherever that is.

Request (standard input) and answer (standard output) are a line of JSON; behind the answer comes the batch's
tape, sealed by this machine's key. Nothing is judged here.
"""

from __future__ import annotations

import json
import os
import shutil
from base64 import b64decode, b64encode
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from faultwire import _core, clock
from faultwire.agents._api import Asked
from faultwire.agents.make import prepared
from faultwire.campaign.cell import CellTask, Surroundings
from faultwire.campaign.ci_run import Part, Wanted, launch_settings
from faultwire.campaign.sealed_box import seal
from faultwire.errors import CaptureError, ConfigError, UsageError
from faultwire.runner.launch import start_run
from faultwire.runner.phases import Phase
from faultwire.runner.run import play
from faultwire.runner.run_identity import identity
from faultwire.tape.evidence.sealer import seal_path
from faultwire.trials.execute import cost_of, tokens_of, trial_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from faultwire.agents._api import Agent
    from faultwire.agents.settings import AgentSettings
    from faultwire.config.model import Config
    from faultwire.contract.cells import Invocation
    from faultwire.runner.folder import RunFolder
    from faultwire.runner.launch import LaunchSettings
    from faultwire.runner.run import Played
    from faultwire.runner.started_run import Run

MISMATCH = "campaign.mismatch"
"""The code of a refusal: this worker would not play the cells that are meant."""
COMMAND = "worker"


@dataclass(frozen=True, slots=True)
class PlayedBatch:
    """What came of a batch, and the `seconds` that it was played for, without the start of anything."""

    played: tuple[Played, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Request:
    """What a worker is asked: cells by id, and how they are played. `public` is whose key seals results."""

    expected: Surroundings
    cells: Mapping[str, CellTask]
    concurrency: int
    retries: int
    public: bytes

    def as_json(self) -> str:
        """One line."""
        return json.dumps(
            {
                "expected": asdict(self.expected),
                "cells": {name: cell.as_json() for name, cell in self.cells.items()},
                "concurrency": self.concurrency,
                "retries": self.retries,
                "public": b64encode(self.public).decode(),
            }
        )

    @classmethod
    def parse(cls, text: str) -> Request:
        """Raises UsageError where it is no request."""
        try:
            value = json.loads(text)
            return cls(
                Surroundings(**value["expected"]),
                {str(name): CellTask.from_json(cell) for name, cell in value["cells"].items()},
                int(value["concurrency"]),
                int(value["retries"]),
                b64decode(value["public"]),
            )
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UsageError(
                f"found no request of a campaign on the standard input: {error}",
                code="campaign.request",
                hint="`faultwire worker` is started by `faultwire run --on …`",
            ) from error


def surroundings(config: Config) -> Surroundings:
    """What this machine would play a configuration with."""
    named = [(one.name, one.profile.digest) for one in config.contract.scenarios] if config.contract else []
    if config.chaos is not None:
        named.append(("", config.chaos.digest))
    made_of = identity(replace(config, agent=_as_seen_from(config)), ())
    profiles = _core.sha256_hex(json.dumps(sorted(named)).encode())
    return Surroundings(_core.__version__, made_of.config_digest, made_of.agent_digest, profiles)


def _as_seen_from(config: Config) -> AgentSettings:
    """The agent with its folders as seen from the configuration's: a project may lie elsewhere on each."""
    agent: Any = config.agent
    start = getattr(agent, "start", None)
    changes: dict[str, Any] = {}
    if getattr(agent, "cwd", None):
        changes["cwd"] = os.path.relpath(agent.cwd, config.folder)
    if start is not None and start.cwd:
        relative = os.path.relpath(start.cwd, config.folder)
        changes["start"] = start.model_copy(update={"cwd": relative})
    found: AgentSettings = agent.model_copy(update=changes)
    return found


def check(request: Request, here: Surroundings) -> None:
    """Raises UsageError where this machine would not play exactly the cells that are meant."""
    found = request.expected.differs(here)
    if found is not None:
        raise UsageError(
            f"this worker has {found}",
            code=MISMATCH,
            hint="install the same faultwire on every worker, and give each the same project folder",
        )
    for name, cell in request.cells.items():
        if cell.id(here) != name:
            raise UsageError(f"found the cell `{name[:16]}` with the content of another", code=MISMATCH)


def answer(request: Request, config: Config, base: Path) -> tuple[dict[str, Any], bytes]:
    """Play a batch: the answer and the tape. Ctrl-C ends it early, and what has finished is answered. A batch
    without cells only asks whether they would be refused.

    Raises UsageError where it is refused, and FaultwireError where it cannot be played.
    """
    check(request, surroundings(config))
    if not request.cells:
        return {"checked": True}, b""
    with _folder(config, base) as (settings, folder):
        with start_run(settings, folder) as run, _agent(config, run) as agent:
            played = play_batch(request, agent, run)
        return packed(request, agent, played, run.tape)


@contextmanager
def opened(config: Config, base: Path) -> Iterator[tuple[Run, Agent]]:
    """A started run and the agent, for as many batches as are wanted; nothing of its folder stays."""
    with (
        _folder(config, base) as (settings, folder),
        start_run(settings, folder) as run,
        _agent(config, run) as agent,
    ):
        yield run, agent


@contextmanager
def _folder(config: Config, base: Path) -> Iterator[tuple[LaunchSettings, RunFolder]]:
    part = Part((Phase("contract", (), (), (), ()),))
    settings = launch_settings(config, Wanted(COMMAND, base=base), part)
    folder = trial_folder(settings)
    try:
        yield replace(settings, base=base), folder
        folder.end("finished")
    finally:
        shutil.rmtree(folder.path, ignore_errors=True)


def _agent(config: Config, run: Run) -> AbstractContextManager[Agent]:
    share = partial(run.share, "server")
    return prepared(config.agent, share, folder=run.folder.path, base=config.folder)


def packed(request: Request, agent: Agent, batch: PlayedBatch, sealed: Path) -> tuple[dict[str, Any], bytes]:
    """The answer to a batch, and the bytes of its sealed tape."""
    names = {cell.invocation.id: name for name, cell in request.cells.items()}
    by = {"label": agent.label, "network": agent.network}
    results = [{"cell": names[one.invocation.id], **by, **result_of(one)} for one in batch.played]
    tape, note = sealed.read_bytes(), seal_path(sealed).read_text()
    box = seal(json.dumps(results).encode("utf-8", "surrogatepass"), request.public)
    about = {"tape": _core.sha256_hex(tape), "seal": note, "play_s": batch.seconds}
    return {"box": b64encode(box).decode(), **about}, tape


def play_batch(request: Request, agent: Agent, run: Run) -> PlayedBatch:
    """Play the cells of a request on a started run; those that have finished where Ctrl-C ends it. Raises
    FaultwireError where the proxy is gone."""
    tasks = {cell.invocation.id: cell for cell in request.cells.values()}
    plan = [cell.invocation for cell in tasks.values()]
    seeds = {cell.seed for cell in tasks.values()}
    if len(seeds) != 1 or len(tasks) != len(request.cells):
        raise UsageError("found cells of several seeds, or one twice, in a batch", code="campaign.request")
    began = clock.monotonic()
    done: list[Played] = []

    def ask(invocation: Invocation) -> Asked:
        task = tasks[invocation.id]
        if not agent.network or task.request is None:
            return Asked(task.plain, invocation.id)
        return Asked(task.changed, invocation.id, task.change)

    try:
        play(
            plan,
            agent,
            run,
            seed=seeds.pop(),
            concurrency=request.concurrency,
            retries=request.retries,
            progress=done.append,
            ask=ask,
        )
    except KeyboardInterrupt:
        pass
    except (CaptureError, ConfigError):
        # A set-up that cannot be right: the coordinator says so, who knows of the other batches as well.
        if len(done) < len(plan):
            raise
    run.engine.flush()  # or its sessions went with it, and are void for no reason of theirs
    return PlayedBatch(tuple(done), clock.monotonic() - began)


def result_of(played: Played) -> dict[str, Any]:
    """What came of an invocation beside its traffic, as plain values."""
    history = played.history
    return {
        "session": history.session,
        "agent": None if history.agent is None else asdict(history.agent),
        "voids": history.voids,
        "notes": history.notes,
        "remarks": history.remarks,
        "cost_usd": (spent := cost_of(history)).usd,
        "unpriced": spent.unpriced,
        "tokens": (tokens := tokens_of(history)).count,
        "uncounted": tokens.uncounted,
    }
