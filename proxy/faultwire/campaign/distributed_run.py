"""A whole run whose cells an engine's workers play: the same report as of one machine, whatever they are."""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire import clock
from faultwire.campaign.budget import Limits, Spending
from faultwire.campaign.cell import CellTask, campaign_id
from faultwire.campaign.ci_run import Done, finish, launch_settings, play_part
from faultwire.campaign.coordinator import BudgetSpentError, Coordinator, How
from faultwire.campaign.engine import SERIES, Command, worker_words
from faultwire.campaign.notes import notes, unbounded
from faultwire.campaign.open_engine import open_engine
from faultwire.campaign.results import Readers, Results
from faultwire.campaign.worker import surroundings
from faultwire.errors import FaultwireError, UsageError
from faultwire.events import History
from faultwire.runner.folder import RunFolder, private_dir
from faultwire.runner.launch import start_run
from faultwire.runner.play_phase import conduct_rounds
from faultwire.runner.run import Played
from faultwire.runner.run_identity import identity
from faultwire.runner.setup import flaw
from faultwire.tape.evidence.keyring import KeyRing, name_for
from faultwire.tape.files.collect import collect
from faultwire.tape.read.reader import TapeReader
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from faultwire.campaign.ci_run import Part, Result, Wanted
    from faultwire.config.model import Config
    from faultwire.contract.cells import Invocation
    from faultwire.contract.statistics import Until
    from faultwire.runner.phases import Phase


NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class On:
    """Where cells are played. `python` and `folder` are those of workers; None: as here."""

    place: str
    limits: Limits = NO_LIMITS
    python: str | None = None
    folder: str | None = None
    lease_s: float | None = None
    say: Callable[[str], None] = lambda _text: None


@dataclass(frozen=True, slots=True)
class _Asked:
    """What `flaw` asks of an agent."""

    network: bool


def perform_on(
    on: On,
    config: Config,
    parts: Sequence[Part],
    wanted: Wanted,
    progress: Callable[[Phase, Played], None],
) -> Result:
    """Play every phase once on the workers of an engine; sessions that a tape answers are played here.

    A campaign that was ended before goes on with what it has. Raises UsageError where there is no such
    engine, or a worker that would play something else, and what `ci_run.perform` raises.
    """
    began = clock.monotonic(), clock.utc_now().isoformat(timespec="seconds")
    _fits(on, config)
    made_of = identity(config, [phase for part in parts for phase in part.phases])
    phases = sum(len(part.phases) for part in parts)
    each = replace(wanted, until=wanted.until.shared(phases) if wanted.until is not None else None)
    about = {"seed": config.seed, "config": str(config.path), "on": on.place, **made_of.as_json()}
    done = Done()
    with _coordinator(on, config, parts, wanted, made_of.commit) as campaign:
        done.folder = RunFolder.create(wanted.command, base=wanted.base, status="running", **about)
        readers, spent = Readers(), None
        try:
            spent = _play_remote(campaign, config, parts, each, done, readers, progress)
            for number, part in enumerate(parts):
                if part.replay is None or any(outcome.partial for outcome in done.outcomes):
                    continue
                settings = launch_settings(config, wanted, part, number + 1, made_of)
                with start_run(settings, done.folder) as run:
                    play_part(config, part, each, run, done, progress)
            result = finish(config, parts, wanted, done, made_of, began)
        except FaultwireError as error:
            done.folder.end("void", error=error.code)
            raise
        except KeyboardInterrupt:
            done.folder.end("interrupted")
            raise
        finally:
            readers.close()
        _keep_tapes(campaign, done.folder)
        if any(outcome.partial for outcome in done.outcomes):
            return replace(result, void=spent or result.void)
        campaign.results.remove()
        return result


def _fits(on: On, config: Config) -> None:
    """Raises UsageError for what cannot be played by several workers of one machine."""
    several = on.place.startswith("local:") and on.place != "local:1"
    if several and hasattr(config.agent, "endpoint") and hasattr(config.agent, "start"):
        raise UsageError(
            f"found an agent that is a server for `--on {on.place}`, expected one that each worker starts "
            "for itself",
            code="usage.on",
            hint="its address is one worker's alone; `--on local:1`, or an engine with a worker per machine",
        )


@contextmanager
def _coordinator(
    on: On, config: Config, parts: Sequence[Part], wanted: Wanted, commit: str | None
) -> Iterator[Coordinator]:
    here = surroundings(config)
    planned = [
        CellTask.of(phase, one, config.seed).id(here)
        for part in parts
        if part.replay is None
        for phase in part.phases
        for one in phase.plan
    ]
    results = Results(wanted.base, campaign_id(f"{wanted.command} {commit}", planned))
    try:
        if results.cells:
            on.say(
                f"note: goes on where it was ended: {counted(len(results.cells), 'result')} of "
                f"{counted(len(planned), 'invocation')}; without {results.path} it begins anew"
            )
        engine = open_engine(on.place)
        command = Command(
            (
                *worker_words(on.python),
                "--config",
                str(config.path.absolute() if not on.folder else config.path),
            ),
            on.folder or str(Path.cwd()),
            SERIES,
        )
        longest = config.agent.timeout / 1000 + 60
        how = How(command, config.advanced.concurrency, config.advanced.retries, longest, on.lease_s)
        spending = Spending.after(on.limits, (one.about for one in results.cells.values()))
        for condition in on.limits.conditions:
            on.say(f"note: {condition}")
        made = Coordinator(engine, results, here, how, spending)
        try:
            made.check_workers()
            yield made
        finally:
            engine.close()
    finally:
        results.close()


def _play_remote(
    campaign: Coordinator,
    config: Config,
    parts: Sequence[Part],
    wanted: Wanted,
    done: Done,
    readers: Readers,
    progress: Callable[[Phase, Played], None],
) -> FaultwireError | None:
    """Play all phases that no tape answers, and gather their sessions on the run's tape. Returns the error
    where a budget ended it."""
    spent: FaultwireError | None = None
    looked_at: dict[str, Invocation] = {}
    for phase in (phase for part in parts if part.replay is None for phase in part.phases):
        rounds = _Rounds(campaign, phase, config.seed, wanted.until, looked_at, readers, progress)
        done.outcomes.append(conduct_rounds(phase, rounds, wanted.until))
        spent = spent or rounds.spent
        if done.outcomes[-1].partial:
            break
    if looked_at and done.folder is not None:
        _gather(campaign, config, looked_at, done.folder, done)
    done.label = campaign.label
    done.warnings += unbounded(campaign.spending)
    done.warnings += notes(campaign.counts, len(campaign.results.cells) - len(looked_at))
    return spent


@dataclass
class _Rounds:
    """Plays the rounds of a phase."""

    campaign: Coordinator
    phase: Phase
    seed: int
    until: Until | None
    looked_at: dict[str, Invocation]
    readers: Readers
    progress: Callable[[Phase, Played], None]
    spent: FaultwireError | None = None

    def __call__(self, plan: Sequence[Invocation], report: Callable[[Played], None]) -> None:
        here = self.campaign.expected
        tasks = [(CellTask.of(self.phase, one, self.seed), one) for one in plan]
        named = {task.id(here): (task, one) for task, one in tasks}
        wanted = {name: task for name, (task, _) in named.items()}
        cells = {name: one for name, (_, one) in named.items()}
        played: dict[str, Played] = {}

        def arrived(cell: str) -> None:
            played[cell] = Played(cells[cell], self.readers.history(self.campaign.results.cells[cell]))
            self.progress(self.phase, played[cell])

        try:
            self.campaign.play(wanted, self._ahead(plan), arrived)
        except BudgetSpentError as error:
            self.spent = self._words(error, len(played), len(plan))
            raise KeyboardInterrupt from error
        finally:
            for cell, why in self.campaign.given_up.items():
                if cell in cells:
                    played[cell] = Played(cells[cell], History(cells[cell].id, (), voids=(why,)))
            for cell, one in cells.items():
                if cell in played:
                    self.looked_at[cell] = one
                    report(played[cell])
        found = [(one.invocation, one.history) for one in played.values()]
        wrong = flaw(found, _Asked(self.campaign.network))
        if wrong is not None:
            raise wrong

    def _ahead(self, plan: Sequence[Invocation]) -> dict[str, CellTask]:
        """Later repeats, which are only looked at in their own round, should it come to that: a round alone
        may be too small for all workers."""
        if self.until is None:
            return {}
        most = min(self.campaign.engine.slots, self.until.most)
        later = [replace(one, repeat=one.repeat + k) for k in range(1, most + 1) for one in plan]
        tasks = [CellTask.of(self.phase, one, self.seed) for one in later if one.repeat <= self.until.most]
        return {task.id(self.campaign.expected): task for task in tasks}

    def _words(self, error: BudgetSpentError, played: int, planned: int) -> FaultwireError:
        limit = self.campaign.spending.words(error.limit)
        return FaultwireError(
            f"{self.phase.name}: {limit} ended the run after {played} of {counted(planned, 'invocation')}",
            code="campaign.budget",
            hint=self.campaign.spending.hint(error.limit),
        )


def _gather(
    campaign: Coordinator, config: Config, looked_at: dict[str, Invocation], folder: RunFolder, done: Done
) -> None:
    """One tape for the run: the sessions that were looked at, each once."""
    wanted: dict[Path, set[str]] = defaultdict(set)
    for cell, invocation in looked_at.items():
        if cell in campaign.results.cells:
            wanted[campaign.results.cells[cell].tape].add(invocation.id)
    tape = folder.tape
    name = Path.cwd().name
    collect(
        dict(sorted(wanted.items())), tape, f"{name_for(name)}/{tape.stem}", KeyRing().signer_or_new(name)
    )
    done.tapes.append(tape)
    done.rules.append(dict(config.proxy.redact))
    with TapeReader.open(tape) as reader:
        done.ledgers.append(reader.ledger_hash())
    folder.note(tape=str(tape))


def _keep_tapes(campaign: Coordinator, folder: RunFolder) -> None:
    """The tapes as their workers sealed them stay beside the one that was made of them."""
    target = private_dir(folder.path / "tapes")
    for tape in campaign.results.tapes.glob("[!.]*"):
        kept = target / tape.name
        if not kept.exists():
            kept.hardlink_to(tape)
