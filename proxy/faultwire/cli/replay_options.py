"""The replay options of `exec` and `proxy`, and the replay summary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import click

from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from faultwire.mitm.engine.client import SessionSummary
    from faultwire.profile.model import Profile
    from faultwire.replay.settings import ReplaySettings
    from faultwire.runner.started_run import Run

OnMiss = Literal["fail", "live", "record"]
CONTROL = "control."
"""How the codes of notes begin that runtime control has left on a tape."""
CONTROLLED = (
    "the replayed tape was recorded while faults were armed and disarmed: the replay arms none of them"
)
FINDINGS = 5
"""Findings of a replayed tape that a summary and a report list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """The options below as they were given, and `--record`."""

    record: Path | None
    replay: str | None = None
    strict_order: bool = False
    reuse: bool = False
    timing: float = 0.0
    on_miss: OnMiss = "fail"
    mask: tuple[str, ...] = ()
    rebind: bool = True
    unverified: bool = False
    live_agent: str | None = None
    live_model: bool = False


def as_timing(_context: click.Context, _option: click.Parameter, value: str) -> float:
    """`none`, `recorded` or `scaled:F` as a factor. Called by click. Raises BadParameter."""
    named = {"none": 0.0, "recorded": 1.0}
    if value in named:
        return named[value]
    kind, _, factor = value.partition(":")
    try:
        scaled = float(factor)
    except ValueError:
        scaled = -1.0
    if kind != "scaled" or not 0 < scaled <= 100:
        raise click.BadParameter(
            f"found `{value}`, expected `none`, `recorded` or `scaled:F` with 0 < F ≤ 100"
        )
    return scaled


def replay_options() -> list[Callable[..., Any]]:
    """The options, as decorators."""
    return [
        click.option(
            "--replay", metavar="TAPE", help="Answer from this tape; no traffic leaves the machine."
        ),
        click.option("--strict-order", is_flag=True, help="Replay calls in the recorded order only."),
        click.option("--reuse", is_flag=True, help="Reuse the last recorded answer to a repeated call."),
        click.option(
            "--timing",
            default="none",
            show_default=True,
            callback=as_timing,
            metavar="none|recorded|scaled:F",
            help="Timing of recorded answers.",
        ),
        click.option(
            "--on-miss",
            type=click.Choice(["fail", "live", "record"]),
            default="fail",
            show_default=True,
            help="What to do with a call that is not on the tape; `record` requires --record.",
        ),
        click.option(
            "--mask",
            multiple=True,
            metavar="[HOST/PATH ]$.PATH",
            help="Ignore this place in requests, in this replay or in replays of this recording.",
        ),
        click.option(
            "--rebind/--no-rebind",
            default=True,
            help="Rewrite recorded ids and timestamps to the agent's own.",
        ),
        click.option("--unverified", is_flag=True, help="Replay a tape that does not verify."),
    ]


def live_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--live-agent` and `--live-model`."""
    name = click.option(
        "--live-agent",
        metavar="NAME",
        help="With --replay: only this agent of the recorded system is tested; --profile has its mark.",
    )
    model = click.option(
        "--live-model",
        is_flag=True,
        help="With --live-agent: its models answer anew (the mock with --mock), not the tape.",
    )
    return name(model(command))


def checked_replay(traffic: ReplayOptions, profile: Profile) -> ReplaySettings | None:
    """The same, and a live agent is one of the profile and of the tape. Raises UsageError, TapeError."""
    found = replay_settings(traffic)
    if found is not None and found.live_agent:
        from faultwire.cli._live_agent import check

        check(found, profile)
    return found


def replay_settings(traffic: ReplayOptions) -> ReplaySettings | None:
    """The replay settings of the options, or None. Raises UsageError, TapeNotFound."""
    from faultwire.errors import UsageError
    from faultwire.replay.mask import Masks
    from faultwire.replay.settings import ReplaySettings
    from faultwire.tape.files.find import find

    Masks.parse(traffic.mask)
    if traffic.replay is None:
        flags = ("strict_order", "reuse", "unverified", "live_agent", "live_model")
        given_flags = [name for name in flags if getattr(traffic, name)]
        if given_flags or traffic.on_miss != "fail":
            name = (given_flags[0] if given_flags else "on_miss").replace("_", "-")
            raise UsageError(f"found `--{name}`, expected it together with `--replay`", code="usage.replay")
        return None
    if traffic.on_miss == "record" and traffic.record is None:
        raise UsageError(
            "found `--on-miss record` without `--record`, expected a name for the new tape",
            code="usage.replay",
            hint="a tape is never overwritten: --record NEW gets the recorded answers and the new ones",
        )
    if traffic.live_model and not traffic.live_agent:
        raise UsageError(
            "found `--live-model`, expected it together with `--live-agent`", code="usage.replay"
        )
    return ReplaySettings(
        live_agent=traffic.live_agent or "",
        live_model=traffic.live_model,
        tape=find(traffic.replay).absolute(),
        strict_order=traffic.strict_order,
        reuse=traffic.reuse,
        rebind=traffic.rebind,
        masks=traffic.mask,
        timing=traffic.timing,
        on_miss=traffic.on_miss,
        unverified=traffic.unverified,
    )


def import_findings(settings: ReplaySettings | None) -> list[str]:
    """Whether faults were armed while a replayed tape was recorded; with `--unverified` also what is wrong
    with the file that it was imported from, without it such a tape is refused. Raises TapeError where it
    cannot be read."""
    from faultwire.replay.reader import as_it_is

    if settings is None:
        return []
    with as_it_is(settings.tape) as tape:
        notes = list(tape.notes())
    found = [one for one in notes if one.bad] if settings.unverified else []
    lines = [CONTROLLED] if any(one.code.startswith(CONTROL) for one in notes) else []
    lines += [f"the replayed tape has the finding {one.code}: {one.text}" for one in found[:FINDINGS]]
    if len(found) > FINDINGS:
        lines.append(
            f"and {counted(len(found) - FINDINGS, 'more finding')}: `faultwire tape verify` lists them"
        )
    return lines


def print_replay(run: Run, closed: SessionSummary, *, quiet: bool = False) -> bool:
    """Report the replay on stderr and in the run's folder; True if the run diverged from its tape."""
    import json

    from faultwire.cli.output import say
    from faultwire.report import replay

    report = closed.replay
    if report is None:
        return False
    diverged = replay.diverged(report)
    run.folder.note(replay={**report, "diverged": diverged})
    about = json.loads((run.folder.path / "run.json").read_text())
    for name, text in replay.files(report, about).items():
        run.folder.write(name, text)
    if not quiet or diverged:
        for line in replay.lines(report):
            say(line)
    return diverged
