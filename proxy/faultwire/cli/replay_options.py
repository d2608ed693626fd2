"""The options of `exec` and `proxy` that answer from a tape, and what is said of it afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from faultwire.cli.options import Traffic
    from faultwire.mitm.client import SessionSummary
    from faultwire.replay.settings import ReplaySettings
    from faultwire.runner.launch import Run

SHOWN = 10
"""Misses and leftovers that a terminal gets; the run's `run.json` has more."""


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
        click.option("--replay", metavar="TAPE", help="Answer from this tape; nothing leaves the machine."),
        click.option("--strict-order", is_flag=True, help="Replay calls in the recorded order only."),
        click.option("--reuse", is_flag=True, help="Let the last recorded answer to a call answer it again."),
        click.option(
            "--timing",
            default="none",
            show_default=True,
            callback=as_timing,
            metavar="none|recorded|scaled:F",
            help="How fast recorded answers come.",
        ),
        click.option(
            "--on-miss",
            type=click.Choice(["fail", "live", "record"]),
            default="fail",
            show_default=True,
            help="What to do with a call that is not on the tape; `record` demands --record.",
        ),
        click.option(
            "--mask",
            multiple=True,
            metavar="[HOST/PATH ]$.PATH",
            help="Ignore this place in requests when replaying; repeatable.",
        ),
        click.option(
            "--rebind/--no-rebind",
            default=True,
            help="Give ids and instants that the agent mints back to it.",
        ),
        click.option("--unverified", is_flag=True, help="Replay a tape that does not verify."),
    ]


def replay_settings(traffic: Traffic) -> ReplaySettings | None:
    """What the options ask for. Raises UsageError, TapeNotFound."""
    from faultwire.errors import UsageError
    from faultwire.replay.mask import Masks
    from faultwire.replay.settings import ReplaySettings
    from faultwire.tape.find import find

    if traffic.replay is None:
        asked = [name for name in ("strict_order", "reuse", "unverified") if getattr(traffic, name)]
        if asked or traffic.on_miss != "fail":
            name = (asked[0] if asked else "on_miss").replace("_", "-")
            raise UsageError(f"found `--{name}`, expected it together with `--replay`", code="usage.replay")
        return None
    if traffic.on_miss == "record" and traffic.record is None:
        raise UsageError(
            "found `--on-miss record`, expected the new tape's name with `--record` as well",
            code="usage.replay",
            hint="a tape is never written over: --record NEW gets the recorded answers and the new ones",
        )
    Masks.parse(traffic.mask)
    return ReplaySettings(
        tape=find(traffic.replay).absolute(),
        strict_order=traffic.strict_order,
        reuse=traffic.reuse,
        rebind=traffic.rebind,
        masks=traffic.mask,
        timing=traffic.timing,
        on_miss=traffic.on_miss,
        unverified=traffic.unverified,
    )


def lines(report: Mapping[str, Any]) -> list[str]:
    """What was replayed and what was not, for a terminal."""
    from faultwire.cli.output import fields
    from faultwire.text import safe

    told = f"{report['served']} of {report['recorded']} recorded exchanges from {report['tape']}"
    out = [fields([("replayed ", told + (" (unverified)" if report["unverified"] else ""))])]
    if report["on_miss"] != "fail" and report["missed"]:
        out.append(f"  {report['missed']} went live, because --on-miss is `{report['on_miss']}`")
    elif report["missed"] or report["left"]:
        classes = ", ".join(f"{count} {name}" for name, count in sorted(report["classes"].items()))
        out.append(f"  diverged: {classes}")
    for miss in report["misses"][:SHOWN]:
        out.append(f"  miss ({miss['class']}): {miss['request']}: {miss['reason']}")
        for one in miss["differences"]:
            out += [f"    {one['path']}", f"      - {one['recorded']}", f"      + {one['asked']}"]
        if miss["expected_next"]:
            out.append(f"    expected next: {miss['expected_next']}")
    out += [f"  never asked: {name}" for name in report["leftovers"][:SHOWN]]
    more = report["missed"] + report["left"] - min(SHOWN, len(report["misses"]))
    more -= min(SHOWN, len(report["leftovers"]))
    if more > 0:
        out.append(f"  and {more} more in `run.json`")
    return [safe(line) for line in out]


def tell(run: Run, closed: SessionSummary, *, quiet: bool = False) -> bool:
    """Say what was replayed, on stderr and in `run.json`; True where the run diverged from its tape."""
    from faultwire.cli.output import say

    report = closed.replay
    if report is None:
        return False
    diverged = report["on_miss"] == "fail" and bool(report["missed"] or report["left"])
    run.folder.note(replay={**report, "diverged": diverged})
    if not quiet or diverged:
        for line in lines(report):
            say(line)
    return diverged
