"""The run that `faultwire blame` starts from: its parts, and how a run with some of them is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.errors import UsageError
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import ExitStack

    from faultwire.blame.compare import Compared
    from faultwire.blame.parts import Part
    from faultwire.blame.rates import Coalition
    from faultwire.blame.session import Splitting
    from faultwire.cli.options import Traffic
    from faultwire.events import Recorded
    from faultwire.profile.model import Profile
    from faultwire.tape.read.metadata import SessionInfo
    from faultwire.trials.model import Outcome, Pin, Spent

QUIET = "faults: []"


@dataclass(frozen=True, slots=True)
class Asked:
    """The options that are `blame`'s own."""

    session: str | None
    oracle: str | None
    expect: str | None
    contract: Path | None
    calm: str | None
    live: bool
    curve: bool
    fields: bool
    error: float
    max_runs: int | None
    max_time: float | None
    max_cost: float | None
    timeout: float
    state: Path | None
    output: Path | None
    format_: str
    quiet: bool


@dataclass(frozen=True, slots=True)
class Subject:
    """The run that failed. `attempt` makes a run with some of its parts, `folder` is where its tapes are
    made. `spent` and `seconds` are those of the recorded run."""

    tape: Path
    session: SessionInfo
    exchanges: tuple[Recorded, ...]
    parts: tuple[Part, ...]
    spent: Spent
    seconds: float
    consequences: int = 0
    attempt: Callable[[Coalition], Outcome] = field(repr=False, default=lambda _: NotImplemented)
    splitting: Splitting | None = field(repr=False, default=None)


def subject(
    source: str,
    command: tuple[str, ...],
    asked: Asked,
    traffic: Traffic,
    folder: Path,
    stack: ExitStack,
) -> Subject:
    """The run that a user named. Raises UsageError, ProfileError, TapeError."""
    from faultwire.cli._failed_run import session_of
    from faultwire.replay.reader import open_tape
    from faultwire.trials.execute import cost_of

    if asked.live and (traffic.mock or traffic.script is not None):
        raise UsageError("found `--live` with `--mock`, expected one of them", code="blame.answers")
    path, info, pins = session_of("blame", source, asked.session, unverified=traffic.unverified)
    with open_tape(path, unverified=traffic.unverified) as tape:
        history = tape.history(info.name)
        exchanges = tuple(history.exchanges)
        made = Subject(path, info, exchanges, (), cost_of(history), _seconds(exchanges))
        if asked.calm is not None:
            return _compared(made, command, asked, traffic, folder, stack)
    if not pins:
        raise UsageError(
            f"found no fault that fired in `{path}` and no `--calm`, expected one of them: there is nothing "
            "in which the failed run differs from a calm one",
            code="blame.no_part",
            hint="0 runs can help: name a run that did not fail with `--calm RUN|TAPE`",
        )
    return _faulted(made, pins, command, asked, traffic, stack)


def _faulted(
    made: Subject,
    pins: Sequence[Pin],
    command: tuple[str, ...],
    asked: Asked,
    traffic: Traffic,
    stack: ExitStack,
) -> Subject:
    """Parts are the decisions of faults; a run has those of its coalition."""
    from faultwire.cli._blamed_inside import of_faults
    from faultwire.cli._failed_run import oracle, profile_of, runner_on
    from faultwire.trials.model import Trial
    from faultwire.trials.shared import SharedTrials

    profile = profile_of("blame", traffic, made.tape, made.session, pins)
    ordered = sorted(pins, key=lambda pin: pin.exchange)
    parts = parts_of_faults(ordered, made.exchanges, profile)
    judge = oracle("blame", asked.oracle, asked.expect, asked.contract)
    runner = runner_on(
        "blame",
        made.tape,
        made.session.name,
        profile,
        command,
        judge,
        asked.timeout,
        traffic,
        live=asked.live,
    )

    trials = stack.enter_context(SharedTrials(runner))

    def attempt(coalition: Coalition) -> Outcome:
        return trials.run(Trial(frozenset(ordered[at] for at in coalition), made.session.seed))

    splitting = of_faults(
        made.tape, made.session, made.exchanges, parts, runner, traffic, stack, live=asked.live
    )
    return replace(made, parts=parts, attempt=attempt, splitting=splitting)


def parts_of_faults(pins: Sequence[Pin], exchanges: Sequence[Recorded], profile: Profile) -> tuple[Part, ...]:
    """A part for each decision of a fault, in their order."""
    from faultwire.blame.compare import shown, step_of
    from faultwire.blame.parts import Part

    settings = {entry.id: entry.fault.non_default_settings() for entry in profile.entries}
    numbered = {one.number: one for one in exchanges}
    return tuple(
        Part(
            pin.exchange, "fault", f"{pin.entry} on its call {pin.call}", step_of(numbered[pin.exchange]),
            pin, failed=shown(numbered[pin.exchange]), calm=_unfaulted(numbered[pin.exchange]),
            settings=", ".join(f"{name}: {value}" for name, value in settings[pin.entry].items()),
        )
        for pin in pins
    )  # fmt: skip


def _unfaulted(exchange: Recorded) -> str:
    """What the server had said, where it was asked."""
    from faultwire.blame.compare import shown

    if exchange.upstream is None:
        return "the server's answer (a fault took its place)"
    return shown(replace(exchange, delivered=exchange.upstream, ending="complete"))


def _compared(
    made: Subject,
    command: tuple[str, ...],
    asked: Asked,
    traffic: Traffic,
    folder: Path,
    stack: ExitStack,
) -> Subject:
    """Parts are answers that differ from those of the calm run; a run is answered from both tapes."""
    from faultwire.blame.compare import compare
    from faultwire.cli._blamed_inside import Answers, both, on_tape
    from faultwire.cli._failed_run import engine_name, oracle, session_of
    from faultwire.profile.load import parse
    from faultwire.replay.mask import Masks
    from faultwire.replay.reader import open_tape
    from faultwire.tape.read.metadata import masks_of
    from faultwire.trials.execute import TrialRunner
    from faultwire.trials.shared import SharedTrials

    assert asked.calm is not None
    calm, calm_info, _ = session_of("blame", asked.calm, None, unverified=traffic.unverified)
    with open_tape(calm, unverified=traffic.unverified) as tape:
        masks = Masks.parse([*masks_of(tape.info().settings), *traffic.mask])
        compared = compare(made.exchanges, tape.exchanges(calm_info.name), masks)
    if not compared.parts:
        raise UsageError(
            f"found no request that both runs made and that was answered differently, among "
            f"{counted(len(made.exchanges), 'exchange')}, expected one",
            code="blame.no_part",
            hint=_why_same(compared),
        )
    profile = parse(QUIET, "blame")
    settings = replace(traffic.launch("blame", profile=profile), replay=None)
    judge = oracle("blame", asked.oracle, asked.expect, asked.contract)
    name = engine_name(made.session.name)
    runner = TrialRunner(settings, profile, command, judge, asked.timeout, name)
    joined = folder / "both.tape"
    both(made.tape, made.session.name, calm, calm_info.name, compared, joined)
    beyond = asked.live or traffic.mock or traffic.script is not None
    trials = stack.enter_context(
        SharedTrials(on_tape(runner, traffic, joined, made.session.name, live=beyond))
    )
    answers = Answers(compared, made.session.seed, trials)
    return replace(
        made, parts=compared.parts, consequences=compared.only_failed, attempt=answers.run,
        splitting=answers.splitting(),
    )  # fmt: skip


def _why_same(compared: Compared) -> str:
    if compared.only_failed or compared.only_calm:
        count = compared.only_failed
        only = "1 request is" if count == 1 else f"{count} requests are"
        return (
            f"{only} in the failed run only and {compared.only_calm} in the "
            "calm one: from the first of them on the agent itself differs (`faultwire tape diff`); 0 "
            "runs can help"
        )
    return "both runs are the same on the wire: the cause is not in an answer, and 0 runs can help"


def _seconds(exchanges: Sequence[Recorded]) -> float:
    """How long the recorded run talked."""
    if not exchanges:
        return 0.0
    first, last = exchanges[0], max(exchanges, key=lambda one: one.started_ms + one.duration_ms)
    return max(0.0, (last.started_ms + last.duration_ms - first.started_ms) / 1000)
