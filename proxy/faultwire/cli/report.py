"""`faultwire report RUN`: the report of an earlier run, in any format."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from faultwire.cli._placed import anywhere, anywhere_option
from faultwire.cli.output import colour, show

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.report.faces import Face

    Shown = Literal["terminal", "html", "json", "junit", "md"]

WIDTH = 110


@click.command("report", short_help="Show the report of an earlier run, or write it in another format.")
@click.argument("run", metavar="RUN")
@click.option(
    "--phase",
    type=click.Choice(["mutation", "chaos", "contract", "replay"]),
    help="Which phase of a run with several.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["terminal", "html", "json", "junit", "md"]),
    default="terminal",
    show_default=True,
    help="How to print it on stdout.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="Write it to a folder or a file (.html, .json, .xml, .md) instead of stdout.",
)
@anywhere_option()
def report(run: str, phase: str | None, format_: Shown, output: Path | None) -> None:
    """Show the report of RUN: an id or its prefix, `last`, a run's folder, or a report.json.

    For a run with several phases, such as `ci`, all phases are shown, or their summary page; --output
    writes that page and those of the phases beside it. --phase picks one.
    """
    from faultwire.output_file import write_text
    from faultwire.report import faces

    if phase is None and output is None and (several := _several(run)):
        _show_all(*several, format_)
        return
    if phase is None and output is not None and (several := _several(run)):
        path, face = faces.target(output, None if format_ == "terminal" else format_, anywhere=anywhere())
        for written in copied(*several, path, face):
            show(str(written))
        return
    document = read(run, phase)
    if output is not None:
        path, face = faces.target(output, None if format_ == "terminal" else format_, anywhere=anywhere())
        write_text(path, faces.render(document, face), anywhere=anywhere())
        show(str(path))
    elif format_ == "terminal":
        _print(document)
    else:
        show(faces.render(document, format_), whole=True)


def copied(folder: Path, phases: Iterable[str], path: Path, face: Face) -> list[Path]:
    """The files of a run of several phases, copied: the one over all to `path`, and beside it those of the
    phases, to which its page leads. JUnit's holds every phase already. Raises UsageError."""
    from faultwire.errors import UsageError
    from faultwire.output_file import write_text
    from faultwire.report.faces import NAMES

    pairs = [(folder / NAMES[face], path)]
    if face != "junit":
        names = [f"{phase}{Path(NAMES[face]).suffix}" for phase in phases]
        names += sorted(one.name for one in folder.glob(f"blame-*{Path(NAMES[face]).suffix}"))
        pairs += [(folder / name, path.with_name(name)) for name in names]
    for source, target in pairs:
        try:
            write_text(target, source.read_text(encoding="utf-8"), anywhere=anywhere())
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot write `{target}`: {error}", code="usage.output") from error
    return [target for _, target in pairs]


def _several(run: str) -> tuple[Path, list[str]] | None:
    """The folder of a run of several phases, and their names."""
    from faultwire.runner.past_runs import phases_in, run_folder

    if Path(run).is_file():
        return None
    folder = run_folder(run)
    there = phases_in(folder)
    return (folder, there) if there else None


def _show_all(folder: Path, phases: list[str], format_: Shown) -> None:
    """Print every phase on the terminal, or the summary file that the run wrote. Raises UsageError."""
    from faultwire.errors import UsageError
    from faultwire.report.faces import NAMES
    from faultwire.report.load import load

    if format_ == "terminal":
        for name in phases:
            document = load(folder / f"{name}.json")
            show(name)
            _print(document)
            show()
        return
    file = folder / NAMES[format_]
    try:
        show(file.read_text(encoding="utf-8").rstrip("\n"), whole=True)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read `{file}`: {error}", code="report.unreadable") from error


def read(run: str, phase: str | None) -> dict[str, Any]:
    """The document of a run. Raises UsageError."""
    from faultwire.errors import UsageError
    from faultwire.report.load import load
    from faultwire.runner.past_runs import phases_in, run_folder

    if Path(run).is_file():
        return load(Path(run))
    folder = run_folder(run)
    there = phases_in(folder)
    if phase is not None and there and phase not in there:
        raise UsageError(
            f"found no phase `{phase}` in `{folder.name}`, expected one of `{'`, `'.join(there)}`",
            code="usage.no_phase",
        )
    file = folder / (f"{phase}.json" if there else "report.json")
    if not file.exists():
        raise UsageError(
            f"found no report in `{folder.name}`, {_what_it_was(folder)}",
            code="report.missing",
            hint=f"`faultwire tape show {folder.name}` shows its traffic, `faultwire runs` lists the runs",
        )
    document = load(file)
    only = document["run"].get("phase")
    if phase is not None and only and phase != only:
        raise UsageError(
            f"found no phase `{phase}` in `{folder.name}`, expected `{only}`, the only one",
            code="usage.no_phase",
        )
    return document


def _what_it_was(folder: Path) -> str:
    """A run's command and status, and why it is void or has no report, where that is known."""
    from faultwire.runner.past_runs import runs

    one = next((run for run in runs(folder.parent.parent) if run.id == folder.name), None)
    if one is None:
        return "expected one"
    words = f"a run of `{one.command}` with the status `{one.status}`"
    if one.status == "void" and one.why:
        words += f": {one.why}"
    return words + (f"; its report could not be written: {one.report_error}" if one.report_error else "")


def _print(document: dict[str, Any]) -> None:
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
    console.print(render(document, plain=plain))
