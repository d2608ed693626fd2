"""`faultwire runs`: what was run here before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from faultwire.cli.output import columns, format_option, show, show_json

if TYPE_CHECKING:
    from faultwire.cli.output import Format


@click.group("runs", short_help="List earlier runs.")
def runs() -> None:
    """List earlier runs, whose folders are below .faultwire/runs."""


@runs.command("list")
@click.option("--command", "command", metavar="NAME", help="Only runs of this command.")
@click.option("-n", "--most", type=click.IntRange(1), default=20, show_default=True, help="The last so many.")
@format_option
def list_(command: str | None, most: int, format_: Format) -> None:
    """List earlier runs, the oldest first: id, command, how they ended, their score and gate."""
    from faultwire.runner.past_runs import runs as found

    known = [run for run in found() if command is None or run.command == command][-most:]
    if format_ == "json":
        show_json([run.as_json() for run in known])
        return
    if not known:
        show("no runs below .faultwire/runs")
        return
    rows = [
        (
            run.id,
            run.command,
            run.status,
            "-" if run.seed is None else str(run.seed),
            "-" if run.score is None else f"{run.score:.4f}",
            run.gate or "-",
        )
        for run in known
    ]
    show(columns(("run", "command", "status", "seed", "score", "gate"), rows))
