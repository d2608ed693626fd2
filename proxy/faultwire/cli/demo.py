"""`faultwire demo`: see a real agent break, with no key and no network."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from faultwire.cli._placed import anywhere, anywhere_option
from faultwire.cli.output import Format, colour, format_option, say, show, show_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.demo.run import Result
    from faultwire.runner.run import Played

WIDTH = 110
"""Columns where stdout is no terminal: a report that is read later should not be folded."""


@click.command("demo", short_help="Break a small real agent, with no key and no network.")
@click.option("--seed", type=int, default=42, show_default=True, help="Decides every fault.")
@click.option(
    "--agent-python",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A Python with the openai package; by default an environment is created for the agent.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    help="Maximum number of parallel invocations.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Also write the report here: .html or .json."
)
@click.option("--keep", is_flag=True, help="Keep each invocation's output in the run's folder.")
@click.option("--strict", is_flag=True, help="Exit 1 unless every verdict is a pass.")
@anywhere_option()
@format_option
def demo(
    seed: int,
    agent_python: Path | None,
    concurrency: int,
    output: Path | None,
    keep: bool,
    strict: bool,
    format_: Format,
) -> None:
    """Break a small real agent, with no key and no network.

    An agent on the official OpenAI SDK answers two questions, calm and under the profiles
    stream_chaos and rate_limits, behind the proxy and against a mock provider. It copes with rate
    limits and has one typical bug, so some verdicts pass and some fail: that is the demonstration,
    and the exit code is 0 (1 with --strict; 3 where some or all of it proves nothing).

    The first run installs the SDK into .faultwire/demo with pip; later runs need no network.
    """
    from faultwire.demo.run import Demo, run_demo
    from faultwire.output_file import write_text

    target = _writable(output)
    settings = Demo(seed=seed, concurrency=concurrency, agent_python=agent_python, keep=keep)
    result = run_demo(settings, say, _progress())
    if target is not None:
        write_text(target, _face(result, target), anywhere=anywhere())
    if format_ == "json":
        show_json(result.document)
    else:
        _print(result, target)
    if result.void is not None:
        raise result.void
    if strict and result.document["score"]["gate"] != "pass":
        sys.exit(1)


def _writable(output: Path | None) -> Path | None:
    """Where the report is to go, tried before anything is started."""
    from faultwire.errors import UsageError
    from faultwire.output_file import check

    if output is None:
        return None
    if output.suffix not in (".html", ".json"):
        raise UsageError(
            f"found `{output}` for --output, expected a name that ends in `.html` or `.json`",
            code="usage.output",
        )
    try:
        return check(output, anywhere=anywhere())
    except OSError as error:
        raise UsageError(f"cannot write `{output}`: {error.strerror}", code="usage.output") from error


def _face(result: Result, target: Path) -> str:
    from faultwire.report import html, json

    return json.render(result.document) if target.suffix == ".json" else html.render(result.document)


def _print(result: Result, target: Path | None) -> None:
    from rich.console import Console

    from faultwire.report.terminal import render
    from faultwire.text import width_of

    screen = colour()
    plain = not (getattr(sys.stdout, "encoding", None) or "").lower().startswith("utf")
    if plain and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    console = Console(
        width=width_of(sys.stdout) or WIDTH,
        highlight=False,
        markup=False,
        emoji=False,
        force_terminal=screen,
    )
    console.print(render(result.document, plain=plain))
    show()
    show(f"ledger: {result.document['run']['ledger']}")
    show(f"report: {target or result.report}")
    show(f"tape:   {result.tape}")


def _progress() -> Callable[[Played, int], None]:
    """A line that counts, on a terminal only."""
    if not colour(sys.stderr):
        return lambda _played, _total: None
    done = 0

    def count(_played: Played, total: int) -> None:
        nonlocal done
        done += 1
        end = "\n" if done == total else ""
        click.echo(f"\r  {done} of {total} done", err=True, nl=False)
        click.echo(end, err=True, nl=False)

    return count
