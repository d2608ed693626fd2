"""`faultwire runs`: earlier runs in this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from faultwire.cli._group import Group
from faultwire.cli.output import columns, format_option, show, show_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.cli.output import Format

F = TypeVar("F", bound="Callable[..., Any]")


def list_options(command: F) -> F:
    """Add the options of the list."""
    for option in (
        format_option,
        click.option(
            "-n", "--most", type=click.IntRange(1), default=20, show_default=True, help="At most this many."
        ),
        click.option("--command", "command", metavar="NAME", help="Only runs of this command."),
    ):
        command = option(command)
    return command


@click.group(
    "runs",
    cls=Group,
    renamed={"list": "faultwire runs"},
    invoke_without_command=True,
    subcommand_metavar="",
    short_help="List earlier runs.",
)
@list_options
@click.pass_context
def runs(context: click.Context, command: str | None, most: int, format_: Format) -> None:
    """List earlier runs, oldest first: id, command, status, seed, score and gate.

    Their folders are below .faultwire/runs.
    """
    if context.invoked_subcommand is None:
        _show_runs(command, most, format_)


@runs.command("list", hidden=True)
@list_options
def list_(command: str | None, most: int, format_: Format) -> None:
    """List earlier runs, oldest first."""
    _show_runs(command, most, format_)


def _show_runs(command: str | None, most: int, format_: Format) -> None:
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
